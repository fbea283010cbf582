import CAllocations
import Glibc

/// Runs operations and tells what they cost.
struct Bench {
    enum Mode: String {
        case table, counts, instructions
    }

    let mode: Mode

    init(mode: Mode) {
        self.mode = mode
        if mode == .table { Self.row("", "ns", "allocations") }
    }

    /// - Parameter batch: how many operations one call of `body` is.
    func measure(_ name: String, rounds: Int, batch: Int = 1, _ body: () -> Void) {
        // What grows once is grown then.
        for _ in 0..<max(10, rounds / 10) { body() }
        switch mode {
        case .instructions:
            let rounds = max(1, rounds / 100)
            instructions_start()
            for _ in 0..<rounds { body() }
            instructions_stop(name)
            print("\(name)\t\(rounds * batch)")
        case .counts:
            let rounds = max(10, rounds / 10)
            let before = allocations_count()
            for _ in 0..<rounds { body() }
            print("\(name)\t\(hundredths(Double(allocations_count() - before) / Double(rounds * batch)))")
        case .table:
            let before = allocations_count()
            let start = processorTime()
            for _ in 0..<rounds { body() }
            let time = (processorTime() - start) / Double(rounds * batch)
            let count = Double(allocations_count() - before) / Double(rounds * batch)
            Self.row(name, time < 100 ? hundredths(time) : "\(Int(time))", hundredths(count))
        }
    }

    /// Nanoseconds that this thread was on a processor: others' work is not counted.
    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private func hundredths(_ number: Double) -> String {
        let whole = Int((number * 100).rounded())
        return "\(whole / 100).\(whole % 100 / 10)\(whole % 10)"
    }

    private static func row(_ name: String, _ time: String, _ allocations: String) {
        func padded(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        print(name + padded(time, 44 - name.count) + padded(allocations, 16))
    }
}
