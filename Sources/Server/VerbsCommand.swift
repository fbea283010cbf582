import Bytes
import Glibc
import Net
import Wire

/// `parley operator …`: says one command to the running server, through the socket that only its
/// own user can open, and prints the answer. The status is 0 unless the server refused.
func runCommand(_ words: [String], _ file: String?) -> Int32 {
    guard let loaded = loadOrComplain(file) else { return Exit.failure }
    guard let line = commandLine(words) else { return Exit.failure }
    do {
        var console = try Console(path: Places(loaded.configuration, .process).console)
        return try console.run(line)
    } catch {
        Output.error("parley: \(error); is the server running?\n")
        return Exit.failure
    }
}

/// As the protocol writes it; the last word may hold spaces.
private func commandLine(_ words: [String]) -> String? {
    var words = words
    guard !words.contains(where: { $0.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 } }),
        words.dropLast().allSatisfy({ !$0.isEmpty && !$0.contains(" ") && !$0.hasPrefix(":") })
    else {
        Output.error("parley: only the last word may hold spaces, and none a line end\n")
        return nil
    }
    let last = words.removeLast()
    let isPlain = !last.isEmpty && !last.contains(" ") && !last.hasPrefix(":")
    return (words + [isPlain ? last : ":\(last)"]).joined(separator: " ")
}

/// A plain session with the server on its own socket.
private struct Console: ~Copyable {
    private let descriptor: Int32
    private var pending: [UInt8] = []

    init(path: String) throws(NetError) { descriptor = try connectLocally(path) }

    deinit { close(descriptor) }

    /// What the server says between the two PONGs answers the command.
    mutating func run(_ line: String) throws(NetError) -> Int32 {
        try send("NICK console-\(getpid())\r\nPING begin\r\n\(line)\r\nPING end\r\nQUIT\r\n")
        while let line = try next() { if isPong(line, "begin") { break } }
        var status = Exit.success
        while let line = try next() {
            if isPong(line, "end") { return status }
            if !show(line) { status = Exit.failure }
        }
        throw NetError("the server closed the connection")
    }

    private func isPong(_ line: [UInt8], _ mark: StaticString) -> Bool {
        line.withUnsafeBytes { bytes in
            guard let message = Message(parsing: ByteView(bytes)) else { return false }
            return message.command == "PONG" && message.parameter(1)?.equalsIgnoringCase(mark) ?? false
        }
    }

    /// False: it was a refusal, and went to standard error.
    private func show(_ line: [UInt8]) -> Bool {
        line.withUnsafeBytes { bytes in
            guard let message = Message(parsing: ByteView(bytes)) else { return true }
            let command = ByteString(message.command).string
            let isNumeric = message.command.count == 3 && message.command.decimal() != nil
            // Numerics and notices name the receiver first.
            let first = isNumeric || command == "NOTICE" ? 1 : 0
            let words = (first..<max(first, message.parameterCount)).map { ByteString(message[$0]).string }
            let text = words.joined(separator: " ") + "\n"
            let isRefusal = command == "FAIL" || command == "723" || (isNumeric && "45".contains(command.prefix(1)))
            if isRefusal { Output.error(text) } else { _ = Output.print(text) }
            return !isRefusal
        }
    }

    private func send(_ text: String) throws(NetError) {
        do {
            try Files.writeAll(descriptor, Array(text.utf8))
        } catch {
            throw NetError("the server does not listen: \(error.reason)")
        }
    }

    /// nil: the server has closed.
    private mutating func next() throws(NetError) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            if let end = pending.firstIndex(of: 0x0A) {
                defer { pending.removeFirst(end + 1) }
                return Array(pending[..<end].filter { $0 != 0x0D })
            }
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { return nil }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw NetError("the server does not answer", errno: errno) }
            pending += chunk[..<count]
        }
    }
}
