import Foundation
import TestKit
import Testing

/// `parley operator …`: the running server is told what to do through its own socket.
@Suite struct DoorConsoleTests {
    let server: ServerProcess

    init() throws { server = try Door.shared.get() }

    private func command(_ words: String) throws -> Pipeline {
        try Pipeline.run("'\(ServerProcess.binary)' --config '\(server.configurationPath)' operator \(words) 2>&1")
    }

    @Test("An operator's command does what it says, and its answer is printed")
    func killsSomebody() throws {
        let victim = try server.client(Door.unique("victim"))
        let nick = victim.label
        let ran = try command("KILL \(nick) 'go away'")
        #expect(ran.status == 0)
        let last = try victim.readToEnd().last
        #expect(last?.text.contains("go away") == true)
        let bans = try command("KLINE 1m nobody@never.example 'a test'")
        #expect(bans.status == 0 && !bans.output.isEmpty)
        #expect(try command("UNKLINE nobody@never.example").status == 0)
    }

    @Test("A refusal is told on standard error with status 1")
    func refusals() throws {
        let unknown = try command("KILL \(Door.unique("nobody")) x")
        #expect(unknown.status == 1)
        #expect(unknown.output.contains("No such nick"))
        let wrong = try command("FROBNICATE")
        #expect(wrong.status == 1)
        let split = try command("'KLINE x' y")
        #expect(split.status == 1 && split.output.contains("only the last word"))
    }

    @Test("Only the server's own user opens the socket, and who comes by the network is no operator")
    func rights() throws {
        let path = "\(server.directory)/data/admin.sock"
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
        let client = try server.client(Door.unique("user"))
        try client.send("KLINE 1m *!x@y :no")
        try client.expect(" 481 ")
    }

    @Test("Whoever is at the console is not seen among the people")
    func isInvisible() throws {
        let ran = try command("WHO '*'")
        #expect(ran.status == 0)
        let client = try server.client(Door.unique("looker"))
        try client.send("WHO *")
        #expect(try !client.lines(until: " 315 ").contains { $0.text.contains("console-") })
    }

    @Test("Without a server the command says so")
    func nobodyThere() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("a.toml", "[store]\npath = \"\(directory.path)/data/parley.db\"\n")
        let ran = try Pipeline.run("'\(ServerProcess.binary)' --config '\(file)' operator LUSERS 2>&1")
        #expect(ran.status == 1)
        #expect(ran.output.contains("is the server running?"))
    }
}
