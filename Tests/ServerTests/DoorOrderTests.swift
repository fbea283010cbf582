import TestKit
import Testing

/// docs/PROTOCOL.md, Lines: order, and the end of a stream.
@Suite struct DoorOrderTests {
    let server: ServerProcess
    let channel = Door.unique("#order")
    let watcher: LineClient

    init() throws {
        server = try Door.shared.get()
        watcher = try server.watcher(channel)
    }

    @Test("Replies leave in the order of the commands, also where one needs the disk")
    func repliesInOrder() throws {
        let client = try server.client(Door.unique("o"), "batch", "server-time", "message-tags")
        try client.join(channel)
        for number in 1...5 { try client.say(channel, "kept \(number)") }
        try client.send(
            "PING a", "HISTORY \(channel) 5", "PING b", "PRIVMSG \(channel) :after", "HISTORY \(channel) 1", "PING c")
        let order = try client.lines(until: "PONG", ":c").compactMap { line -> String? in
            if line.command == "PONG" { return line.last }
            return line.text.contains("kept 5")
                ? "history" : line.tags["batch"] != nil && line.last == "after" ? "after" : nil
        }
        #expect(order == ["a", "history", "b", "after", "c"])
    }

    @Test("PRIVMSG then QUIT in one packet delivers first")
    func deliversBeforeQuit() throws {
        let nick = Door.unique("o")
        let client = try server.client(nick)
        try client.join(channel)
        try client.send("PRIVMSG \(channel) :last words", "QUIT :gone")
        let lines = try watcher.lines(until: ":\(nick)!", " QUIT")
        #expect(lines.contains { $0.last == "last words" })
        #expect(lines.last?.last.contains("gone") == true)
        #expect(try client.readToEnd().contains { $0.command == "ERROR" })
    }

    @Test(
        "After the end of file everything sent is processed, an unterminated last line included, then closed within 2 s"
    )
    func unterminatedLine() throws {
        let client = try server.connect()
        let nick = Door.unique("o")
        try client.send(raw: "NICK \(nick)\nJOIN \(channel)\nPRIVMSG \(channel) :one\nPRIVMSG \(channel) :two")
        client.halfClose()
        let started = Deadline.now()
        let answers = try client.readToEnd()
        #expect(Deadline.now() - started < 2500)
        #expect(answers.contains { $0.command == "001" })
        #expect(answers.contains { $0.command == "366" })
        let heard = try watcher.lines(until: ":\(nick)!", " QUIT")
        #expect(heard.filter { $0.command == "PRIVMSG" }.map(\.last) == ["one", "two"])
    }

    @Test("Every answer is flushed after the end of file, also one that needs the disk")
    func answersAfterEnd() throws {
        try watcher.say(channel, "worth keeping")
        let client = try server.connect()
        try client.send("JOIN \(channel)", "HISTORY \(channel) 5", "LIST", "PING done")
        client.halfClose()
        let answers = try client.readToEnd()
        #expect(answers.contains { $0.text.contains("worth keeping") })
        #expect(answers.contains { $0.command == "PONG" && $0.last == "done" })
    }

    @Test(
        "… | nc -N, -q1, ncat --send-only, over TLS too",
        arguments: [
            "nc -N 127.0.0.1 PLAIN", "nc -q1 127.0.0.1 PLAIN", "ncat --send-only 127.0.0.1 PLAIN",
            "ncat 127.0.0.1 PLAIN",
            "nc -N 127.0.0.1 BOTH", "ncat --ssl --send-only 127.0.0.1 TLS", "ncat --ssl 127.0.0.1 TLS",
            "ncat --ssl --send-only 127.0.0.1 BOTH", "openssl s_client -quiet -no_ign_eof -connect 127.0.0.1:TLS",
        ])
    func pipes(tool: String) throws {
        let nick = Door.unique("pipe")
        let script = #"printf 'NICK \#(nick)\nJOIN \#(channel)\nPRIVMSG \#(channel) :through a pipe'"#
        try Pipeline.run("\(script) | \(ported(tool)) 2>/dev/null; true", within: 10)
        let heard = try watcher.lines(until: ":\(nick)!", " QUIT")
        #expect(heard.filter { $0.command == "PRIVMSG" }.map(\.last) == ["through a pipe"])
    }

    @Test(
        "A pipe that ends with QUIT is answered and closed",
        arguments: [
            "nc -N 127.0.0.1 PLAIN", "nc 127.0.0.1 PLAIN", "ncat 127.0.0.1 PLAIN",
            "openssl s_client -quiet -connect 127.0.0.1:TLS", "ncat --ssl 127.0.0.1 TLS",
        ])
    func pipesWithQuit(tool: String) throws {
        let nick = Door.unique("pipe")
        let script = #"printf 'NICK \#(nick)\nJOIN \#(channel)\nPRIVMSG \#(channel) :hello\nQUIT\n'"#
        let pipe = try Pipeline.run("\(script) | \(ported(tool)) 2>/dev/null", within: 10)
        #expect(pipe.output.contains(" 001 \(nick) "))
        #expect(pipe.output.contains("ERROR"))
        let heard = try watcher.lines(until: ":\(nick)!", " QUIT")
        #expect(heard.contains { $0.last == "hello" })
    }

    enum Leaving: CaseIterable { case close, reset, halfClose, quit }

    @Test("Others see a QUIT within 1 s of any close", arguments: Leaving.allCases)
    func quitIsSeen(leaving: Leaving) throws {
        let nick = Door.unique("gone")
        let client = try server.client(nick)
        try client.join(channel)
        try client.sync()
        try watcher.sync()
        switch leaving {
        case .close: client.close()
        case .reset: client.reset()
        case .halfClose: client.halfClose()
        case .quit: try client.send("QUIT")
        }
        try watcher.expect(":\(nick)!", " QUIT", within: 1)
    }

    @Test("… over TLS too, also when the client is killed")
    func quitIsSeenOverTLS() throws {
        let nick = Door.unique("gone")
        let client = try server.connectTLS()
        try client.register(nick)
        try client.join(channel)
        client.close()
        try watcher.expect(":\(nick)!", " QUIT", within: 1)
    }

    @Test("… within 2 min of a pulled cable: every connection is kept alive by the kernel")
    func keepalive() throws {
        let client = try server.client(Door.unique("k"))
        try client.sync()
        // Column 6 of /proc/net/tcp is "timer active:jiffies until it fires"; 02 is the keepalive timer of an idle
        // socket.
        let port = String(server.port(), radix: 16, uppercase: true)
        let table = try Pipeline.run("cat /proc/net/tcp")
        let timers = table.lines.map { $0.split(separator: " ") }.filter {
            $0.count > 5 && $0[1].hasSuffix(":\(port)") && $0[3] == "01"
        }
        #expect(!timers.isEmpty)
        for timer in timers.map({ $0[5].split(separator: ":") }) where timer.count == 2 && timer[0] != "01" {
            #expect(timer[0] == "02")
            #expect((Int(timer[1], radix: 16) ?? .max) <= 120 * 100)
        }
    }

    private func ported(_ tool: String) -> String {
        tool.replacing("PLAIN", with: "\(server.port(Door.plain))").replacing("TLS", with: "\(server.port(Door.tls))")
            .replacing("BOTH", with: "\(server.port(Door.both))")
    }
}
