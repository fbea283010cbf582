/// How long things took, in nanoseconds.
struct Latencies {
    private var all: [Int64] = []

    var count: Int { all.count }

    mutating func add(_ nanoseconds: Int64) { all.append(nanoseconds) }

    mutating func add(_ others: Latencies) { all += others.all }

    /// `p50 0.21 ms, p90 …`
    func described() -> String {
        let sorted = all.sorted()
        guard let last = sorted.last else { return "nothing arrived" }
        let parts = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)].map { name, share in
            "\(name) \(milliseconds(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]))"
        }
        return parts.joined(separator: ", ") + ", most \(milliseconds(last)) ms"
    }

    private func milliseconds(_ nanoseconds: Int64) -> String { rounded(Double(nanoseconds) / 1e6, 2) }
}

func rounded(_ number: Double, _ digits: Int) -> String {
    var power = 1.0
    for _ in 0..<digits { power *= 10 }
    let whole = Int((number * power).rounded())
    if digits == 0 { return "\(whole)" }
    let fraction = String(whole.magnitude % UInt(power))
    let zeros = String(repeating: "0", count: digits - fraction.count)
    return "\(whole < 0 ? "-" : "")\(whole.magnitude / UInt(power)).\(zeros)\(fraction)"
}
