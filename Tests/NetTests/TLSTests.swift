import Bytes
import COpenSSL
import Glibc
import Net
import Testing

@Suite struct TLSTests {
    let certificate: TestCertificate

    init() throws { certificate = try TestCertificate() }

    private func host(_ mode: ListenerMode = .tls, _ limits: NetLimits = NetLimits()) throws -> Host {
        var host = try Host(limits)
        host.reactor.setTLS(try certificate.context())
        host.reactor.wrongProtocolText = (
            Array("this port wants TLS\r\n".utf8), Array("HTTP/1.1 400\r\n".utf8), Array("no TLS here\r\n".utf8)
        )
        _ = try host.listen(mode)
        return host
    }

    @Test(arguments: [(TLS1_2_VERSION, "TLSv1.2"), (TLS1_3_VERSION, "TLSv1.3")])
    func echoes(_ version: Int32, _ name: String) throws {
        var host = try host()
        host.log.isEchoing = true
        let peer = try TLSPeer(host.port, version: version)
        try host.turn { _ in peer.poll().isConnected }
        let id = try host.accept()
        #expect(host.log.accepted[0].peer.isTLS)
        #expect(peer.version == name)
        peer.send("hello\n")
        try host.turn { _ in peer.poll().text == "hello\n" }
        #expect(host.log.text(id) == "hello\n")
    }

    @Test(arguments: [(["irc"], "irc"), (["h2", "irc"], "irc"), (["h2"], ""), ([], "")])
    func alpnTakesIRCAndIgnoresOthers(_ offers: [String], _ chosen: String) throws {
        var host = try host()
        let peer = try TLSPeer(host.port, alpn: offers)
        try host.turn { _ in peer.poll().isConnected }
        #expect(peer.selectedALPN == chosen)
    }

    /// Self-signed is as good as any: it is known by its fingerprint. A session that is resumed shows it still.
    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func aClientCertificateIsAskedForAndNotNeeded(_ version: Int32) throws {
        var host = try host()
        host.log.isEchoing = true
        let own = try TestCertificate()
        let peer = try TLSPeer(host.port, version: version, certificate: own)
        try host.turn { _ in peer.poll().isConnected }
        peer.send("x\n")
        try host.turn { _ in peer.poll().text == "x\n" }
        let fingerprint = try certificateFingerprint(own.certificateFile)
        #expect(host.log.accepted[0].peer.certificate.string == fingerprint)
        let bare = try TLSPeer(host.port, version: version)
        try host.turn { bare.poll().isConnected && $0.log.accepted.count == 2 }
        #expect(host.log.accepted[1].peer.certificate.isEmpty)

        let session = try #require(peer.session)
        defer { SSL_SESSION_free(session) }
        let again = try TLSPeer(host.port, version: version, certificate: own, resuming: session)
        try host.turn { again.poll().isConnected && $0.log.accepted.count == 3 }
        #expect(again.isResumed)
        #expect(host.log.accepted[2].peer.certificate.string == fingerprint)
    }

    @Test func everythingLeavesBeforeCloseNotify() throws {
        var host = try host()
        let peer = try TLSPeer(host.port, receiveBuffer: 4096)
        try host.turn { _ in peer.poll().isConnected }
        let id = try host.accept()
        // Unread when it closes.
        peer.send([UInt8](repeating: 0x78, count: 10_000))
        let last = [UInt8](repeating: 0x62, count: 700_000)
        host.send(id, last)
        #expect(host.reactor.queuedBytes(id) > 0)
        host.reactor.close(id, flush: true)
        try host.turn { _ in peer.poll().isEnded || peer.hasFailed }
        #expect(peer.bytes == last)
        #expect(!peer.hasFailed)
    }

    @Test func queuedRecordsSurviveAppending() throws {
        var host = try host()
        let peer = try TLSPeer(host.port, receiveBuffer: 4096)
        try host.turn { _ in peer.poll().isConnected }
        let id = try host.accept()
        var expected: [UInt8] = []
        for round in 0..<200 {
            let line = [UInt8](repeating: UInt8(round), count: 1 + round * 20)
            expected += line
            host.send(id, line)
            if round % 3 == 0 {
                host.turn(0)
                peer.poll()
            }
        }
        try host.turn { _ in peer.poll().bytes.count == expected.count }
        #expect(peer.bytes == expected)
        #expect(host.reactor.queuedBytes(id) == 0)
    }

    @Test func aFloodIsReadInPieces() throws {
        var limits = NetLimits()
        limits.readsPerTurn = 1000
        limits.receiveChunk = 1000
        var host = try host(.tls, limits)
        let peer = try TLSPeer(host.port)
        try host.turn { _ in peer.poll().isConnected }
        let id = try host.accept()
        let flood = [UInt8](repeating: 0x61, count: 100_000)
        var sent = 0
        try host.turn {
            ($0.log.received[id] ?? []).count == flood.count
        } during: { _ in
            if sent < flood.count { sent += max(0, peer.send([UInt8](flood[sent...]))) }
        }
        #expect(host.log.chunks.max() == 1000)
    }

    @Test func closeNotifyIsTheEndOfTheStream() throws {
        var host = try host()
        let peer = try TLSPeer(host.port)
        try host.turn { _ in peer.poll().isConnected }
        let id = try host.accept()
        peer.send("last")
        peer.endWriting()
        try host.turn { $0.log.ended[id] == 1 }
        #expect(host.log.text(id) == "last")
        host.send(id, "answer")
        host.reactor.close(id, flush: true)
        try host.turn { _ in peer.poll().isEnded }
        #expect(peer.text == "answer")
        try host.turn { !$0.log.closed.isEmpty }
        #expect(host.log.closed[0].reason == .closedByUs)
    }

    /// `ncat --ssl` ends its half of the connection without a close_notify, and goes on reading.
    @Test func anEndWithoutCloseNotifyIsTheEndOfTheStream() throws {
        var host = try host()
        let peer = try TLSPeer(host.port)
        try host.turn { _ in peer.poll().isConnected }
        let id = try host.accept()
        peer.send("last")
        peer.endWritingRudely()
        try host.turn { $0.log.ended[id] == 1 }
        #expect(host.log.text(id) == "last")
        host.send(id, "answer")
        host.reactor.close(id, flush: true)
        try host.turn { _ in peer.poll().isEnded }
        #expect(peer.text == "answer")
    }

    @Test func aReloadedCertificateServesNewSessionsAndKeepsTheOld() throws {
        var host = try host()
        host.log.isEchoing = true
        let old = try TLSPeer(host.port)
        try host.turn { _ in old.poll().isConnected }
        #expect(old.fingerprint == (try certificateFingerprint(certificate.certificateFile)))
        try certificate.renew()
        host.reactor.setTLS(try certificate.context())
        let new = try TLSPeer(host.port)
        try host.turn { _ in new.poll().isConnected }
        #expect(new.fingerprint == (try certificateFingerprint(certificate.certificateFile)))
        #expect(new.fingerprint != old.fingerprint)
        old.send("old")
        new.send("new")
        try host.turn { _ in old.poll().text == "old" && new.poll().text == "new" }
        #expect(host.log.closed.isEmpty)
    }

    @Test(arguments: [[], [0x16], [0x16, 0x03, 0x01, 0x02]] as [[UInt8]])
    func aStalledHandshakeTimesOut(_ start: [UInt8]) throws {
        var limits = NetLimits()
        limits.handshakeTimeoutMs = 50
        var host = try host(.tls, limits)
        let peer = try Peer(host.port)
        peer.send(start)
        try host.turn { _ in peer.poll().isEnded || peer.error != 0 }
        #expect(host.log.accepted.isEmpty)
        #expect(host.log.closed.isEmpty)
        #expect(host.reactor.connectionCount == 0)
    }

    @Test func garbageAfterTheFirstByteIsNeverAccepted() throws {
        var host = try host()
        let peer = try Peer(host.port)
        peer.send([0x16, 0x03, 0x01, 0x00, 0x20] + [UInt8](repeating: 0x41, count: 300))
        try host.turn { _ in peer.poll().isEnded }
        // An alert (RFC 8446, 6), not a reset.
        #expect(peer.bytes.first == 0x15)
        #expect(peer.error == 0)
        peer.endWriting()
        try host.turn { $0.reactor.connectionCount == 0 }
        #expect(host.log.accepted.isEmpty)
        #expect(host.log.closed.isEmpty)
    }

    @Test func plainTextOnATLSListenerIsRefusedInWords() throws {
        var host = try host()
        let peer = try Peer(host.port)
        peer.send("NICK ana\r\nUSER ana 0 * :ana\r\n")
        try host.turn { _ in peer.poll().isEnded }
        #expect(peer.text == "this port wants TLS\r\n")
        peer.endWriting()
        try host.turn { $0.reactor.connectionCount == 0 }
        #expect(host.log.accepted.isEmpty)
        #expect(host.log.closed.isEmpty)
    }

    @Test func onePortServesBoth() throws {
        var host = try host(.both)
        host.log.isEchoing = true
        let plain = try Peer(host.port)
        plain.send("plain")
        let secret = try TLSPeer(host.port)
        try host.turn { _ in plain.poll().text == "plain" && secret.poll().isConnected }
        secret.send("secret")
        try host.turn { _ in secret.poll().text == "secret" }
        #expect(host.log.accepted.map(\.peer.isTLS) == [false, true])
    }

    @Test func whoIsSilentOnABothPortIsGreetedAsPlain() throws {
        var limits = NetLimits()
        limits.silenceMs = 20
        var host = try host(.both, limits)
        let peer = try Peer(host.port)
        let id = try host.accept()
        #expect(!host.log.accepted[0].peer.isTLS)
        host.send(id, "hello")
        try host.turn { _ in peer.poll().text == "hello" }
    }

    @Test func manyHandshakesAreSpreadOverTurns() throws {
        var limits = NetLimits()
        limits.handshakesPerTurn = 1
        var host = try host(.tls, limits)
        let peers = try (0..<10).map { _ in try TLSPeer(host.port) }
        for peer in peers { peer.poll() }
        var most = 0
        var before = 0
        try host.turn {
            $0.log.accepted.count == 10
        } during: { host in
            most = max(most, host.log.accepted.count - before)
            before = host.log.accepted.count
            for peer in peers { peer.poll() }
        }
        #expect(most <= 1)
    }

    @Test func renegotiationIsRefused() throws {
        var host = try host()
        let peer = try TLSPeer(host.port, version: TLS1_2_VERSION)
        try host.turn { _ in peer.poll().isConnected }
        #expect(!peer.renegotiate())
        for _ in 0..<5 {
            host.turn(1)
            peer.poll()
        }
        #expect(host.reactor.connectionCount <= 1)
    }

    @Test func unusableFilesAreNamed() throws {
        func message(_ certificateFile: String, _ keyFile: String) -> String {
            do {
                _ = try TLSContext(certificateFile: certificateFile, keyFile: keyFile)
                return ""
            } catch { return error.description }
        }
        let missing = message("/nonexistent/cert.pem", certificate.keyFile)
        #expect(missing == "cannot read the TLS certificate /nonexistent/cert.pem: No such file or directory")
        let empty = certificate.file("empty.pem", "nothing")
        #expect(message(empty, certificate.keyFile).hasPrefix("cannot use the TLS certificate \(empty): "))
        #expect(message(certificate.certificateFile, empty).hasPrefix("cannot use the TLS key \(empty): "))
        let other = try TestCertificate()
        #expect(message(certificate.certificateFile, other.keyFile).contains("does not belong to"))
    }

    @Test func theKeyIsItsOwnersAlone() throws {
        var status = stat()
        #expect(stat(certificate.keyFile, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(stat(certificate.certificateFile, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o644)
    }
}

@Suite struct CertificateTests {
    @Test func namesTheHostAndItsAddresses() throws {
        let files = try TestCertificate()
        let bio = BIO_new_file(files.certificateFile, "r")
        defer { BIO_free(bio) }
        let certificate = PEM_read_bio_X509(bio, nil, nil, nil)
        defer { X509_free(certificate) }
        #expect(X509_check_host(certificate, "localhost", 0, 0, nil) == 1)
        #expect(X509_check_host(certificate, "chat.example", 0, 0, nil) == 1)
        #expect(X509_check_host(certificate, "bank.example", 0, 0, nil) == 0)
        #expect(X509_check_ip_asc(certificate, "127.0.0.1", 0) == 1)
        #expect(X509_check_ip_asc(certificate, "::1", 0) == 1)
        #expect(X509_verify(certificate, X509_get0_pubkey(certificate)) == 1)
        #expect(X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0)
        #expect(X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0)
    }

    @Test func hmacOfTheKnownVector() {
        // RFC 4231, test case 2.
        let mac = Crypto.hmacSHA256(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(
            Hex.encode(mac).string == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(Crypto.hmacSHA256(key: [], []).count == 32)
    }

    @Test func digestOfTheKnownVector() {
        // FIPS 180-4, "abc".
        #expect(
            Hex.encode(Crypto.sha256(Array("abc".utf8))).string
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func randomBytesDiffer() {
        #expect(Crypto.randomBytes(0).isEmpty)
        #expect(Crypto.randomBytes(300).count == 300)
        #expect(Crypto.randomBytes(16) != Crypto.randomBytes(16))
    }
}
