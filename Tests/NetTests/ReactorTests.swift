import Bytes
import Glibc
import Net
import Testing

@Suite struct ReactorTests {
    @Test func echoes() throws {
        var host = try Host()
        host.log.isEchoing = true
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        peer.send("hello\n")
        try host.turn { _ in peer.poll().text == "hello\n" }
        #expect(host.log.text(id) == "hello\n")
        #expect(host.reactor.connectionCount == 1)
        #expect(host.log.accepted[0].peer.address == "127.0.0.1")
        #expect(host.log.accepted[0].peer.addressBytes == [127, 0, 0, 1])
        #expect(host.log.accepted[0].peer.isLoopback)
        #expect(!host.log.accepted[0].peer.isTLS)
    }

    @Test func halfCloseIsToldOnceAndStillAnswered() throws {
        var host = try Host()
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        peer.send("JOIN #a\nQU")
        peer.endWriting()
        host.log.byLines = true
        try host.turn { $0.log.ended[id] != nil }
        #expect(host.log.text(id) == "JOIN #a\nQU")
        for _ in 0..<5 { host.turn() }
        #expect(host.log.ended[id] == 1)
        #expect(host.log.closed.isEmpty)
        host.send(id, "bye\n")
        host.reactor.close(id, flush: true)
        try host.turn { !$0.log.closed.isEmpty }
        #expect(host.log.closed[0].reason == .closedByUs)
        #expect(peer.poll().text == "bye\n")
        #expect(peer.isEnded)
        #expect(host.reactor.connectionCount == 0)
    }

    @Test func linesArriveByteByByte() throws {
        var host = try Host()
        host.log.byLines = true
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        let line = "PRIVMSG #a :one\nPRIVMSG #a :two\n"
        for byte in line.utf8 {
            peer.send([byte])
            let before = host.log.chunks.count
            try host.turn { $0.log.chunks.count > before }
        }
        #expect(host.log.text(id) == line)
        #expect(host.log.chunks.max() == 16)
    }

    @Test func keptBytesComeAgainOnResume() throws {
        var host = try Host()
        host.log.byLines = true
        host.log.pauses = true
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        peer.send("a\nb\nc\n")
        try host.turn { $0.log.text(id) == "a\n" }
        for _ in 0..<5 { host.turn() }
        #expect(host.log.text(id) == "a\n")
        host.reactor.resumeReading(id)
        host.turn()
        #expect(host.log.text(id) == "a\nb\n")
        peer.send("d\n")
        peer.endWriting()
        host.reactor.resumeReading(id)
        host.turn()
        #expect(host.log.text(id) == "a\nb\nc\n")
        host.reactor.resumeReading(id)
        try host.turn { $0.log.text(id) == "a\nb\nc\nd\n" }
        #expect(host.log.ended[id] == nil)
        host.reactor.resumeReading(id)
        try host.turn { $0.log.ended[id] == 1 }
    }

    @Test func pauseFromOutsideStopsReading() throws {
        var host = try Host()
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        host.reactor.pauseReading(id)
        peer.send("x")
        for _ in 0..<5 { host.turn(1) }
        #expect(host.log.text(id) == "")
        host.reactor.resumeReading(id)
        try host.turn { $0.log.text(id) == "x" }
    }

    @Test func slowReaderIsCutAndOthersGoOn() throws {
        var limits = NetLimits()
        limits.sendQueueBytes = 100_000
        var host = try Host(limits)
        let port = try host.listen()
        let slow = try Peer(port, receiveBuffer: 4096)
        let quick = try Peer(port)
        let slowID = try host.accept(0)
        let quickID = try host.accept(1)
        let line = [UInt8](repeating: 0x61, count: 1000)
        var sent = 0
        try host.turn {
            $0.log.closed.isEmpty == false
        } during: { host in
            host.send(slowID, line)
            host.send(quickID, line)
            sent += 1000
            quick.poll()
            #expect(host.reactor.queuedBytes(slowID) <= 100_000)
        }
        #expect(host.log.closed.map(\.id) == [slowID])
        #expect(host.log.closed[0].reason == .sendQueueExceeded)
        try host.turn { _ in quick.poll().bytes.count == sent }
        #expect(slow.poll().bytes.count < sent)
    }

    @Test func everythingLeavesBeforeAFlushingCloseThoughThePeerSentUnreadData() throws {
        var host = try Host()
        host.log.refusesAll = true
        let peer = try Peer(try host.listen(), receiveBuffer: 4096)
        let id = try host.accept()
        peer.send("QUIT\n")
        try host.turn { !$0.log.chunks.isEmpty }
        // These lie unread in the kernel when it closes.
        peer.send([UInt8](repeating: 0x78, count: 20_000))
        let last = [UInt8](repeating: 0x62, count: 500_000)
        host.send(id, last)
        host.reactor.close(id, flush: true)
        host.send(id, "too late")
        try host.turn { _ in peer.poll().isEnded }
        #expect(peer.error == 0)
        #expect(peer.bytes == last)
    }

    @Test func aPeerThatGoesOnTalkingGetsTheEndAndNoReset() throws {
        var host = try Host()
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        host.send(id, "ERROR :bye\n")
        host.reactor.close(id, flush: true)
        for _ in 0..<20 {
            peer.send("PRIVMSG #a :still here\n")
            host.turn()
        }
        #expect(host.log.closed.isEmpty)
        try host.turn { _ in peer.poll().isEnded || peer.error != 0 }
        #expect(peer.text == "ERROR :bye\n")
        #expect(peer.error == 0)
        peer.endWriting()
        try host.turn { !$0.log.closed.isEmpty }
        #expect(host.log.received[id] == nil)
    }

    @Test func lingeringIsBounded() throws {
        var limits = NetLimits()
        limits.lingerMs = 50
        var host = try Host(limits)
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        host.reactor.close(id, flush: true)
        try host.turn { !$0.log.closed.isEmpty }
        #expect(peer.poll().isEnded)
    }

    @Test func flushingIsBounded() throws {
        var limits = NetLimits()
        limits.closeFlushMs = 50
        var host = try Host(limits)
        let peer = try Peer(try host.listen(), receiveBuffer: 4096)
        let id = try host.accept()
        host.send(id, [UInt8](repeating: 0, count: 1_000_000))
        host.reactor.close(id, flush: true, reason: .sendQueueExceeded)
        try host.turn { !$0.log.closed.isEmpty }
        #expect(host.log.closed[0].reason == .sendQueueExceeded)
        #expect(peer.error == 0)
    }

    @Test func resetIsReportedAfterWhatCameBefore() throws {
        var host = try Host()
        let port = try host.listen()
        var peer: Peer? = try Peer(port)
        let id = try host.accept()
        peer!.send("QUIT :bye\n")
        try host.turn { $0.log.text(id) == "QUIT :bye\n" }
        peer!.resetOnClose()
        peer = nil
        try host.turn { !$0.log.closed.isEmpty }
        #expect(host.log.closed[0].reason == .reset)
        for _ in 0..<3 { host.turn() }
        #expect(host.log.closed.count == 1)
    }

    @Test func aPeerThatVanishesWhilePausedIsHeardOut() throws {
        var host = try Host()
        host.log.byLines = true
        host.log.pauses = true
        var peer: Peer? = try Peer(try host.listen())
        let id = try host.accept()
        peer!.send("a\nb\n")
        try host.turn { $0.log.text(id) == "a\n" }
        peer!.resetOnClose()
        peer = nil
        for _ in 0..<5 { host.turn(1) }
        #expect(host.log.closed.isEmpty)
        host.log.pauses = false
        host.reactor.resumeReading(id)
        try host.turn { !$0.log.closed.isEmpty }
        #expect(host.log.text(id) == "a\nb\n")
        #expect(host.log.closed[0].reason == .reset)
    }

    @Test func aReusedSlotIgnoresItsFormerId() throws {
        var host = try Host()
        let port = try host.listen()
        let first = try Peer(port)
        let old = try host.accept(0)
        host.reactor.close(old, flush: false)
        try host.turn { $0.log.closed.count == 1 }
        let second = try Peer(port)
        let new = try host.accept(1)
        #expect(new.index == old.index)
        #expect(new != old)
        host.send(old, "to the dead")
        host.reactor.pauseReading(old)
        host.reactor.close(old, flush: false)
        second.send("alive")
        try host.turn { $0.log.text(new) == "alive" }
        #expect(host.log.closed.count == 1)
        #expect(second.poll().bytes.isEmpty)
        #expect(first.poll().isEnded)
    }

    @Test func closedTwiceIsReportedOnce() throws {
        var host = try Host()
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        host.reactor.close(id, flush: true)
        host.reactor.close(id, flush: false)
        host.reactor.close(id, flush: true)
        for _ in 0..<5 { host.turn(1) }
        #expect(host.log.closed.count == 1)
        #expect(peer.poll().isEnded)
    }

    @Test func urgentDataStaysInTheStream() throws {
        var host = try Host()
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        // Telnet's Synch: IAC, then DM as urgent data, then text in another segment.
        peer.send([0xFF])
        _ = [UInt8]([0xF2]).withUnsafeBytes { Glibc.send(peer.descriptor, $0.baseAddress!, 1, Int32(MSG_OOB)) }
        peer.send("after\n")
        try host.turn { ($0.log.received[id] ?? []).count >= 8 }
        #expect(host.log.received[id] == [0xFF, 0xF2] + Array("after\n".utf8))
    }

    @Test func connectionsBeyondTheMaximumAreTurnedAway() throws {
        var limits = NetLimits()
        limits.maximumConnections = 1
        limits.exhaustedPauseMs = 10
        var host = try Host(limits)
        let port = try host.listen()
        let first = try Peer(port)
        let id = try host.accept(0)
        let second = try Peer(port)
        try host.turn { _ in
            second.poll()
            return second.isEnded || second.error != 0
        }
        host.reactor.close(id, flush: false)
        let third = try Peer(port)
        _ = try host.accept(1)
        #expect(first.poll().isEnded)
        #expect(!third.poll().isEnded)
    }

    @Test func tlsOnAPlainListenerIsRefusedInWords() throws {
        var host = try Host()
        host.reactor.wrongProtocolText.tlsOnPlain = Array("no TLS here\r\n".utf8)
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        peer.send([0x16, 0x03, 0x01, 0x02, 0x00] + [UInt8](repeating: 1, count: 500))
        try host.turn { _ in peer.poll().isEnded }
        #expect(peer.text == "no TLS here\r\n")
        #expect(host.log.received[id] == nil)
        peer.endWriting()
        try host.turn { !$0.log.closed.isEmpty }
        #expect(host.log.closed[0].reason == .wrongProtocol)
    }

    @Test func sixteenLaterInAPlainStreamMeansNothing() throws {
        var host = try Host()
        let peer = try Peer(try host.listen())
        let id = try host.accept()
        peer.send("a")
        try host.turn { $0.log.text(id) == "a" }
        peer.send([0x16])
        try host.turn { $0.log.received[id] == [0x61, 0x16] }
    }

    @Test func listensOnIPv6AndRefusesNames() throws {
        var host = try Host()
        #expect(try host.listen(address: "::1") != 0)
        #expect(throws: NetError.self) { try host.listen(address: "localhost") }
        #expect(throws: NetError.self) { try host.listen(.tls) }
        let taken = try host.listen()
        let again = ListenerSpec(address: "127.0.0.1", port: taken, mode: .plain)
        do {
            _ = try host.reactor.listen(again)
            Issue.record("listened twice")
        } catch {
            #expect(error.description == "cannot listen on 127.0.0.1 port \(taken): Address already in use")
        }
    }

    @Test func signalsAreHandedOver() throws {
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var host = try Host()
        host.reactor.watchSignals([SIGUSR1, SIGHUP])
        pthread_kill(pthread_self(), SIGUSR1)
        try host.turn { $0.log.signals == [SIGUSR1] }
    }
}

extension Host {
    /// Turns until `condition`, doing something before every turn.
    mutating func turn(
        until condition: (borrowing Host) throws -> Bool, during step: (inout Host) throws -> Void
    ) throws {
        let deadline = milliseconds() + 10_000
        while try !condition(self) {
            try #require(milliseconds() < deadline)
            try step(&self)
            turn(0)
        }
    }
}
