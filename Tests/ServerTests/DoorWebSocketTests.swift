import TestKit
import Testing

/// Browsers at the door: WebSocket, plain and over TLS, beside everybody else.
@Suite struct DoorWebSocketTests {
    private static let shared = Result {
        var configuration = ServerConfiguration(.plain, .plain, .tls)
        configuration.listeners[1].isWebSocket = true
        configuration.listeners[2].isWebSocket = true
        return try ServerProcess(configuration.with("server", "websocket-origins", "[\"https://chat.example\"]"))
    }

    @Test("A browser and a client of plain TCP talk to each other", arguments: ["text.ircv3.net", "binary.ircv3.net"])
    func talks(subprotocol: String) throws {
        let server = try Self.shared.get()
        let channel = "#\(Door.unique("web"))"
        let watcher = try server.watcher(channel)
        let web = try WebSocketClient(
            port: server.port(1), protocols: subprotocol, headers: ["Origin: https://chat.example"])
        #expect(web.response[0] == "HTTP/1.1 101 Switching Protocols")
        #expect(web.response.contains("Sec-WebSocket-Protocol: \(subprotocol)"))
        let nick = Door.unique("w")
        try web.send("NICK \(nick)", "USER w 0 * :Web", "JOIN \(channel)", "PRIVMSG \(channel) :grüße")
        try watcher.expectMessage("grüße")
        try watcher.send("PRIVMSG \(channel) :hello")
        let frame = try web.expect(" PRIVMSG \(channel) :hello")
        #expect(!frame.text.contains("\r"))
        try web.send(frame: 9, Array("still here".utf8))
        var opcode: UInt8?
        repeat { opcode = try web.frame()?.opcode } while opcode == 1 || opcode == 2
        #expect(opcode == 10)
    }

    @Test("What is not UTF-8 and what is too long is refused as everywhere, and the connection stays")
    func refusesBadLines() throws {
        let server = try Self.shared.get()
        let web = try WebSocketClient(port: server.port(1))
        try web.send("NICK \(Door.unique("w"))", "USER w 0 * :Web")
        try web.expect(" 001 ")
        try web.send(frame: 2, Array("PRIVMSG x :caf".utf8) + [0xE9])
        try web.expect("FAIL PRIVMSG INVALID_UTF8")
        // 0xFF begins no telnet command here.
        try web.send(frame: 2, Array("PRIVMSG x :".utf8) + [0xFF, 0xF4])
        try web.expect("FAIL PRIVMSG INVALID_UTF8")
        try web.send("PRIVMSG x :" + String(repeating: "x", count: 600))
        try web.expect(" 417 ")
        try web.send("PING still-here")
        try web.expect("PONG", "still-here")
    }

    @Test("The end is answered behind everything that was asked")
    func closes() throws {
        let server = try Self.shared.get()
        let web = try WebSocketClient(port: server.port(1))
        try web.send("NICK \(Door.unique("w"))", "USER w 0 * :Web", "PING last")
        try web.send(frame: 8, [0x03, 0xE8])
        try web.expect("PONG", "last")
        var last: (opcode: UInt8, payload: [UInt8])?
        while let frame = try web.frame() { last = frame }
        #expect(last?.opcode == 8 && last?.payload == [0x03, 0xE8])
    }

    @Test("Over TLS too, and pages of other origins are refused")
    func overTLS() throws {
        let server = try Self.shared.get()
        let web = try WebSocketClient(over: server.connectTLS(listener: 2))
        try web.send("NICK \(Door.unique("w"))", "USER w 0 * :Web", "WHOIS nobody")
        try web.expect(" 401 ", "nobody")
        let other = try WebSocketClient(port: server.port(1), headers: ["Origin: https://evil.example"])
        #expect(other.response[0] == "HTTP/1.1 403 Forbidden")
    }
}
