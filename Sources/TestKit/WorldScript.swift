package import Bytes
package import Chat
import Wire

/// Drives `World` without sockets, threads or files: sessions type lines and read lines, a frozen clock moves when
/// told, a store in memory commits at once (or refuses, when told to) and answers questions.
package final class WorldScript {
    package var world: World
    package var moment = Moment(wall: 1_780_000_000_000, steady: 1_000)
    package private(set) var log: [LogRecord] = []
    package private(set) var members: [MemberState] = []
    package private(set) var identities: [UID: IdentityState] = [:]
    package private(set) var changes: [Change] = []
    package private(set) var notes: [Note] = []
    package var isStoreFull = false
    /// Effects gather and nothing leaves, as while the journal is busy.
    package var holdsBatches = false
    /// The hasher in its simplest form: a password's hash is `hash:` and itself.
    package var isHasherBusy = false
    /// Passwords are not verified until it is false again and something happens.
    package var isHasherSlow = false
    package private(set) var reloads = 0
    private var unverified: [PasswordQuestion] = []
    /// The history reader fails with this reason.
    package var historyFailure: String?
    /// The history reader takes its time: it answers with the first event after this became false.
    package var holdsPages = false
    private var heldPages: [HistoryQuestion] = []
    private var sink = Ledger()
    private var releaser = Releaser(limit: 1 << 20)
    private var nextSlot: Int32 = 0
    private var batch: Int64 = 0

    package init(_ change: (inout Settings) -> Void = { _ in }, stored: StoredState = StoredState()) {
        var settings = Settings()
        settings.serverName = "parley.test"
        settings.flood.enabled = false
        settings.showGuestToken = false
        change(&settings)
        // Stands in for HMAC: depends on every byte, which is all that World needs of it.
        let ports = Chat.Ports(
            mac: { data in
                var generator = SeededGenerator(
                    seed: data.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 })
                return (0..<32).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            },
            // A Cyrillic letter and a digit that look like others.
            skeleton: { name in
                let text = name.description.lowercased()
                return ByteString(text.replacing("\u{435}", with: "e").replacing("1", with: "l"))
            },
            // Anything with a dot is an address, and a network is one that begins so.
            peer: { text in
                guard text.bytes.contains(0x2E) else { return nil }
                return Peer(address: text, host: "\(text).cloak", isTLS: false, isLoopback: text == "127.0.0.1")
            },
            isWithin: { address, networks in
                networks.contains { address.bytes.starts(with: $0.bytes) }
            }, seed: 7)
        world = World(settings: settings, ports: ports, stored: stored)
    }

    package func connect(address: ByteString = "192.0.2.1", host: ByteString = "host.test", isTLS: Bool = false)
        -> ScriptClient
    {
        let id = ConnectionID(index: nextSlot, generation: 1)
        nextSlot += 1
        apply(.connected(id, Peer(address: address, host: host, isTLS: isTLS, isLoopback: false)))
        return ScriptClient(script: self, id: id)
    }

    /// A registered IRC client with these capabilities; its burst is read already.
    package func client(_ nick: String, capabilities: String = "") -> ScriptClient {
        let client = connect()
        if !capabilities.isEmpty { client.send("CAP REQ :\(capabilities)") }
        client.send("NICK \(nick)")
        client.send("USER \(nick) 0 * :\(nick)")
        if !capabilities.isEmpty { client.send("CAP END") }
        _ = client.read()
        return client
    }

    package func apply(_ event: Event) {
        world.apply(event, at: moment)
        settle()
    }

    /// Lets time pass, waking World at each of its deadlines.
    package func advance(_ milliseconds: Int64) {
        let end = moment.steady + milliseconds
        while let due = world.nextDeadline, due <= end {
            let step = max(0, due - moment.steady)
            moment.steady += step
            moment.wall += step
            apply(.tick)
        }
        moment.wall += end - moment.steady
        moment.steady = end
        apply(.tick)
    }

    /// Carries out effects until there are none, as the server does.
    private func settle() {
        if holdsBatches { return }
        while true {
            let refused = isStoreFull && world.effects.mustCommit
            let records = world.effects.records
            let changes = world.effects.changes
            let refusals = world.effects.refusals
            heldPages += world.effects.pages
            let pages = holdsPages ? [] : heldPages
            if !holdsPages { heldPages = [] }
            let asked = world.effects.identities
            unverified += world.effects.passwords
            reloads += world.effects.wantsReload ? 1 : 0
            notes += world.effects.notes
            sink.resumed += world.effects.resumes
            if refused {
                var told: [ByteString] = []
                for refusal in refusals { told.append(world.line(for: refusal)) }
                world.effects.outbox.refuse(told)
            } else {
                store(records, changes)
            }
            releaser.release(world.effects.outbox, into: &sink)
            world.effects.clear()
            if refused { world.apply(.refused(changes, reason: "full"), at: moment) }
            for question in pages { world.apply(.page(answer(question)), at: moment) }
            for question in asked {
                let held = members.filter { $0.uid == question.uid }
                world.apply(
                    .identity(
                        IdentityAnswer(number: question.number, state: identities[question.uid], members: held)),
                    at: moment)
            }
            verify()
            if world.effects.outbox.isEmpty, !world.effects.mustCommit, world.effects.pages.isEmpty,
                world.effects.identities.isEmpty
            {
                return
            }
        }
    }

    private func verify() {
        if isHasherSlow { return }
        let questions = unverified
        unverified = []
        for question in questions {
            let isRight = question.hash == "hash:\(question.password)"
            let outcome: PasswordOutcome = isHasherBusy ? .busy : isRight ? .right : .wrong
            world.apply(.verified(number: question.number, outcome), at: moment)
        }
    }

    private func store(_ records: [LogRecord], _ changes: [Change]) {
        log += records
        self.changes += changes
        for change in changes {
            switch change {
            case .saveMember(let member):
                members.removeAll { $0.channel == member.channel && $0.uid == member.uid }
                members.append(member)
            case .removeMember(let channel, let uid): members.removeAll { $0.channel == channel && $0.uid == uid }
            case .saveIdentity(let identity): identities[identity.uid] = identity
            default: break
            }
        }
    }

    /// The history reader in its simplest form: the whole log, filtered. (The store has its own tests.)
    private func answer(_ question: HistoryQuestion) -> HistoryPage {
        if let historyFailure {
            return HistoryPage(number: question.number, records: [], reachesStart: false, failure: historyFailure)
        }
        let all = log.filter {
            $0.conversation == question.conversation && (question.events || $0.kind.isMessage)
                && $0.position >= question.oldest && $0.position <= question.newest
        }
        func position(_ reference: PageReference, after: Bool) -> Int64 {
            switch reference {
            case .position(let position): return position
            case .time(let time):
                return after
                    ? all.last { $0.time <= time }?.position ?? 0 : all.first { $0.time >= time }?.position ?? .max
            }
        }
        let records: [LogRecord]
        switch question.selector {
        case .latest(let after):
            let bound = after.map { position($0, after: true) } ?? 0
            records = Array(all.filter { $0.position > bound }.suffix(question.limit))
        case .before(let reference):
            let bound = position(reference, after: false)
            records = Array(all.filter { $0.position < bound }.suffix(question.limit))
        case .after(let reference):
            let bound = position(reference, after: true)
            records = Array(all.filter { $0.position > bound }.prefix(question.limit))
        case .around(let reference):
            let bound = position(reference, after: false)
            let before = all.filter { $0.position < bound }.suffix(question.limit / 2)
            records = Array(before) + all.filter { $0.position >= bound }.prefix(question.limit - before.count)
        case .between(let a, let b):
            let isForward = position(a, after: true) <= position(b, after: false)
            let lower = isForward ? position(a, after: true) : position(b, after: true)
            let upper = isForward ? position(b, after: false) : position(a, after: false)
            let within = all.filter { $0.position > lower && $0.position < upper }
            records = isForward ? Array(within.prefix(question.limit)) : Array(within.suffix(question.limit))
        }
        let isStart = records.first.map { first in !all.contains { $0.position < first.position } } ?? true
        return HistoryPage(number: question.number, records: records, reachesStart: isStart)
    }

    fileprivate func takeBytes(_ id: ConnectionID) -> [UInt8] { sink.output.removeValue(forKey: id) ?? [] }

    fileprivate func take(_ id: ConnectionID) -> [String] {
        String(decoding: takeBytes(id), as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false).map(
            String.init
        )
        .dropLast()
    }

    fileprivate func isClosed(_ id: ConnectionID) -> Bool { sink.closed.contains(id) }

    private struct Ledger: OutputSink {
        var output: [ConnectionID: [UInt8]] = [:]
        var closed: Set<ConnectionID> = []
        var resumed: [ConnectionID] = []

        mutating func send(_ connection: ConnectionID, _ bytes: ByteView) {
            output[connection, default: []].append(contentsOf: bytes.raw)
        }

        mutating func close(_ connection: ConnectionID) { closed.insert(connection) }
    }
}

/// One connection of a script.
package struct ScriptClient {
    let script: WorldScript
    package let id: ConnectionID

    package func send(_ line: String) {
        ByteString(line).withView { view in script.apply(.line(id, view)) }
    }

    package func sendBytes(_ bytes: [UInt8]) {
        ByteString(bytes).withView { view in script.apply(.line(id, view)) }
    }

    /// The lines since the last read, without line ends.
    package func read() -> [String] { script.take(id) }

    /// The same as they came.
    package func readBytes() -> [UInt8] { script.takeBytes(id) }

    /// Sends a line and reads what came.
    package func ask(_ line: String) -> [String] {
        _ = read()
        send(line)
        return read()
    }

    package var isClosed: Bool { script.isClosed(id) }

    package func drop() { script.apply(.closed(id, reason: "Connection reset")) }
}
