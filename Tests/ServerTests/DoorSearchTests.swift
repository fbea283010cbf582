import Foundation
import TestKit
import Testing

/// docs/PROTOCOL.md, Search; how long history is kept; a channel's export.
@Suite struct DoorSearchTests {
    private func parley(_ server: ServerProcess, _ words: String) throws -> Pipeline {
        try Pipeline.run("'\(ServerProcess.binary)' --config '\(server.configurationPath)' \(words) 2>&1")
    }

    private func found(_ client: LineClient, _ attributes: String) throws -> [String] {
        try client.send("@label=s SEARCH \(attributes)")
        return try client.labeled("s").filter { $0.command == "PRIVMSG" }.map(\.last)
    }

    private static let capabilities = ["batch", "server-time", "message-tags", "labeled-response", "soju.im/search"]

    private func client(_ server: ServerProcess, _ nick: String) throws -> LineClient {
        let client = try server.connect()
        try client.register(nick, capabilities: Self.capabilities)
        return client
    }

    @Test("Messages are found by words, at once, when they are indexed, and after kill -9", arguments: [3, 700])
    func search(count: Int) throws {
        let server = try ServerProcess()
        let bo = try server.client("bo")
        try bo.join("#cats")
        let ana = try client(server, "ana")
        try ana.join("#cats")
        for number in 1...count { try bo.send("PRIVMSG #cats :Déjà vu number\(number)") }
        try bo.sync()
        let last = "Déjà vu number\(count)"
        #expect(try found(ana, "text=deja\\snumber\(count);in=#cats") == [last])
        #expect(try found(ana, "from=bo;text=number1;limit=5") == ["Déjà vu number1"])
        #expect(try found(ana, "text=vu;limit=2") == ["Déjà vu number\(count - 1)", last])
        try bo.send("REDACT #cats *")
        try bo.expect("NOTE REDACT")
        #expect(try found(ana, "text=number\(count)").isEmpty)
        server.kill9()
        try server.start()
        let cy = try server.person("cy", in: "#cats")
        try cy.send("SEARCH number\(count - 1)")
        #expect(try cy.sync().contains { $0.text.hasSuffix("Déjà vu number\(count - 1)") && $0.command == "PRIVMSG" })
        try cy.send("SEARCH in=#dogs;text=x")
        try cy.expect("FAIL SEARCH INVALID_PARAMS #dogs ")
    }

    @Test("Who is in no channel of it finds nothing, nor does anybody in others' direct messages")
    func rights() throws {
        let server = try Door.shared.get()
        let (channel, word) = (Door.unique("#private"), Door.unique("word"))
        let bo = try server.client(Door.unique("bo"))
        try bo.join(channel)
        let eve = try client(server, Door.unique("eve"))
        let ana = try client(server, Door.unique("ana"))
        try ana.send("WHOIS nobody-there")
        let nick = try #require(try ana.lines(until: " 318 ").last?.parameters.first)
        try bo.send("PRIVMSG \(channel) :\(word) one", "PRIVMSG \(nick) :\(word) two")
        try bo.sync()
        #expect(try found(eve, "text=\(word)").isEmpty)
        #expect(try found(ana, "text=\(word)") == ["\(word) two"])
    }

    @Test("What is over the server's limits goes while it runs, and the rest stays over a restart")
    func retention() throws {
        let server = try ServerProcess(ServerConfiguration().with("history", "retention-count", "5"))
        let bo = try server.client("bo")
        try bo.join("#cats")
        for number in 1...20 { try bo.send("PRIVMSG #cats :kept\(number)x") }
        try bo.send("RETENTION #cats * 3")
        try bo.expect("NOTE RETENTION KEPT #cats * 3 ")
        let isGone = try Deadline.seconds(30).wait(every: 100) {
            try bo.send("HISTORY #cats 50")
            return try bo.sync().count { $0.text.contains("kept") } == 3
        }
        #expect(isGone)
        server.kill9()
        try server.start()
        #expect(try HistoryReader(server).texts("#cats") == ["kept18x", "kept19x", "kept20x"])
        let cy = try server.client("cy")
        try cy.join("#cats")
        try cy.send("RETENTION #cats")
        try cy.expect("NOTE RETENTION KEPT #cats * 3 ")
    }

    @Test("export --channel prints a channel with its history while the server runs", arguments: ["cats", "'#Cats'"])
    func export(name: String) throws {
        let server = try ServerProcess()
        let bo = try server.client("bo")
        try bo.join("#cats")
        try bo.join("#dogs")
        try bo.send("TOPIC #cats :purr", "PRIVMSG #cats :say \"miau\"", "PRIVMSG #dogs :woof", "MODE #cats +b x!*@*")
        try bo.sync()
        let exported = try parley(server, "export --channel \(name)")
        #expect(exported.status == 0)
        let objects = try exported.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let types = objects.map { $0["type"] as? String }
        #expect(types.first == "channel" && types.contains("member") && types.contains("list"))
        #expect(objects[0]["topic"] as? String == "purr")
        #expect(objects.compactMap { $0["text"] as? String }.contains("say \"miau\""))
        #expect(!exported.output.contains("woof"))
        #expect(
            objects.filter { $0["type"] as? String == "record" }.allSatisfy { ($0["msgid"] as? String)?.count == 12 })
        #expect(try parley(server, "export --channel birds").status == 1)
    }
}
