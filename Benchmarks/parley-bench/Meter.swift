import CSystem
import Glibc

/// What a process has used so far, by the kernel's own count.
struct Meter {
    private let pid: Int32

    init(_ pid: Int32) { self.pid = pid }

    /// CPU seconds of each thread by its name, and of the children that have ended.
    func seconds() -> [String: Double] {
        var seconds: [String: Double] = [:]
        for task in names("/proc/\(pid)/task") {
            let name = text("/proc/\(pid)/task/\(task)/comm").split(separator: "\n").first.map(String.init) ?? "?"
            let spent = text("/proc/\(pid)/task/\(task)/schedstat").split(separator: " ").first.flatMap { Double($0) }
            // The thread that the process began with serves the connections.
            seconds[task == "\(pid)" ? "core" : name, default: 0] += (spent ?? 0) / 1e9
        }
        // proc(5): what follows the name in parentheses; cutime and cstime are fields 16 and 17.
        let fields = text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        if fields.count > 14 {
            let ticks = fields[13...14].reduce(0.0) { $0 + (Double($1) ?? 0) }
            seconds["workers"] = ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
        return seconds
    }

    /// Bytes of memory, and the most there were since `forgetPeak`.
    func resident() -> (now: Int, peak: Int) { (status("VmRSS:"), status("VmHWM:")) }

    func forgetPeak() {
        let file = open("/proc/\(pid)/clear_refs", O_WRONLY)
        guard file >= 0 else { return }
        defer { close(file) }
        _ = write(file, "5", 1)
    }

    private func status(_ key: String) -> Int {
        for line in text("/proc/\(pid)/status").split(separator: "\n") where line.hasPrefix(key) {
            return (line.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
        }
        return 0
    }

    private func text(_ path: String) -> String {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = read(file, &buffer, buffer.count)
        return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    }

    private func names(_ path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}

/// Nanoseconds of the monotonic clock.
func nanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
