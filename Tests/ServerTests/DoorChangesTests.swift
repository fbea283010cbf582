import Foundation
import TestKit
import Testing

/// docs/PROTOCOL.md, Changing what was said.
@Suite struct DoorChangesTests {
    let server: ServerProcess
    let channel = Door.unique("#changes")

    init() throws { server = try Door.shared.get() }

    private func client(_ server: ServerProcess, _ nick: String) throws -> LineClient {
        let client = try server.client(
            nick, "message-tags", "echo-message", "batch", "server-time", "draft/chathistory",
            "draft/message-redaction",
            "parley.chat/message-edit")
        try client.join(channel)
        return client
    }

    private func say(_ client: LineClient, _ text: String) throws -> String {
        try client.send("PRIVMSG \(channel) :\(text)")
        return try #require(client.expect(text).tags["msgid"])
    }

    @Test("REDACT and EDIT reach others at once, and history from then on")
    func live() throws {
        let ana = try client(server, Door.unique("ana"))
        let bo = try client(server, Door.unique("bo"))
        let first = try say(bo, "a slip of the tongue")
        let second = try say(bo, "helo")
        try bo.send("EDIT \(channel) * :hello", "REDACT \(channel) \(first) :sorry")
        try ana.expect("EDIT \(channel) \(second) :hello")
        try ana.expect("REDACT \(channel) \(first) :sorry")
        try ana.send("CHATHISTORY LATEST \(channel) * 10")
        let lines = try ana.sync().filter { ["PRIVMSG", "REDACT"].contains($0.command) }
        #expect(lines.map(\.command) == ["PRIVMSG", "REDACT", "PRIVMSG"])
        #expect(lines.map(\.last) == ["", "sorry", "hello"])
        #expect(lines[2].tags["parley.chat/edited"] != nil)
    }

    @Test("PRIVMSG, EDIT, REDACT and QUIT in one packet are done in this order")
    func onePacket() throws {
        let ana = try client(server, Door.unique("ana"))
        let bo = try client(server, Door.unique("bo"))
        try bo.send("PRIVMSG \(channel) :one", "EDIT \(channel) * :two", "REDACT \(channel) *", "QUIT")
        let lines = try ana.lines(until: "QUIT").filter { $0.source.hasPrefix("bo") && $0.command != "JOIN" }
        #expect(lines.map(\.command) == ["PRIVMSG", "EDIT", "REDACT", "QUIT"])
    }

    @Test("A person types it")
    func person() throws {
        let ana = try client(server, Door.unique("ana"))
        let person = try server.person(Door.unique("cy"), in: channel)
        try person.send("good mornig", "/edit \(channel) * good morning")
        try person.expect("NOTE EDIT EDITED \(channel)")
        try ana.expect("EDIT \(channel)", ":good morning")
    }

    @Test("A message sent again under its author's name for it is said once, also over kill -9 and a restart")
    func once() throws {
        let server = try ServerProcess()
        func ana(_ token: String?) throws -> LineClient {
            let client = try server.connect("ana")
            if let token { try client.send("PASS guest:\(token)") }
            try client.register("ana", capabilities: ["message-tags", "echo-message", "parley.chat/idempotent"])
            try client.join(channel)
            return client
        }
        let first = try ana(nil)
        try first.send("IDENTITY TOKEN")
        let token = try #require(first.expect("NOTE IDENTITY TOKEN").parameters.dropFirst(2).first)
        try first.send("@parley.chat/cid=1 PRIVMSG \(channel) :hello")
        let id = try #require(first.expect("PRIVMSG \(channel) :hello").tags["msgid"])
        server.kill9()
        try server.start()
        let bo = try server.client(Door.unique("bo"))
        try bo.join(channel)
        try bo.sync()
        let again = try ana(token)
        try again.send("@parley.chat/cid=1 PRIVMSG \(channel) :hello", "PRIVMSG \(channel) :and more")
        #expect(try again.expect("PRIVMSG \(channel) :hello").tags["msgid"] == id)
        #expect(try bo.lines(until: "and more").filter { $0.command == "PRIVMSG" }.map(\.last) == ["and more"])
    }

    @Test("After REDACT the text is in no file, also over kill -9 and a restart")
    func erased() throws {
        let server = try ServerProcess()
        let ana = try client(server, "ana")
        let gone = "the-secret-\(Door.unique("word"))"
        let kept = "a-harmless-\(Door.unique("word"))"
        let id = try say(ana, gone)
        _ = try say(ana, kept)
        try ana.send("REDACT \(channel) \(id)")
        try ana.expect("REDACT \(channel) \(id)")
        server.kill9()
        try server.start()
        let again = try client(server, "ana")
        try again.send("CHATHISTORY LATEST \(channel) * 10")
        let texts = try again.sync().filter { $0.command == "PRIVMSG" }.map(\.last)
        #expect(texts == ["", kept])
        #expect(try Deadline.seconds(20).wait(every: 50) { try !server.holdsOnDisk(gone) })
        #expect(try server.holdsOnDisk(kept))
    }
}

extension ServerProcess {
    /// Whether these bytes are anywhere in the data directory.
    fileprivate func holdsOnDisk(_ text: String) throws -> Bool {
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory)
        return files.contains { name in
            let bytes = FileManager.default.contents(atPath: "\(directory)/\(name)")
            return bytes?.range(of: Data(text.utf8)) != nil
        }
    }
}
