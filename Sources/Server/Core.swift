package import Bytes
import Chat
import Glibc
package import Net
import Wire

/// The core thread's state: World, and what stands between it and the reactor. Its `turn` takes events in and carries
/// effects out; nothing leaves before what it depends on is stored.
///
/// At most two batches of effects exist. One is sealed: its records are with the journal. The other gathers whatever
/// happens meanwhile and is sealed when the first is committed, so that load makes groups larger, not slower. A batch
/// without records leaves at once when none is with the journal.
struct Core: ~Copyable {
    var world: World
    private var framers: ContiguousArray<Framer> = []
    private var scratch = ByteBuffer()
    private var moment = Moment(wall: 0, steady: 0)
    private var isMomentFresh = false
    private var releaser: Releaser

    /// The batch that the journal has; its outbox waits for the answer.
    private var sealed = Effects()
    private var sealedNumber: Int64 = 0
    private var isSealed = false
    private var lastBatch: Int64 = 0

    /// Connections not read because too much waits already, for the end of the turn or for the journal.
    private var stalled: ContiguousArray<ConnectionID> = []
    private var telnetAnswers: [(id: ConnectionID, bytes: [UInt8])] = []
    /// Connections that send pictures and wait for their turn, the first one first.
    private var senders: ContiguousArray<ConnectionID> = []
    private var isWoken = false
    private var stoppingSince: Int64?
    private(set) var wantsReload = false

    private let ports: CorePorts
    private let log: Log
    private let cloak: Cloak
    private var received: [Answer] = []

    /// Gathered bytes and records above which nothing more is read until they are on their way: pressure reaches TCP.
    /// All of it may be for one reader, so it is a part of what may wait for one: whoever reads is never cut for what
    /// others say at once, be it in one turn.
    private let gatherLimit: Int
    private static let recordLimit = 50_000
    private let roomLimit: Int
    /// Connections that a turn serves of those that send pictures, and of those that are sent them: what is said never
    /// waits for more.
    private static let picturesPerTurn = 4
    private var picturesLeft = 0

    init(world: consuming World, ports: CorePorts, log: Log, cloak: Cloak, sendQueue: Int) {
        self.world = world
        self.ports = ports
        self.log = log
        self.cloak = cloak
        releaser = Releaser(limit: sendQueue)
        gatherLimit = min(16 << 20, sendQueue / 4)
        roomLimit = sendQueue / 16
    }

    /// One turn of the core. False: everything is said and closed, the process may end.
    mutating func turn(_ reactor: inout Reactor) -> Bool {
        isMomentFresh = false
        picturesLeft = Self.picturesPerTurn
        resumeSenders(&reactor)
        reactor.turn(timeoutMilliseconds: timeout(), handler: &self)
        refreshMoment()
        for (id, bytes) in telnetAnswers { bytes.withUnsafeBytes { reactor.send(id, ByteView($0)) } }
        telnetAnswers.removeAll(keepingCapacity: true)
        if isWoken { takeAnswers(&reactor) }
        if let due = world.nextDeadline, due <= moment.steady { world.apply(.tick, at: moment) }
        settle(&reactor)
        return !hasEnded(reactor)
    }

    private func timeout() -> Int {
        if stoppingSince != nil { return 50 }
        guard let due = world.nextDeadline else { return -1 }
        return Int(max(0, due - Clock.steady()))
    }

    private mutating func refreshMoment() {
        if isMomentFresh { return }
        moment = Clock.moment()
        isMomentFresh = true
    }

    private func hasEnded(_ reactor: borrowing Reactor) -> Bool {
        guard let since = stoppingSince else { return false }
        return (!isSealed && reactor.connectionCount == 0) || moment.steady - since > 3_000
    }

    // MARK: Effects

    /// Carries out what World wants, as far as the journal allows.
    private mutating func settle(_ reactor: inout Reactor) {
        for id in world.effects.resumes { reactor.resumeReading(id) }
        world.effects.resumes.removeAll(keepingCapacity: true)
        for (id, address) in world.effects.moves { move(id, to: address, &reactor) }
        world.effects.moves.removeAll(keepingCapacity: true)
        if !world.awaitingRoom.isEmpty { giveRoom(reactor) }
        for note in world.effects.notes { write(note) }
        world.effects.notes.removeAll(keepingCapacity: true)
        if isSealed { return }
        if world.effects.mustCommit {
            seal()
        } else {
            release(&world.effects, by: &releaser, into: &reactor, ports, &wantsReload)
        }
        if !stalled.isEmpty { resumeStalled(&reactor) }
    }

    /// Whoever comes through a gateway counts for their own network.
    private func move(_ id: ConnectionID, to address: ByteString, _ reactor: inout Reactor) {
        guard let peer = PeerAddress(address.string, port: 0), !reactor.move(id, to: peer) else { return }
        log.info("connection.refused", ["address": .bytes(address), "reason": .text("too many of its network")])
        Crowded.text.withUnsafeBytes { reactor.send(id, ByteView($0)) }
        reactor.close(id, flush: true)
    }

    /// A picture goes on when its connection has taken nearly all of what it was sent: what is said meanwhile waits
    /// behind a piece of it at most.
    private mutating func giveRoom(_ reactor: borrowing Reactor) {
        var left = Self.picturesPerTurn
        for id in world.awaitingRoom where reactor.queuedBytes(id) < roomLimit && !releaser.isHolding(id) {
            world.apply(.room(id), at: moment)
            left -= 1
            // What is read for these makes the next turn.
            if left == 0 { return }
        }
    }

    private mutating func seal() {
        swap(&sealed, &world.effects)
        isSealed = true
        lastBatch += 1
        sealedNumber = lastBatch
        ports.journal.post(
            .commit(JournalBatch(number: lastBatch, records: sealed.records, changes: sealed.changes)))
    }

    /// The journal has answered: what waited leaves.
    private mutating func releaseSealed(_ reactor: inout Reactor, isStored: Bool) {
        isSealed = false
        let awaited = sealed.awaited
        release(&sealed, by: &releaser, into: &reactor, ports, &wantsReload)
        for waiting in awaited { world.apply(.stored(number: waiting.number, isStored), at: moment) }
    }

    private mutating func takeAnswers(_ reactor: inout Reactor) {
        isWoken = false
        ports.answers.takeAll(into: &received)
        for answer in received {
            switch answer {
            case .journal(let outcome): journalAnswered(outcome, &reactor)
            case .page(let page): world.apply(.page(page), at: moment)
            case .direct(let direct): world.apply(.direct(direct), at: moment)
            case .sent(let sent): world.apply(.sent(sent), at: moment)
            case .receipts(let receipts): world.apply(.receipts(receipts), at: moment)
            case .identity(let identity): world.apply(.identity(identity), at: moment)
            case .hashed(.verified(let number, let outcome)):
                world.apply(.verified(number: number, outcome), at: moment)
            case .mailed(let number, let isSent):
                world.apply(.mailed(number: number, isSent: isSent), at: moment)
            case .hashed(.derived(let number, let credentials)):
                world.apply(.derived(number: number, credentials), at: moment)
            case .images(let images): world.apply(.images(images), at: moment)
            case .image(let event): world.apply(.image(event), at: moment)
            }
        }
        received.removeAll(keepingCapacity: true)
    }

    private mutating func journalAnswered(_ outcome: JournalOutcome, _ reactor: inout Reactor) {
        switch outcome {
        case .committed(let batch):
            precondition(isSealed && batch == sealedNumber, "the journal answers batches in order")
            releaseSealed(&reactor, isStored: true)
        case .failed(let batch, let reason):
            precondition(isSealed && batch == sealedNumber, "the journal answers batches in order")
            log.error("store.refused", ["reason": .text(reason)])
            var told: [ByteString] = []
            for refusal in sealed.refusals { told.append(world.line(for: refusal)) }
            sealed.outbox.refuse(told)
            world.apply(.refused(sealed.takeBack(), reason: reason), at: moment)
            releaseSealed(&reactor, isStored: false)
        case .recovered:
            world.apply(.storeRecovered, at: moment)
        }
    }

    private func write(_ note: Note) {
        switch note.level {
        case .debug: log.debug("chat", ["note": .bytes(note.text)])
        case .info: log.info("chat", ["note": .bytes(note.text)])
        case .warning: log.warn("chat", ["note": .bytes(note.text)])
        }
    }

    // MARK: Pressure

    private var isOverloaded: Bool {
        world.effects.outbox.bytes.count > gatherLimit || world.effects.records.count > Self.recordLimit
    }

    private mutating func resumeStalled(_ reactor: inout Reactor) {
        for id in stalled { reactor.resumeReading(id) }
        stalled.removeAll(keepingCapacity: true)
    }

    /// Those that send pictures are read in turns, a few in each: what is left of `picturesLeft` is for newcomers.
    private mutating func resumeSenders(_ reactor: inout Reactor) {
        if senders.isEmpty { return }
        let due = senders.prefix(Self.picturesPerTurn)
        for id in due { reactor.resumeReading(id) }
        senders.removeFirst(due.count)
    }

    /// Whether a connection that sends pictures must wait for others that do.
    private mutating func waitsItsTurn(_ id: ConnectionID) -> Bool {
        guard world.sendsImage(id) else { return false }
        picturesLeft -= 1
        if picturesLeft >= 0 { return false }
        senders.append(id)
        return true
    }

    // MARK: From the outside

    mutating func reload(_ settings: Settings) {
        wantsReload = false
        refreshMoment()
        world.apply(.reloaded(settings), at: moment)
    }

    mutating func reloadFailed() { wantsReload = false }

    mutating func stop() {
        if stoppingSince != nil { return }
        refreshMoment()
        stoppingSince = moment.steady
        world.apply(.stopping, at: moment)
    }
}

/// What was said leaves, what was asked is asked, and the batch is empty again. A free function, so that the compiler
/// sees that the parts of the core it is given are different ones.
private func release(
    _ effects: inout Effects, by releaser: inout Releaser, into reactor: inout Reactor, _ ports: CorePorts,
    _ wantsReload: inout Bool
) {
    releaser.release(effects.outbox, into: &reactor)
    for question in effects.pages { ports.reader.post(.page(question)) }
    for question in effects.searches { ports.searcher.post(.search(question)) }
    for question in effects.directs { ports.reader.post(.direct(question)) }
    for question in effects.sents { ports.reader.post(.sent(question)) }
    for question in effects.receipts { ports.reader.post(.receipts(question)) }
    for question in effects.identities { ports.reader.post(.identity(question)) }
    for question in effects.passwords { ports.hash(.verify(question)) }
    for question in effects.derivations { ports.hash(.derive(question)) }
    for mail in effects.mails { ports.mail(mail) }
    for question in effects.imageQuestions { ports.reader.post(.images(question)) }
    for order in effects.images { ports.images.post(.order(order)) }
    if effects.wantsReload { wantsReload = true }
    effects.clear()
}

extension Core: ReactorHandler {
    mutating func accepted(_ id: ConnectionID, _ peer: PeerInfo) {
        refreshMoment()
        while framers.count <= Int(id.index) { framers.append(Framer()) }
        framers[Int(id.index)] = Framer(telnet: !peer.isWebSocket, long: peer.isLocal)
        if stoppingSince != nil { return }
        let host = cloak.host(of: peer)
        world.apply(
            .connected(
                id,
                Peer(
                    address: peer.address, host: host, isTLS: peer.isTLS, isLoopback: peer.isLoopback,
                    isConsole: peer.isLocal, certificate: peer.certificate,
                    network: peer.network)), at: moment)
    }

    /// Frames what came and gives World each line, until it must wait.
    mutating func received(_ id: ConnectionID, _ bytes: ByteView, ended: Bool) -> Received {
        refreshMoment()
        var offset = 0
        if waitsItsTurn(id) { return Received(consumed: 0, pause: true) }
        while true {
            if world.isInputBlocked(id) { return Received(consumed: offset, pause: true) }
            if isOverloaded {
                stalled.append(id)
                return Received(consumed: offset, pause: true)
            }
            let takesData = world.hasPastes && world.isPasting(id)
            if framers[Int(id.index)].takesData != takesData { framers[Int(id.index)].takesData = takesData }
            if takesData {
                let lines = framers[Int(id.index)].dataLines(bytes, at: &offset)
                if !lines.isEmpty {
                    world.apply(.fragment(id, lines), at: moment)
                    continue
                }
            }
            switch framers[Int(id.index)].next(bytes, at: &offset, ended: ended, scratch: &scratch) {
            case .line(let line): world.apply(.line(id, line), at: moment)
            case .fragment(let part): world.apply(.fragment(id, part), at: moment)
            case .tooLong(let beginning): world.apply(.overlong(id, beginning), at: moment)
            case .answer(let answer): telnetAnswers.append((id, answer))
            case .endOfTransmission: world.apply(.endOfTransmission(id), at: moment)
            case .needMore:
                if ended { world.apply(.inputEnded(id), at: moment) }
                return Received(consumed: offset)
            }
        }
    }

    mutating func closed(_ id: ConnectionID, _ reason: CloseReason) {
        refreshMoment()
        releaser.forget(id)
        if reason == .sendQueueExceeded { log.warn("connection.cut", ["reason": "send queue exceeded"]) }
        world.apply(.closed(id, reason: reason.spoken), at: moment)
    }

    mutating func refusedProxy(_ address: ByteString, isTrusted: Bool) {
        let reason = isTrusted ? "no PROXY header" : "not among server.trusted-proxies"
        log.warn("proxy.refused", ["address": .bytes(address), "reason": .text(reason)])
    }

    mutating func woken() { isWoken = true }

    mutating func signalled(_ signal: Int32) {
        if signal == SIGHUP { wantsReload = true } else { stop() }
    }
}

extension CloseReason {
    /// What the channels are told.
    fileprivate var spoken: ByteString {
        switch self {
        case .endOfStream, .closedByUs: "Connection closed"
        case .reset: "Connection reset by peer"
        case .timedOut: "Connection timed out"
        case .sendQueueExceeded: "Send queue exceeded"
        case .tlsFailure, .handshakeTimeout, .wrongProtocol: "TLS failure"
        case .protocolViolation: "WebSocket protocol error"
        case .ioError: "Connection error"
        }
    }
}

/// Output goes to the reactor as it is.
extension Reactor: OutputSink {
    package mutating func close(_ connection: ConnectionID) { close(connection, flush: true, reason: .closedByUs) }
}

enum Clock {
    static func moment() -> Moment { Moment(wall: milliseconds(CLOCK_REALTIME), steady: milliseconds(CLOCK_MONOTONIC)) }

    static func steady() -> Int64 { milliseconds(CLOCK_MONOTONIC) }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
