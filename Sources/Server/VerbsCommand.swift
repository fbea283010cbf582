import Bytes
import Glibc
import Net
import Wire

/// `parley operator …`: says one command to the running server, through the socket that only its
/// own user can open, and prints the answer. The status is 0 unless the server refused.
func runCommand(_ words: [String], _ file: String?) -> Int32 {
    guard let loaded = loadOrComplain(file), let line = commandLine(words.map { Array($0.utf8) }) else {
        return Exit.failure
    }
    return withConsole(loaded.configuration) { console throws(NetError) in try console.ask(line).status }
}

/// As the protocol writes it; the last word may hold spaces. nil: it cannot be, and that was told.
func commandLine(_ words: [[UInt8]]) -> [UInt8]? {
    var words = words
    guard words.allSatisfy({ ByteString($0).withView { UTF8Check.isValid($0) } }) else {
        Output.error("parley: text must be UTF-8\n")
        return nil
    }
    guard !words.contains(where: { $0.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 } }),
        words.dropLast().allSatisfy({ isPlain($0) })
    else {
        Output.error("parley: only the last word may hold spaces, and none a line end\n")
        return nil
    }
    let last = words.removeLast()
    words.append(isPlain(last) ? last : [0x3A] + last)
    return Array(words.joined(separator: [0x20]))
}

private func isPlain(_ word: [UInt8]) -> Bool { !word.isEmpty && !word.contains(0x20) && word.first != 0x3A }

/// Tells why when there is no server to talk to.
func withConsole(
    _ configuration: Configuration, _ body: (inout Console) throws(NetError) -> Int32
) -> Int32 {
    do {
        var console = try Console(path: Places(configuration, .process).console)
        try console.enter()
        return try body(&console)
    } catch {
        Output.error("parley: \(error); is the server running?\n")
        return Exit.failure
    }
}

/// A plain session with the server on its own socket.
struct Console: ~Copyable {
    private let descriptor: Int32
    private var pending: [UInt8] = []
    private var asked = 0

    init(path: String) throws(NetError) { descriptor = try connectLocally(path) }

    /// Any command completes the entry, but for PING; what is told on entering stands before the first PONG.
    mutating func enter() throws(NetError) {
        try send(Array("NICK console-\(getpid())\r\nISON nobody\r\nPING 0\r\n".utf8))
        while let line = try next() { if isPong(line, 0) { return } }
        throw NetError("the server closed the connection")
    }

    deinit { close(descriptor) }

    /// What the server says between two PONGs answers the command. `next` is where a list goes on that was too long for
    /// one answer.
    mutating func ask(_ line: [UInt8]) throws(NetError) -> (status: Int32, next: String?) {
        asked += 1
        try send(line + Array("\r\nPING \(asked)\r\n".utf8))
        var status = Exit.success
        var following: String?
        while let line = try next() {
            if isPong(line, asked) { return (status, following) }
            line.withUnsafeBytes { bytes in
                guard let message = Message(parsing: ByteView(bytes)) else { return }
                if isEndOfList(message) {
                    following = message.parameterCount > 4 ? ByteString(message[3]).string : nil
                } else if !show(message) {
                    status = Exit.failure
                }
            }
        }
        throw NetError("the server closed the connection")
    }

    private func isPong(_ line: [UInt8], _ number: Int) -> Bool {
        line.withUnsafeBytes { bytes in
            guard let message = Message(parsing: ByteView(bytes)) else { return false }
            return message.command == "PONG" && message.parameter(1)?.decimal() == number
        }
    }

    /// `NOTE ACCOUNT END * [<after>] :…`
    private func isEndOfList(_ message: Message) -> Bool {
        message.command == "NOTE" && message.parameterCount > 3 && message[0] == "ACCOUNT" && message[1] == "END"
    }

    /// False: it was a refusal, and went to standard error.
    private func show(_ message: Message) -> Bool {
        let command = ByteString(message.command).string
        let isNumeric = message.command.count == 3 && message.command.decimal() != nil
        // Numerics and notices name the receiver first; entries of a list stand for themselves.
        let isEntry = command == "NOTE" && message.parameterCount > 2 && message[1] == "ENTRY"
        let first = isEntry ? 2 : isNumeric || command == "NOTICE" ? 1 : 0
        let words = (first..<max(first, message.parameterCount)).map { ByteString(message[$0]).string }
        let text = words.filter { !$0.isEmpty }.joined(separator: " ") + "\n"
        let isRefusal = command == "FAIL" || command == "723" || (isNumeric && "45".contains(command.prefix(1)))
        if isRefusal { Output.error(text) } else { _ = Output.print(text) }
        return !isRefusal
    }

    private func send(_ bytes: [UInt8]) throws(NetError) {
        do {
            try Files.writeAll(descriptor, bytes)
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
