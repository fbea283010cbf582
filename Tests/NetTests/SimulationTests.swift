import Bytes
import Glibc
import Net
import TestKit
import Testing

/// The reactor against a kernel that does the worst it may.
@Suite struct SimulationTests {
    /// Peers send lines in pieces, read slowly, pause, end or reset; the server echoes lines and pauses at random.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func everyByteIsEchoedAndEveryConnectionClosedOnce(_ seed: UInt64) throws {
        let kernel = SimulatedKernel(seed: seed)
        var limits = NetLimits()
        limits.receiveChunk = 64
        limits.readsPerTurn = 100
        limits.acceptsPerTurn = 2
        limits.lingerMs = 60_000
        limits.closeFlushMs = 60_000
        var host = try Host(limits, script: kernel)
        let port = try host.listen()
        var scene = Scene(kernel, port, peers: 8)
        host.log.byLines = true
        host.log.pauses = true
        var steps = 0
        while !scene.isOver || host.reactor.connectionCount > 0 {
            steps += 1
            try #require(steps < 50_000, "it never ends")
            scene.step()
            host.turn(10)
            for line in host.log.takeLines() { host.send(line.id, line.bytes) }
            for (id, _) in host.log.accepted where kernel.dice.roll(2) == 0 { host.reactor.resumeReading(id) }
            for id in host.log.takeEnded() { host.reactor.close(id, flush: true) }
        }
        host.turn(0)
        scene.expectEchoes()
        let accepted = host.log.accepted.map(\.id)
        #expect(Set(accepted).count == 8)
        #expect(Set(host.log.closed.map(\.id)) == Set(accepted))
        #expect(host.log.closed.count == 8)
        #expect(kernel.openDescriptors == 2, "the listener and the reserve")
    }

    @Test func withoutDescriptorsItTurnsAwayAndSleeps() throws {
        let kernel = SimulatedKernel(seed: 1)
        kernel.interruptions = 0
        var host = try Host(script: kernel)
        let port = try host.listen()
        let first = kernel.connect(port)
        let id = try host.accept(0)
        kernel.descriptorLimit = kernel.openDescriptors
        let second = kernel.connect(port)
        host.turn(-1)
        #expect(second.isClosedByServer)
        let third = kernel.connect(port)
        let (calls, before) = (kernel.acceptCalls, kernel.clock)
        host.turn(-1)
        #expect(kernel.acceptCalls == calls, "it rests instead of spinning")
        #expect(kernel.clock - before == Int64(host.reactor.limits.exhaustedPauseMs))
        host.reactor.close(id, flush: false)
        host.turn(-1)
        _ = try host.accept(1)
        #expect(!third.isClosedByServer)
        #expect(first.isClosedByServer)
    }

    @Test func anAddressHasItsShareAndLoopbackAll() throws {
        let kernel = SimulatedKernel(seed: 1)
        var limits = NetLimits()
        limits.connectionsPerNetwork = 2
        var host = try Host(limits, script: kernel)
        let port = try host.listen()
        let crowd = (0..<3).map { _ in kernel.connect(port, from: "192.0.2.7") }
        let sameNetwork = (1...3).map { kernel.connect(port, from: "2001:db8::\($0)") }
        let other = kernel.connect(port, from: "2001:db8:0:1::1")
        let local = (0..<5).map { _ in kernel.connect(port, from: "127.0.0.1") }
        try host.turn { $0.log.accepted.count == 10 }
        #expect(crowd.map(\.isClosedByServer) == [false, false, true])
        #expect(sameNetwork.map(\.isClosedByServer) == [false, false, true])
        #expect(!other.isClosedByServer)
        #expect(local.allSatisfy { !$0.isClosedByServer })
        host.reactor.close(host.log.accepted[0].id, flush: false)
        host.turn()
        _ = kernel.connect(port, from: "192.0.2.7")
        _ = try host.accept(10)
    }

    @Test func aNetworkComesOnlySoFast() throws {
        let kernel = SimulatedKernel(seed: 1)
        var limits = NetLimits()
        limits.connectsPerMinute = 6
        limits.ipv4Prefix = 24
        limits.ipv6Prefix = 48
        limits.exemptions = [try #require(AddressRange("198.51.100.0/24"))]
        var host = try Host(limits, script: kernel)
        host.reactor.crowdedText = Array("later\r\n".utf8)
        let port = try host.listen()
        let crowd = (1...7).map { kernel.connect(port, from: "192.0.2.\($0)") }
        let six = (1...7).map { kernel.connect(port, from: "2001:db8:0:\($0)::1") }
        let others = (1...9).map { kernel.connect(port, from: "198.51.100.\($0)") }
        try host.turn { $0.log.accepted.count == 21 }
        #expect(crowd.map(\.isClosedByServer) == [Bool](repeating: false, count: 6) + [true])
        #expect(six.map(\.isClosedByServer) == [Bool](repeating: false, count: 6) + [true])
        #expect(others.allSatisfy { !$0.isClosedByServer })
        #expect(!crowd[6].read().isEmpty)
        // Ten seconds earn one more; those that were refused cost nothing.
        host.turn(10_500)
        let next = (1...2).map { kernel.connect(port, from: "192.0.2.\($0)") }
        try host.turn { $0.log.accepted.count == 22 }
        #expect(next.map(\.isClosedByServer) == [false, true])
    }

    @Test func addressesAreTold() throws {
        let kernel = SimulatedKernel(seed: 1)
        var host = try Host(script: kernel)
        let port = try host.listen()
        for address in ["2001:db8::1", "::ffff:192.0.2.9", "192.0.2.1", "::1"] {
            _ = kernel.connect(port, from: address)
        }
        try host.turn { $0.log.accepted.count == 4 }
        #expect(host.log.accepted.map(\.peer.address.string) == ["2001:db8::1", "192.0.2.9", "192.0.2.1", "::1"])
        #expect(host.log.accepted.map(\.peer.addressBytes.count) == [16, 4, 4, 16])
        #expect(host.log.accepted.map(\.peer.isLoopback) == [false, false, false, true])
        #expect(host.log.accepted[0].peer.port == 50_000)
    }

    @Test func aFullBufferWaitsForResume() throws {
        let kernel = SimulatedKernel(seed: 3)
        var limits = NetLimits()
        limits.receiveChunk = 64
        var host = try Host(limits, script: kernel)
        host.log.byLines = true
        let peer = kernel.connect(try host.listen())
        let id = try host.accept()
        peer.send([UInt8](repeating: 0x61, count: 1_000))
        try host.turn { $0.log.chunks.last == 128 }
        let calls = host.log.chunks.count
        for _ in 0..<20 { host.turn() }
        #expect(host.log.chunks.count == calls, "no spinning on a handler that takes nothing")
        host.log.byLines = false
        host.reactor.resumeReading(id)
        try host.turn { ($0.log.received[id] ?? []).count == 1_000 }
    }

    @Test func aBrokenPeerAfterItsEndIsReported() throws {
        let kernel = SimulatedKernel(seed: 4)
        var host = try Host(script: kernel)
        let peer = kernel.connect(try host.listen())
        let id = try host.accept()
        peer.endWriting()
        try host.turn { $0.log.ended[id] == 1 }
        peer.reset()
        host.send(id, "anybody?")
        try host.turn { !$0.log.closed.isEmpty }
        #expect(host.log.closed.count == 1)
        #expect(host.log.closed[0].reason == .reset)
    }
}

/// What the peers of one run do, by the kernel's dice.
private struct Scene {
    struct Actor {
        let socket: SimulatedSocket
        let lines: [UInt8]
        let resets: Bool
        var sent = 0
        var heard: [UInt8] = []
        var hasEnded = false
    }

    let kernel: SimulatedKernel
    var actors: [Actor]

    init(_ kernel: SimulatedKernel, _ port: UInt16, peers: Int) {
        self.kernel = kernel
        actors = (0..<peers).map { number in
            let lines = (0..<kernel.dice.roll(40)).map { "\(number):\($0) " + String(repeating: "x", count: $0) + "\n" }
            return Actor(
                socket: kernel.connect(port), lines: Array(lines.joined().utf8), resets: kernel.dice.roll(4) == 0)
        }
    }

    var isOver: Bool { actors.allSatisfy { $0.hasEnded && ($0.socket.isReset || $0.socket.hasSeenEnd) } }

    mutating func step() {
        for index in actors.indices {
            let socket = actors[index].socket
            let rest = actors[index].lines.count - actors[index].sent
            if rest > 0 {
                let count = min(rest, kernel.dice.roll(200))
                socket.send([UInt8](actors[index].lines[actors[index].sent...].prefix(count)))
                actors[index].sent += count
            } else if !actors[index].hasEnded {
                actors[index].hasEnded = true
                if actors[index].resets { socket.reset() } else { socket.endWriting() }
            }
            actors[index].heard += socket.read(kernel.dice.roll(120))
        }
    }

    func expectEchoes() {
        for actor in actors {
            if actor.resets {
                #expect(actor.lines.starts(with: actor.heard))
            } else {
                #expect(!actor.socket.isReset)
                #expect(actor.heard == actor.lines)
            }
        }
    }
}

extension Recorder {
    fileprivate mutating func takeLines() -> [(id: ConnectionID, bytes: [UInt8])] {
        let lines = received.map { (id: $0.key, bytes: $0.value) }
        received.removeAll()
        return lines
    }

    fileprivate mutating func takeEnded() -> [ConnectionID] {
        let ids = ended.keys.map { $0 }
        ended.removeAll()
        return ids
    }
}
