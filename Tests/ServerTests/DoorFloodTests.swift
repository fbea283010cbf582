import Glibc
import TestKit
import Testing

/// docs/PROTOCOL.md: pasting, flood control that slows before it cuts, readers that do not read, clients that say
/// nothing.
@Suite struct DoorFloodTests {
    let channel = Door.unique("#flood")

    @Test("Pasting 40 lines loses none and takes under 5 s", arguments: [false, true])
    func fortyLines(asPerson: Bool) throws {
        let server = try Door.metered.get()
        let watcher = try server.watcher(channel)
        let sender = try server.connect()
        let nick = Door.unique("paste")
        _ = asPerson ? try sender.enter(nick) : try sender.register(nick)
        try sender.join(channel)
        let lines = (1...40).map { "line \($0) of a poem that somebody pastes" }
        let started = Deadline.now()
        try sender.send(raw: lines.map { asPerson ? $0 + "\n" : "PRIVMSG \(channel) :\($0)\r\n" }.joined())
        let heard = try watcher.lines(until: lines[39]).filter { $0.command == "PRIVMSG" }.map(\.last)
        #expect(heard == lines)
        #expect(Deadline.now() - started < 5000)
    }

    @Test("Pasting 200 lines loses none: a fast sender is slowed by not being read")
    func twoHundredLines() throws {
        let server = try Door.metered.get()
        let watcher = try server.watcher(channel)
        let person = try server.person(Door.unique("paste"), in: channel)
        let lines = (1...200).map { "line \($0) of a long story" }
        try person.send(raw: lines.joined(separator: "\n") + "\n")
        let heard = try watcher.lines(until: lines[199], within: 60).filter { $0.command == "PRIVMSG" }.map(\.last)
        #expect(heard == lines)
        try person.sync()
    }

    @Test("Never disconnected for not answering PING: a reader stays, and is not pinged")
    func readerStays() throws {
        let server = try ServerProcess(ServerConfiguration().with("limits", "ping-seconds", "5"))
        let reader = try server.connect("reader")
        try reader.send("JOIN \(channel)")
        try reader.expect(" 366 ")
        let silent = try server.client("silent")
        let lines = try silent.readToEnd(within: 20)
        #expect(lines.contains { $0.command == "PING" })
        #expect(lines.contains { $0.command == "ERROR" })
        let speaker = try server.client("speaker")
        try speaker.join(channel)
        try speaker.say(channel, "anybody there?")
        let seen = try reader.lines(until: "anybody there?")
        #expect(seen.allSatisfy { $0.command != "PING" && $0.command != "ERROR" })
    }

    @Test("An IRC client that answers its PINGs stays")
    func answeringStays() throws {
        let server = try ServerProcess(ServerConfiguration().with("limits", "ping-seconds", "5"))
        let client = try server.client("ana")
        for _ in 1...2 {
            let ping = try client.expect("PING", within: 15) { $0.command == "PING" }
            try client.send("PONG :\(ping.last)")
        }
        try client.sync()
    }

    @Test("Silence before any command closes after 60 s with a sentence that says so")
    func silence() throws {
        let server = try ServerProcess(ServerConfiguration(.plain, .both).with("limits", "registration-seconds", "1"))
        for listener in [0, 1] {
            let silent = try server.connect(listener: listener)
            let last = try #require(try silent.readToEnd(within: 6).last)
            #expect(last.command == "ERROR" || last.command == "NOTICE")
            #expect(last.last.split(separator: " ").count > 3)
        }
        // Half a registration is not one.
        let half = try server.connect()
        try half.send("CAP LS 302", "NICK half")
        #expect(try half.readToEnd(within: 6).contains { $0.command == "ERROR" })
    }

    @Test("A TLS handshake that stalls times out")
    func stalledHandshake() throws {
        let server = try ServerProcess(ServerConfiguration(.tls, .both).with("limits", "handshake-seconds", "1"))
        for listener in [0, 1] {
            let client = try server.connect(listener: listener)
            try client.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00])
            try client.readToEnd(within: 8)
        }
    }

    @Test("A client that reads is not cut, however much is said at once: who speaks too fast is slowed instead")
    func fastReader() throws {
        let server = try ServerProcess()
        let crowd = Crowd()
        try crowd.add(port: server.port(), sending: "NICK reader\r\nUSER r 0 * :R\r\nJOIN \(channel)\r\n")
        #expect(crowd.read(.seconds(10), until: { crowd.lines(0) > 0 && server.isRunning }))
        let speaker = try server.client("speaker")
        try speaker.join(channel)
        let count = 40_000
        let text = String(repeating: "x", count: 100)
        var script = Array((1...count).map { "PRIVMSG \(channel) :\($0) \(text)\r\n" }.joined().utf8)[...]
        var heard = 0
        let deadline = Deadline.seconds(60)
        while heard < count && !crowd.hasEnded(0) && !deadline.isOver {
            script = script.dropFirst(speaker.sendSome(script.prefix(1 << 20)))
            _ = crowd.read(.seconds(0.005), until: { false }) { _, line in
                if line.contains(" PRIVMSG \(channel) :") { heard += 1 }
            }
        }
        #expect(heard == count)
        #expect(!crowd.hasEnded(0), "\(server.log.suffix(300))")
    }

    @Test("A client that reads is not cut when thirty others speak in the same turn")
    func fastReaderOfMany() throws {
        let server = try ServerProcess()
        let crowd = Crowd()
        // The speakers stay outside, so that only the reader is told.
        let entry = ["CAP REQ :server-time message-tags", "NICK reader", "USER r 0 * :R", "CAP END", "JOIN \(channel)"]
        try crowd.add(
            port: server.port(), sending: (entry + ["MODE \(channel) -n"]).joined(separator: "\r\n") + "\r\n")
        var isOpen = false
        #expect(crowd.read(.seconds(10), until: { isOpen }) { if $1.contains(" MODE \(channel) -n") { isOpen = true } })
        let speakers = try (0..<30).map { try server.client("speaker\($0)") }
        // While the server stands still the kernel collects for its next turn: five times as much for the reader as one
        // may let wait.
        server.signal(SIGSTOP)
        let each = 1_300
        let script = (1...each).flatMap { Array("PRIVMSG \(channel) :\($0)\r\n".utf8) }
        for speaker in speakers { try speaker.send(script) }
        server.signal(SIGCONT)
        var heard = 0
        let all = crowd.read(.seconds(30), until: { heard == speakers.count * each || crowd.hasEnded(0) }) { _, line in
            if line.contains(" PRIVMSG \(channel) :") { heard += 1 }
        }
        #expect(all && heard == speakers.count * each, "\(server.log.suffix(300))")
    }

    @Test(
        "A client that does not read is cut when its send queue passes the limit, and it is logged; others notice nothing"
    )
    func slowReader() throws {
        let server = try ServerProcess(ServerConfiguration().with("limits", "send-queue", "\"64KiB\""))
        let stuck = try LineClient(port: server.port(), label: "stuck", receiveBuffer: 4096)
        try stuck.register("stuck")
        try stuck.join(channel)
        let reader = try server.watcher(channel)
        let speaker = try server.client("speaker")
        try speaker.join(channel)
        let text = String(repeating: "x", count: 400)
        var said = 0
        var cut = false
        while !cut && said < 40_000 {
            for _ in 0..<200 {
                said += 1
                try speaker.send("PRIVMSG \(channel) :\(said) \(text)")
            }
            let heard = try reader.lines(until: " :\(said) x")
            #expect(heard.count { $0.command == "PRIVMSG" } == 200)
            cut = (try heard + reader.sync()).contains { $0.command == "QUIT" }
        }
        #expect(cut)
        #expect(server.log.lowercased().contains("send queue") || server.log.lowercased().contains("sendq"))
    }
}
