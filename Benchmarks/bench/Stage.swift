import Bytes
import Chat
import Wire

/// A World whose output goes nowhere and whose store has committed everything at once.
final class Stage {
    private struct Discard: OutputSink {
        var bytes = 0
        mutating func send(_ connection: ConnectionID, _ bytes: ByteView) { self.bytes += bytes.count }
        mutating func close(_ connection: ConnectionID) {}
    }

    var world: World
    private var moment = Moment(wall: 1_780_000_000_000, steady: 1)
    private var releaser = Releaser(limit: 1 << 20)
    private var sink = Discard()

    var sent: Int { sink.bytes }

    init() {
        var settings = Settings()
        settings.flood.enabled = false
        settings.showGuestToken = false
        settings.images.guestSize = 1 << 40
        settings.images.guestDaily = 1 << 40
        settings.images.total = 1 << 50
        let ports = Ports(
            mac: { _ in [UInt8](repeating: 7, count: 32) },
            digest: Digest(sha256: { $0 }, hmac: { _, data in data }), skeleton: { ByteString($0) },
            peer: { _ in nil }, isWithin: { _, _ in false }, seed: 1)
        world = World(settings: settings, ports: ports, stored: StoredState())
    }

    static func id(_ number: Int) -> ConnectionID { ConnectionID(index: Int32(number), generation: 1) }

    func apply(_ event: Event) { world.apply(event, at: moment) }

    func say(_ number: Int, _ line: ByteView) { apply(.line(Self.id(number), line)) }

    /// What was said leaves.
    func release() {
        releaser.release(world.effects.outbox, into: &sink)
        world.effects.clear()
    }

    func enter(_ number: Int, _ lines: ByteString...) {
        let peer = Peer(address: "192.0.2.1", host: "bench", isTLS: false, isLoopback: true)
        apply(.connected(Self.id(number), peer))
        for line in ["NICK n\(number)", "USER n 0 * :n"] + lines { line.withView { say(number, $0) } }
        // What comes behind the replay waits for it.
        let questions = world.effects.pages
        release()
        for question in questions {
            apply(.page(HistoryPage(number: question.number, records: [], isComplete: true)))
        }
        release()
    }

    /// So many and one more, who talks, in one channel.
    static func channel(of members: Int) -> Stage {
        let stage = Stage()
        // One client asks for names itself; with ten thousand of them the lists would be all there is.
        for number in 0...members { stage.enter(number, "CAP REQ no-implicit-names", "CAP END", "JOIN #bench") }
        return stage
    }
}
