import Bytes
import Net
import Testing

/// WebSocket listeners: the handler sees lines.
@Suite struct WebSocketTests {
    private func server(_ limits: NetLimits = NetLimits()) throws -> Host {
        var host = try Host(limits)
        _ = try host.listen(isWebSocket: true)
        return host
    }

    private func text(_ payload: String) -> [UInt8] { [0x81, UInt8(payload.utf8.count)] + Array(payload.utf8) }

    /// What came behind the response to the handshake.
    private func frames(_ peer: Peer) -> [UInt8] {
        let bytes = peer.poll().bytes
        let end: [UInt8] = [13, 10, 13, 10]
        guard let at = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return [] }
        return Array(bytes[(at + 4)...])
    }

    @Test func linesComeAndGo() throws {
        var host = try server()
        let peer = try Peer(host.port)
        peer.send(Array(upgradeRequest().utf8) + frame("NICK ana"))
        let id = try host.accept()
        #expect(host.log.accepted[0].peer.isWebSocket)
        try host.turn { $0.log.text(id) == "NICK ana\n" }
        host.send(id, "one\r\ntwo\r\n")
        peer.send(frame("x", opcode: 9))
        try host.turn { _ in frames(peer).count >= 13 }
        #expect(frames(peer) == text("one") + text("two") + [0x8A, 1, 0x78])
    }

    @Test func piecesMakeALine() throws {
        var host = try server()
        let peer = try Peer(host.port)
        for byte in Array(upgradeRequest("binary.ircv3.net").utf8) + frame("JOIN #cats") {
            peer.send([byte])
            host.turn()
        }
        let id = try host.accept()
        try host.turn { $0.log.text(id) == "JOIN #cats\n" }
        host.send(id, "x\r\n")
        try host.turn { _ in frames(peer) == [0x82, 1, 0x78] }
    }

    @Test func theEndIsAnsweredBehindEverything() throws {
        var host = try server()
        let peer = try Peer(host.port)
        peer.send(Array(upgradeRequest().utf8) + frame("QUIT") + frame([0x03, 0xE8], opcode: 8))
        let id = try host.accept()
        try host.turn { $0.log.ended[id] == 1 }
        #expect(host.log.text(id) == "QUIT\n")
        host.send(id, "bye\r\n")
        host.reactor.close(id, flush: true)
        try host.turn { $0.log.closed.count == 1 && peer.poll().isEnded }
        #expect(frames(peer) == text("bye") + [0x88, 2, 0x03, 0xE8])
    }

    @Test func aViolationEndsItWithItsStatus() throws {
        var host = try server()
        let peer = try Peer(host.port)
        peer.send(Array(upgradeRequest().utf8) + frame("one") + [0x81, 0x03, 0x74, 0x77, 0x6F])
        let id = try host.accept()
        try host.turn { _ in peer.poll().isEnded }
        #expect(frames(peer) == [0x88, 2, 0x03, 0xEA])
        peer.endWriting()
        try host.turn { $0.log.closed.count == 1 }
        #expect(host.log.text(id) == "one\n")
        #expect(host.log.closed[0].reason == .protocolViolation)
    }

    @Test func whoDoesNotSpeakItIsTold() throws {
        var host = try server()
        let peer = try Peer(host.port)
        peer.send("NICK ana\r\n")
        try host.turn { _ in peer.poll().isEnded }
        #expect(peer.text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(host.log.accepted.isEmpty)
    }

    @Test func whoSaysNothingIsClosed() throws {
        var limits = NetLimits()
        limits.handshakeTimeoutMs = 50
        var host = try server(limits)
        let peer = try Peer(host.port)
        peer.send("GET / HTTP/1.1\r\n")
        try host.turn { _ in peer.poll().isEnded }
        #expect(host.log.accepted.isEmpty && host.reactor.connectionCount == 0)
    }

    @Test func aProxyThatIsTrustedSaysForWhom() throws {
        var limits = NetLimits()
        limits.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
        limits.connectionsPerNetwork = 1
        var host = try server(limits)
        let request = upgradeRequest(more: "X-Forwarded-For: 10.1.1.1, 198.51.100.7\r\n")
        let peer = try Peer(host.port)
        peer.send(request)
        _ = try host.accept()
        #expect(host.log.accepted[0].peer.address == "198.51.100.7")
        // That address has as many as it may.
        let second = try Peer(host.port)
        second.send(request)
        try host.turn { _ in second.poll().isEnded || second.error != 0 }
        #expect(host.log.accepted.count == 1)
        withExtendedLifetime(peer) {}
    }

    @Test func anyoneElseSaysItInVain() throws {
        var host = try server()
        let peer = try Peer(host.port)
        peer.send(upgradeRequest(more: "X-Forwarded-For: 198.51.100.7\r\n"))
        _ = try host.accept()
        #expect(host.log.accepted[0].peer.address == "127.0.0.1")
        withExtendedLifetime(peer) {}
    }

    @Test func smallBuffersLoseNothing() throws {
        var limits = NetLimits()
        limits.receiveChunk = 64
        var host = try server(limits)
        host.log.byLines = true
        let peer = try Peer(host.port)
        let line = String(repeating: "x", count: 100)
        peer.send(Array(upgradeRequest().utf8) + (0..<20).flatMap { _ in frame(line) })
        let id = try host.accept()
        try host.turn { $0.log.received[id]?.count == 20 * 101 }
        #expect(host.log.text(id) == String(repeating: line + "\n", count: 20))
    }
}
