import TestKit
import Testing

/// docs/PROTOCOL.md: CHANGES, RECEIPTS, CONVERSATIONS and CHANNELS, for a client and for a person.
@Suite struct DoorOverviewTests {
    let server: ServerProcess
    let channel = Door.unique("#overview")

    init() throws { server = try Door.shared.get() }

    private func client(_ stem: String, _ capabilities: String...) throws -> LineClient {
        let client = try server.connect()
        try client.register(
            Door.unique(stem), capabilities: ["message-tags", "server-time", "batch", "echo-message"] + capabilities)
        try client.join(channel)
        return client
    }

    private func say(_ client: LineClient, _ text: String) throws -> ReceivedLine {
        try client.send("PRIVMSG \(channel) :\(text)")
        return try client.expect(text)
    }

    @Test("CHANGES tells everything after a cursor, and where to go on")
    func changes() throws {
        let bo = try client("bo")
        let ana = try client("ana", "parley.chat/message-edit", "draft/message-redaction")
        let person = try server.person(Door.unique("cy"), in: channel)
        let first = try #require(try say(bo, "helo").tags["msgid"])
        let second = try #require(try say(bo, "a slip").tags["msgid"])
        try bo.send("EDIT \(channel) \(first) :hello", "REDACT \(channel) \(second) :sorry")
        try bo.sync()
        _ = try ana.sync()
        try ana.send("CHANGES \(channel) \(first)")
        let lines = try ana.lines(until: "NOTE CHANGES END \(channel) ")
        #expect(lines.contains { $0.command == "EDIT" && $0.last == "hello" && $0.parameters[1] == first })
        #expect(lines.contains { $0.command == "REDACT" && $0.last == "sorry" && $0.parameters[1] == second })
        let cursor = try #require(lines.last?.parameters[3])
        try ana.send("CHANGES \(channel) \(cursor)")
        #expect(try ana.lines(until: "NOTE CHANGES END \(channel) \(cursor)").allSatisfy { $0.command != "EDIT" })
        try person.send("/changes \(channel) 000000000000")
        let typed = try person.lines(until: "NOTE CHANGES END \(channel) ")
        #expect(typed.contains { $0.last.hasSuffix("] hello (edited)") || $0.text.contains("EDIT") })
    }

    @Test("RECEIPTS says who has read, live and when asked")
    func receipts() throws {
        let ana = try client("ana", "parley.chat/receipts")
        let bo = try client("bo")
        let person = try server.person(Door.unique("cy"), in: channel)
        let said = try say(ana, "read this")
        let (id, time) = (try #require(said.tags["msgid"]), try #require(said.tags["time"]))
        try bo.send("MARKREAD \(channel) timestamp=\(time)")
        let live = try ana.expect("RECEIPT \(channel) \(id) bo", " read ")
        #expect(live.parameters.count >= 6)
        try ana.send("RECEIPTS \(channel) \(id)")
        let lines = try ana.lines(until: "NOTE RECEIPTS END \(channel)")
        #expect(lines.contains { $0.command == "RECEIPT" && $0.text.contains(" read ") })
        try person.send("said by hand", "ACKS on", "and once more")
        let typed = try person.expect(":parley.test NOTE ACKS SENT ").parameters[2]
        try bo.send("MARKREAD \(channel) timestamp=2100-01-01T00:00:00.000Z")
        try bo.sync()
        try person.send("RECEIPTS \(channel) \(typed)")
        #expect(
            try person.lines(until: "NOTE RECEIPTS END").contains { $0.text.contains("RECEIPT \(channel) \(typed) bo") }
        )
        try bo.send("RECEIPTS \(channel) \(id)")
        try bo.expect("FAIL RECEIPTS UNKNOWN_MSGID \(channel) \(id)")
    }

    @Test("CONVERSATIONS lists channels and people with what is unread")
    func conversations() throws {
        let ana = try client("ana")
        let bo = try client("bo")
        _ = try say(bo, "in the channel")
        try ana.sync()
        try ana.send("WHOIS nobody-there")
        let nick = try #require(try ana.lines(until: " 318 ").last?.parameters.first)
        try bo.send("PRIVMSG \(nick) :in private")
        try ana.expect("in private")
        try ana.send("CONVERSATIONS")
        let lines = try ana.lines(until: "NOTE CONVERSATIONS END").filter { $0.command == "CONVERSATION" }
        #expect(lines.map(\.last) == ["in private", "in the channel"])
        #expect(lines.map { $0.parameters[4] } == ["1", "1"])
        let person = try server.person(Door.unique("cy"), in: channel)
        try person.send("/conversations")
        let typed = try person.lines(until: "NOTE CONVERSATIONS END")
        #expect(typed.contains { $0.text.contains("CONVERSATION \(channel) - ") && $0.last == "in the channel" })
    }

    @Test("CHANNELS SUB tells the public channels and what becomes of them")
    func channels() throws {
        let ana = try client("ana")
        try ana.send("CHANNELS SUB")
        #expect(try ana.lines(until: "NOTE CHANNELS END").contains { $0.text.contains("CHANNELS ADD \(channel) ") })
        let person = try server.person(Door.unique("cy"))
        try person.send("/channels sub")
        try person.expect("CHANNELS ADD \(channel) ")
        let bo = try server.client(Door.unique("bo"))
        let other = Door.unique("#new")
        try bo.join(other)
        for watcher in [ana, person] { try watcher.expect("CHANNELS ADD \(other) ") }
        try bo.send("MODE \(other) +s")
        for watcher in [ana, person] { try watcher.expect("CHANNELS DEL \(other) ") }
        for watcher in [ana, person] { try watcher.send("CHANNELS UNSUB") }
    }

    @Test("The whole list is flushed to a pipe that ends at once")
    func channelsToAPipe() throws {
        _ = try client("ana")
        let pipe = try server.connect()
        try pipe.send(raw: "NICK \(Door.unique("pipe"))\nCHANNELS SUB")
        pipe.halfClose()
        let lines = try pipe.readToEnd()
        #expect(lines.contains { $0.text.contains("CHANNELS ADD \(channel) ") })
        #expect(lines.contains { $0.text.contains("NOTE CHANNELS END") })
    }
}
