import Glibc
import Net
import Synchronization

/// A mail server that takes every message (RFC 5321, as much of it as a sender needs) and keeps it.
package final class MailSink: Sendable {
    package struct Message: Sendable {
        package let sender: String
        package let recipients: [String]
        /// Header and body, each line without its end.
        package let lines: [String]
    }

    package let port: UInt16
    private let received = Mutex<[Message]>([])
    private let listener: Int32

    package init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        port = Ports.free()
        guard SocketAddress.loopback(AF_INET, port).withPointer({ bind(listener, $0, $1) }) == 0,
            listen(listener, 16) == 0
        else { throw DoorError.system("listen on \(port)") }
        _ = startThread(name: "mail-sink") { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, let self else { return }
                self.serve(connection)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The n-th message that came, as soon as it is there.
    package func message(_ number: Int, within seconds: Double = LineClient.patience) throws -> Message {
        let isThere = Deadline.seconds(seconds).wait { received.withLock { $0.count > number } }
        guard isThere else { throw DoorError("no mail came") }
        return received.withLock { $0[number] }
    }

    package var count: Int { received.withLock { $0.count } }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var lines = SMTPLines(connection)
        var sender = ""
        var recipients: [String] = []
        lines.say("220 sink.test")
        while let line = lines.next() {
            switch line.prefix(4).uppercased() {
            case "EHLO", "HELO": lines.say("250 sink.test")
            case "MAIL":
                sender = address(line)
                lines.say("250 fine")
            case "RCPT":
                recipients.append(address(line))
                lines.say("250 fine")
            case "DATA":
                lines.say("354 go on")
                var text: [String] = []
                while let line = lines.next(), line != "." {
                    text.append(line.hasPrefix(".") ? String(line.dropFirst()) : line)
                }
                received.withLock { $0.append(Message(sender: sender, recipients: recipients, lines: text)) }
                lines.say("250 kept")
            case "QUIT": return lines.say("221 bye")
            default: lines.say("250 fine")
            }
        }
    }

    /// Between `<` and `>`.
    private func address(_ line: String) -> String {
        String(line.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" })
    }
}

/// Lines of one SMTP conversation.
private struct SMTPLines {
    private let connection: Int32
    private var pending: [UInt8] = []

    init(_ connection: Int32) { self.connection = connection }

    func say(_ line: String) {
        let bytes = Array("\(line)\r\n".utf8)
        _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    mutating func next() -> String? {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            if let end = pending.firstIndex(of: 0x0A) {
                defer { pending.removeFirst(end + 1) }
                return String(decoding: pending[..<end].filter { $0 != 0x0D }, as: UTF8.self)
            }
            let count = recv(connection, &chunk, chunk.count, 0)
            if count <= 0 { return nil }
            pending += chunk[..<count]
        }
    }
}
