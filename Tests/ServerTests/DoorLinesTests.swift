import Foundation
import TestKit
import Testing

/// docs/PROTOCOL.md, Lines: how bytes become commands, as the bytes of real programs arrive.
@Suite struct DoorLinesTests {
    let server: ServerProcess
    let channel = Door.unique("#lines")

    init() throws { server = try Door.shared.get() }

    @Test("A line ends in LF, CRLF, CR or CR NUL", arguments: ["\n", "\r\n", "\r", "\r\0"])
    func lineEnds(end: String) throws {
        let client = try server.connect()
        try client.send(
            raw: ["NICK \(Door.unique("e"))", "USER e 0 * :E", "PING one", "PING two", ""].joined(separator: end))
        try client.expect("PONG", "one")
        try client.expect("PONG", "two")
    }

    @Test("What the server sends ends in CR LF")
    func serverEndsLinesProperly() throws {
        let client = try server.connect()
        let lines = try client.register(Door.unique("crlf"))
        #expect(lines.allSatisfy { $0.endsWithCRLF })
    }

    @Test("Empty lines and leading spaces are ignored, verbs are case-insensitive")
    func emptyLinesAndCase() throws {
        let client = try server.client(Door.unique("case"))
        try client.send(raw: "\r\n\n\r\n   \r\n   pInG one\r\n\r\n PING two\r\n")
        let lines = try client.lines(until: "PONG", "two")
        #expect(lines.count == 2)
        #expect(lines.first?.last == "one")
    }

    @Test("A leading UTF-8 byte-order mark is dropped")
    func byteOrderMark() throws {
        let nick = Door.unique("bom")
        let person = try server.connect()
        try person.send(raw: "\u{FEFF}NICK \(nick)\r\n")
        try person.expect(" 001 \(nick) ")
        let client = try server.connect()
        try client.send(raw: "\u{FEFF}CAP LS 302\r\n")
        try client.expect("CAP * LS")
    }

    @Test("Lines cut at every byte arrive whole")
    func cutAtEveryByte() throws {
        let watcher = try server.watcher(channel)
        let nick = Door.unique("cut")
        let script = "NICK \(nick)\r\nUSER \(nick) 0 * :Cut\r\nJOIN \(channel)\r\nPRIVMSG \(channel) :čau, 你好 🐈\r\n"
        let client = try server.connect()
        for byte in script.utf8 { try client.send([byte]) }
        try watcher.expectMessage("čau, 你好 🐈")
        for cut in 0..<6 {
            let line = Array("PRIVMSG \(channel) :🐈 \(cut)\r\n".utf8)
            let at = line.count - 8 + cut
            try client.send(line[..<at])
            try client.send(line[at...])
            try watcher.expectMessage("🐈 \(cut)")
        }
    }

    // MARK: Lengths

    @Test("512 bytes are a line; longer: 417, the line is discarded as a whole, the connection stays")
    func messageLength() throws {
        let watcher = try server.watcher(channel)
        let client = try server.client(Door.unique("long"))
        try client.join(channel)
        try client.send(padded("PRIVMSG \(channel) :", to: 513))
        let answers = try client.sync()
        #expect(answers.count { $0.command == "417" } == 1)
        #expect(try watcher.messages() == [])
        try client.send(padded("PING ", to: 512))
        try client.expect("PONG")
    }

    @Test("Nothing is ever cut silently: a line of 512 bytes reaches the others whole or is refused")
    func neverCutSilently() throws {
        let watcher = try server.watcher(channel)
        let client = try server.client(Door.unique("whole"))
        try client.join(channel)
        for length in [400, 460, 480, 500, 510, 512] {
            let line = padded("PRIVMSG \(channel) :\(length) ", to: length, with: "ü")
            try client.send(line)
            let refused = try client.sync().contains { ["417", "FAIL", "404"].contains($0.command) }
            let heard = try watcher.messages()
            let sent = String(line.dropFirst("PRIVMSG \(channel) :".count))
            #expect(heard == (refused ? [] : [sent]))
        }
    }

    @Test("8191 bytes for tags, 4094 from a client; longer: 417")
    func tagLength() throws {
        let client = try server.client(Door.unique("tags"), "message-tags")
        try client.join(channel)
        try client.send("@+x=\(String(repeating: "a", count: 4094 - 3)) PRIVMSG \(channel) :fits")
        #expect(try client.sync().allSatisfy { $0.command != "417" })
        try client.send("@+x=\(String(repeating: "a", count: 4095 - 3)) PRIVMSG \(channel) :does not")
        #expect(try client.sync().count { $0.command == "417" } == 1)
    }

    @Test("5,000 bytes without a newline are one refusal, and the connection stays")
    func endlessLine() throws {
        let client = try server.client(Door.unique("endless"))
        try client.send(raw: String(repeating: "x", count: 5000))
        try client.send(raw: "\r\n")
        let answers = try client.sync()
        #expect(answers.map(\.command) == ["417"])
    }

    @Test("A million bytes without a newline neither grow the server nor end the session")
    func megabyteLine() throws {
        let client = try server.client(Door.unique("mega"))
        let before = try memory()
        for _ in 0..<16 { try client.send([UInt8](repeating: 0x78, count: 65536)) }
        try client.send(raw: "\r\n")
        #expect(try client.sync().count { $0.command == "417" } == 1)
        #expect(try memory() - before < 1024)
    }

    // MARK: Encoding

    @Test(
        "Text is UTF-8. Invalid bytes: FAIL <command> INVALID_UTF8, nothing relayed",
        arguments: [
            [0xc3, 0x28], [0xe2, 0x82], [0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe9],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) throws {
        let watcher = try server.watcher(channel)
        let client = try server.client(Door.unique("utf"), "standard-replies")
        try client.join(channel)
        try client.send(Array("PRIVMSG \(channel) :bad ".utf8) + bytes + Array(" bytes\r\n".utf8))
        let answers = try client.sync()
        #expect(answers.count { $0.body.contains("FAIL PRIVMSG INVALID_UTF8") } == 1)
        #expect(try watcher.messages() == [])
    }

    @Test("UTF8ONLY is told in 005")
    func utf8Only() throws {
        let client = try server.connect()
        let burst = try client.register(Door.unique("isupport"))
        #expect(burst.contains { $0.command == "005" && $0.parameters.contains("UTF8ONLY") })
    }

    // MARK: Helpers

    /// `start`, filled up so that with CR LF the line has `length` bytes.
    private func padded(_ start: String, to length: Int, with filler: String = "x") -> String {
        let room = length - 2 - start.utf8.count
        let body = String(repeating: filler, count: room / filler.utf8.count)
        return start + body + String(repeating: "x", count: room - body.utf8.count)
    }

    /// Resident memory of the server in KB.
    private func memory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(server.pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }
}
