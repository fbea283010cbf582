import Bytes
import Net
import TestKit
import Testing

private let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

private func binary(_ command: UInt8, _ family: UInt8, _ body: [UInt8]) -> [UInt8] {
    signature + [command, family, UInt8(body.count >> 8), UInt8(body.count & 255)] + body
}

private let ipv4 = binary(0x21, 0x11, [198, 51, 100, 7, 192, 0, 2, 1, 0xC3, 0x50, 0x1A, 0x0B])
private let ipv6 = binary(
    0x21, 0x21,
    [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 0, count: 16) + [
        0xC3, 0x50, 0, 1,
    ])
/// With a TLV of one byte behind the addresses.
private let tlvs = binary(0x21, 0x11, [198, 51, 100, 7, 192, 0, 2, 1, 0xC3, 0x50, 0x1A, 0x0B, 4, 0, 1, 0])

private func parsed(_ bytes: [UInt8]) -> ProxyHeader { bytes.withUnsafeBytes { ProxyHeader(ByteView($0)) } }

@Suite struct ProxyHeaderTests {
    private static let headers: [([UInt8], String?)] = [
        (Array("PROXY TCP4 198.51.100.7 192.0.2.1 50000 6667\r\n".utf8), "198.51.100.7"),
        (Array("PROXY TCP6 2001:db8::7 2001:db8::1 50000 6667\r\n".utf8), "2001:db8::7"),
        (Array("PROXY UNKNOWN\r\n".utf8), nil), (Array("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n".utf8), nil),
        (ipv4, "198.51.100.7"), (ipv6, "2001:db8::7"), (tlvs, "198.51.100.7"), (binary(0x20, 0, []), nil),
        (binary(0x20, 0x11, [1, 2, 3]), nil), (binary(0x21, 0x31, [UInt8](repeating: 0, count: 216)), nil),
    ]

    @Test(arguments: headers)
    func aHeaderIsWholeWhateverFollows(header: [UInt8], address: String?) throws {
        for end in header.indices { #expect(parsed(Array(header[..<end])) == .incomplete, "\(end)") }
        guard case .complete(header.count, let source) = parsed(header + Array("NICK ana\r\n".utf8)) else {
            Issue.record("\(parsed(header))")
            return
        }
        #expect(source?.text.string == address)
        if source != nil { #expect(source?.port == 50_000) }
    }

    @Test(arguments: [
        "NICK ana\r\n", "PROXY TCP4 198.51.100.7 192.0.2.1 50000\r\n", "PROXY TCP4 2001:db8::7 2001:db8::1 1 2\r\n",
        "PROXY TCP6 198.51.100.7 192.0.2.1 1 2\r\n", "PROXY TCP4 198.51.100 192.0.2.1 1 2\r\n",
        "PROXY TCP4 198.51.100.7 192.0.2.1 65536 1\r\n", "PROXY UNKNOWN\n", "PROXY\r\n", "PROXZ",
        "PROXY UNKNOWN " + String(repeating: "x", count: 100) + "\r\n", "\r\n\r\nx", "\u{16}",
    ])
    func whatIsNoHeaderIsRefused(text: String) { #expect(parsed(Array(text.utf8)) == .invalid) }

    @Test(arguments: [
        binary(0x31, 0x11, [UInt8](repeating: 0, count: 12)), binary(0x22, 0x11, [UInt8](repeating: 0, count: 12)),
        binary(0x21, 0x12, [UInt8](repeating: 0, count: 12)), binary(0x21, 0x11, [UInt8](repeating: 0, count: 11)),
        binary(0x21, 0x21, [UInt8](repeating: 0, count: 35)), signature + [0x21, 0x11, 0x0F, 0xF1],
    ])
    func aBinaryHeaderIsBounded(header: [UInt8]) { #expect(parsed(header) == .invalid) }
}

@Suite struct AddressRangeTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false), ("192.0.2.128/25", "192.0.2.129", true),
        ("192.0.2.128/25", "192.0.2.127", false), ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false),
        ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ("10.0.0.0/8", "::ffff:10.1.2.3", true),
    ])
    func contains(range: String, address: String, isWithin: Bool) throws {
        let range = try #require(AddressRange(range))
        #expect(range.contains(try #require(PeerAddress(address, port: 0))) == isWithin)
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10/8", "::/129", "::ffff:1.2.3.4/100", "a/1", "1.2.3.4/8/8",
    ])
    func whatIsNoRange(text: String) { #expect(AddressRange(text) == nil) }
}

@Suite struct ProxyTests {
    private func host(trusted: String = "127.0.0.1", timeout: Int = 10_000, perAddress: Int = 0) throws -> Host {
        var limits = NetLimits()
        limits.trustedProxies = [try #require(AddressRange(trusted))]
        limits.handshakeTimeoutMs = timeout
        limits.connectionsPerNetwork = perAddress
        return try Host(limits)
    }

    private func listen(_ host: inout Host, _ mode: ListenerMode = .plain) throws -> UInt16 {
        try host.reactor.listen(ListenerSpec(address: "127.0.0.1", port: 0, mode: mode, isProxied: true))
    }

    @Test(
        arguments: [ListenerMode.plain, .both], [Array("PROXY TCP4 198.51.100.7 192.0.2.1 50000 6667\r\n".utf8), tlvs])
    func theAddressThatIsNamedIsThePeers(mode: ListenerMode, header: [UInt8]) throws {
        var host = try host()
        let certificate = try TestCertificate()
        if mode == .both { host.reactor.setTLS(try certificate.context()) }
        let peer = try Peer(try listen(&host, mode))
        peer.send(header + Array("NICK ana\r\n".utf8))
        let id = try host.accept()
        try host.turn { $0.log.text(id) == "NICK ana\r\n" }
        let info = host.log.accepted[0].peer
        #expect(info.address == "198.51.100.7" && info.port == 50_000 && !info.isLoopback)
        #expect(info.addressBytes == [198, 51, 100, 7])
    }

    @Test func aHeaderMayComeByteByByte() throws {
        var host = try host()
        let peer = try Peer(try listen(&host))
        for byte in ipv6 {
            #expect(host.log.accepted.isEmpty)
            peer.send([byte])
            host.turn(1)
        }
        let id = try host.accept()
        #expect(host.log.accepted[0].peer.address == "2001:db8::7")
        peer.send("hello\n")
        try host.turn { $0.log.text(id) == "hello\n" }
    }

    @Test func aProxyMaySpeakForItself() throws {
        var host = try host()
        let peer = try Peer(try listen(&host))
        peer.send(binary(0x20, 0, []))
        _ = try host.accept()
        #expect(host.log.accepted[0].peer.address == "127.0.0.1")
    }

    @Test func whoIsNotTrustedIsClosedUnheard() throws {
        var host = try host(trusted: "192.0.2.0/24")
        let peer = try Peer(try listen(&host))
        try host.turn { !$0.log.refusedProxies.isEmpty }
        try host.turn { _ in peer.poll().isEnded || peer.error != 0 }
        #expect(host.log.accepted.isEmpty && host.log.closed.isEmpty && host.reactor.connectionCount == 0)
        #expect(host.log.refusedProxies[0].address == "127.0.0.1" && !host.log.refusedProxies[0].isTrusted)
    }

    @Test func whatIsNoHeaderIsClosed() throws {
        var host = try host()
        let peer = try Peer(try listen(&host))
        peer.send("NICK ana\r\n")
        try host.turn { !$0.log.refusedProxies.isEmpty }
        try host.turn { _ in peer.poll().isEnded || peer.error != 0 }
        #expect(host.log.accepted.isEmpty && host.reactor.connectionCount == 0)
        #expect(host.log.refusedProxies[0].isTrusted)
    }

    @Test func aHeaderHasItsTime() throws {
        var host = try host(timeout: 50)
        let peer = try Peer(try listen(&host))
        peer.send("PROXY TCP4 ")
        try host.turn { _ in peer.poll().isEnded || peer.error != 0 }
        #expect(host.log.accepted.isEmpty && host.log.closed.isEmpty && host.reactor.connectionCount == 0)
    }

    @Test func peopleBehindAProxyAreCountedByTheirOwnAddress() throws {
        var host = try host(perAddress: 1)
        let port = try listen(&host)
        let first = try Peer(port)
        first.send("PROXY TCP4 198.51.100.7 192.0.2.1 50000 6667\r\n")
        _ = try host.accept()
        let second = try Peer(port)
        second.send("PROXY TCP4 198.51.100.7 192.0.2.1 50001 6667\r\n")
        try host.turn { _ in second.poll().isEnded || second.error != 0 }
        let third = try Peer(port)
        third.send("PROXY TCP4 198.51.100.8 192.0.2.1 50002 6667\r\n")
        _ = try host.accept(1)
        host.reactor.close(host.log.accepted[0].id, flush: false)
        let fourth = try Peer(port)
        fourth.send("PROXY TCP4 198.51.100.7 192.0.2.1 50003 6667\r\n")
        _ = try host.accept(2)
        #expect(host.log.accepted.map(\.peer.address) == ["198.51.100.7", "198.51.100.8", "198.51.100.7"])
    }
}
