import TestKit
import Testing

/// docs/PROTOCOL.md, Lines: telnet, as telnet sends it (RFC 854), and a terminal's control characters.
@Suite struct DoorTelnetTests {
    let server: ServerProcess
    let channel = Door.unique("#telnet")
    let watcher: LineClient

    init() throws {
        server = try Door.shared.get()
        watcher = try server.watcher(channel)
    }

    @Test(
        "IAC sequences are consumed, never relayed",
        arguments: [
            [0xff, 0xfb, 0x01], [0xff, 0xfe, 0x01], [0xff, 0xf1], [0xff, 0xf9],
            [0xff, 0xfa, 0x18, 0x00, 0x78, 0x74, 0x65, 0x72, 0x6d, 0xff, 0xf0],
        ] as [[UInt8]])
    func sequencesAreConsumed(sequence: [UInt8]) throws {
        let person = try server.person(Door.unique("t"), in: channel)
        try person.send(Array("hel".utf8) + sequence + Array("lo\r\n".utf8))
        try watcher.expectMessage("hello")
        // The same, cut between any two bytes.
        for cut in 1..<sequence.count {
            try person.send(Array("cut \(cut)".utf8) + sequence[..<cut])
            try person.send(Array(sequence[cut...]) + Array(".\r\n".utf8))
            try watcher.expectMessage("cut \(cut).")
        }
    }

    @Test("We start no negotiation")
    func startsNoNegotiation() throws {
        let person = try server.connect()
        let lines = try person.enter(Door.unique("t"))
        #expect(!lines.contains { $0.bytes.contains(0xff) })
    }

    @Test(
        "… and answer one with a single WONT or DONT",
        arguments: [([0xff, 0xfb, 0x01], [0xff, 0xfe, 0x01]), ([0xff, 0xfd, 0x03], [0xff, 0xfc, 0x03])]
            as [([UInt8], [UInt8])])
    func answersOnce(offer: [UInt8], refusal: [UInt8]) throws {
        let person = try server.person(Door.unique("t"))
        try person.send(offer)
        let first = try telnetBytes(person)
        #expect(first == refusal)
        try person.send(offer)
        #expect(try telnetBytes(person).count <= refusal.count)
    }

    @Test("A WONT or DONT is not answered")
    func refusalsAreNotAnswered() throws {
        let person = try server.person(Door.unique("t"))
        try person.send([0xff, 0xfc, 0x01, 0xff, 0xfe, 0x03])
        #expect(try telnetBytes(person) == [])
    }

    @Test("Ctrl-C (FF F4 FF FD 06) drops the partial line")
    func interrupt() throws {
        let person = try server.person(Door.unique("t"), in: channel)
        try person.send(Array("not to be said".utf8) + [0xff, 0xf4, 0xff, 0xfd, 0x06] + Array("said\r\n".utf8))
        try watcher.expectMessage("said")
    }

    @Test(
        "BS and DEL erase a character",
        arguments: [
            ("helo\u{8}lo", "hello"), ("hellp\u{7f}o", "hello"), ("caf\u{e9}\u{7f}e", "cafe"),
            ("x\u{8}\u{8}\u{8}abc", "abc"),
            ("a🐈\u{8}b", "ab"),
        ])
    func erase(typed: String, said: String) throws {
        let person = try server.person(Door.unique("t"), in: channel)
        try person.send(typed)
        try watcher.expectMessage(said)
    }

    @Test("A lone 0x04 is QUIT", arguments: ["\u{4}", "\u{4}\r\n", "\u{4}\n"])
    func endOfTransmission(bytes: String) throws {
        let nick = Door.unique("t")
        let person = try server.person(nick, in: channel)
        try person.send(raw: bytes)
        try person.readToEnd()
        try watcher.expect(":\(nick)!", " QUIT")
    }

    @Test("A 0x04 inside a line is none")
    func endOfTransmissionInside() throws {
        let person = try server.person(Door.unique("t"), in: channel)
        try person.send("a\u{4}b")
        #expect(try person.sync().allSatisfy { $0.command != "ERROR" })
    }

    @Test("telnet itself: a person comes in, says something and leaves")
    func realTelnet() throws {
        let nick = Door.unique("t")
        let script = "sleep 0.3; echo 'NICK \(nick)'; echo 'JOIN \(channel)'; echo 'hi from telnet'; echo QUIT; sleep 1"
        let telnet = try Pipeline.run("( \(script) ) | telnet 127.0.0.1 \(server.port()) || true")
        try watcher.expectMessage("hi from telnet")
        #expect(telnet.output.contains(" 001 \(nick) "))
    }

    /// The bytes that the server sent before a PONG and that belong to no line.
    private func telnetBytes(_ person: LineClient) throws -> [UInt8] {
        try person.send("PING telnet")
        let line = try person.expect("PONG", "telnet")
        return Array(line.bytes.prefix { $0 != 0x3a })
    }
}
