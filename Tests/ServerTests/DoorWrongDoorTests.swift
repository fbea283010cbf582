import TestKit
import Testing

/// docs/PROTOCOL.md, Lines: who knocks at the wrong port gets one readable line, and nothing of it is executed.
@Suite struct DoorWrongDoorTests {
    let server: ServerProcess
    let channel = Door.unique("#wrong")
    let watcher: LineClient

    init() throws {
        server = try Door.shared.get()
        watcher = try server.watcher(channel)
    }

    @Test("A TLS hello on a plain port starts TLS there when it is configured: one port serves both")
    func onePortForBoth() throws {
        let secure = try server.connectTLS(listener: Door.both)
        try secure.register(Door.unique("tls"))
        try secure.join(channel)
        let plain = try server.connect(listener: Door.both)
        try plain.register(Door.unique("plain"))
        try plain.join(channel)
        try plain.say(channel, "in the clear")
        try secure.expectMessage("in the clear")
        try secure.say(channel, "in secret")
        try plain.expectMessage("in secret")
    }

    @Test("A person on the port for both is greeted before anything is typed")
    func greetingOnBoth() throws {
        let person = try server.connect(listener: Door.both)
        try person.expect("NOTICE", "NICK yourname", within: 2)
    }

    @Test("A TLS hello on a port that has no TLS is closed, and the server lives")
    func helloWithoutTLS() throws {
        let openssl = try Pipeline.run(
            "openssl s_client -connect 127.0.0.1:\(server.port(Door.plain)) </dev/null 2>&1; true", within: 10)
        #expect(!openssl.output.contains("BEGIN CERTIFICATE"))
        try watcher.sync()
    }

    @Test("Plain text on the TLS port gets one readable line and is closed")
    func plainOnTLS() throws {
        let client = try server.connect(listener: Door.tls)
        try client.send("NICK \(Door.unique("x"))", "JOIN \(channel)", "PRIVMSG \(channel) :leaked")
        let lines = try client.readToEnd()
        #expect(lines.count == 1)
        #expect(lines.first?.text.contains("TLS") == true)
        #expect(try watcher.messages() == [])
    }

    @Test(
        "An HTTP request on either gets an HTTP/1.1 400 with one sentence and is closed, nothing of it executed",
        arguments: [Door.plain, Door.tls, Door.both], ["GET / HTTP/1.1", "POST /x HTTP/1.0", "OPTIONS * HTTP/1.1"])
    func http(listener: Int, request: String) throws {
        let client = try server.connect(listener: listener)
        let body = "NICK \(Door.unique("x"))\r\nJOIN \(channel)\r\nPRIVMSG \(channel) :smuggled\r\n"
        try client.send(raw: "\(request)\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
        let lines = try client.readToEnd()
        #expect(lines.first?.text.hasPrefix("HTTP/1.1 400") == true)
        #expect(try watcher.messages() == [])
    }

    @Test("HTTP inside TLS likewise")
    func https() throws {
        let client = try server.connectTLS()
        try client.send(raw: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\nJOIN \(channel)\r\n")
        let lines = try client.readToEnd()
        #expect(lines.first?.text.hasPrefix("HTTP/1.1 400") == true)
        #expect(try watcher.sync().allSatisfy { $0.command != "JOIN" })
    }

    @Test("A browser's request cut at any byte is still refused", arguments: [1, 2, 3, 4, 5, 9, 14])
    func cutRequest(at cut: Int) throws {
        let client = try server.connect()
        let request = Array("GET / HTTP/1.1\r\n\r\nJOIN \(channel)\r\n".utf8)
        try client.send(request[..<cut])
        try client.send(request[cut...])
        #expect(try client.readToEnd().contains { $0.text.hasPrefix("HTTP/1.1 400") })
        #expect(try watcher.sync().allSatisfy { $0.command != "JOIN" })
    }

    @Test("Noise that is no protocol at all does no harm")
    func noise() throws {
        for listener in [Door.plain, Door.tls, Door.both] {
            for seed in 0..<5 {
                let client = try server.connect(listener: listener)
                try? client.send((0..<3000).map { UInt8(truncatingIfNeeded: ($0 + seed) &* 0x9E37_79B1 >> 7) })
                client.reset()
            }
        }
        #expect(server.isRunning)
        try watcher.sync()
    }
}
