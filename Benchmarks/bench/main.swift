import Bytes
import Chat
import Wire

/// Micro-benchmarks of the grammar and the core: what a line costs before any socket, and what a delivery costs by the
/// size of the channel. Compare ratios within one run.
private struct Discard: OutputSink {
    var bytes = 0
    mutating func send(_ connection: ConnectionID, _ bytes: ByteView) { self.bytes += bytes.count }
    mutating func close(_ connection: ConnectionID) {}
}

private func nanoseconds(_ count: Int, _ body: () -> Void) -> Double {
    let clock = ContinuousClock()
    let spent = clock.measure { for _ in 0..<count { body() } }
    let (seconds, attoseconds) = spent.components
    return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(count)
}

private func parsing() {
    let line: ByteString = "@+typing=active PRIVMSG #lobby :hello there, all of you"
    var parameters = 0
    let cost = line.withView { view in
        nanoseconds(1_000_000) { parameters += Message(parsing: view)?.parameterCount ?? 0 }
    }
    precondition(parameters == 2_000_000)
    print("parse a line with a tag and two parameters: \(Int(cost)) ns")
}

private func relay(to members: Int) {
    var settings = Settings()
    settings.flood.enabled = false
    settings.showGuestToken = false
    let ports = Ports(
        mac: { _ in [UInt8](repeating: 0, count: 32) },
        digest: Digest(sha256: { $0 }, hmac: { _, data in data }), skeleton: { ByteString($0) }, peer: { _ in nil },
        isWithin: { _, _ in false },
        seed: 1)
    var world = World(settings: settings, ports: ports, stored: StoredState())
    let moment = Moment(wall: 1_780_000_000_000, steady: 1)
    var releaser = Releaser(limit: 1 << 20)
    var sink = Discard()
    func id(_ i: Int) -> ConnectionID { ConnectionID(index: Int32(i), generation: 1) }
    func say(_ i: Int, _ line: ByteString, _ world: inout World) {
        line.withView { world.apply(.line(id(i), $0), at: moment) }
    }
    for i in 0...members {
        let peer = Peer(address: "192.0.2.1", host: "bench", isTLS: false, isLoopback: true)
        world.apply(.connected(id(i), peer), at: moment)
        say(i, "NICK n\(i)", &world)
        say(i, "USER n 0 * :n", &world)
        say(i, "JOIN #bench", &world)
        world.effects.clear()
    }
    let rounds = max(20, 200_000 / members)
    let cost = nanoseconds(rounds) {
        for _ in 0..<10 { say(0, "PRIVMSG #bench :a line of the usual length, as people type them", &world) }
        releaser.release(world.effects.outbox, into: &sink)
        world.effects.clear()
    }
    precondition(sink.bytes > rounds * members)
    print(
        "relay to \(members): \(Int(cost / 10)) ns a message, \(Int(cost / 10 / Double(members) * 100) ) ns a hundred deliveries"
    )
}

parsing()
for members in [10, 100, 1_000] { relay(to: members) }
