import Glibc

/// A shell command as a person types it, with what it printed.
package struct Pipeline: Sendable {
    package let output: String
    package let status: Int32
    package let milliseconds: Int64

    package var lines: [String] {
        output.split(omittingEmptySubsequences: true) { $0 == "\n" || $0 == "\r\n" }.map(String.init)
    }

    /// Runs `command` with bash (pipefail) and reads its output, errors included, to the end. Throws when it is not
    /// done in time.
    @discardableResult
    package static func run(
        _ command: String, within seconds: Double = 20, directory: String? = nil, environment: [String: String] = [:]
    ) throws -> Pipeline {
        let started = Deadline.now()
        let deadline = Deadline.seconds(seconds)
        guard let ends = SocketPair() else { throw DoorError.system("socketpair") }
        defer { close(ends.ours) }
        let child: ChildProcess
        do {
            defer { close(ends.theirs) }
            child = try ChildProcess(
                ["bash", "-o", "pipefail", "-c", command], environment: environment, directory: directory,
                output: ends.theirs, errors: ends.theirs)
        }
        let output = try read(ends.ours, deadline, command)
        guard let status = child.wait(deadline) else { throw DoorError("`\(command)` does not end") }
        return Pipeline(output: output, status: status, milliseconds: Deadline.now() - started)
    }

    private static func read(_ descriptor: Int32, _ deadline: Deadline, _ command: String) throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, deadline.left) > 0 else {
                throw DoorError("`\(command)` does not end; so far: \(String(decoding: bytes, as: UTF8.self))")
            }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[0..<count]
        }
    }
}
