package import Bytes
package import Chat
import Net
import Wire

/// Drives `World` without sockets, threads or files: sessions type lines and read lines, a frozen clock moves when
/// told, a store in memory commits at once (or refuses, when told to) and answers questions.
package final class WorldScript {
    package var world: World
    package var moment = Moment(wall: 1_780_000_000_000, steady: 1_000)
    package let memory = MemoryStore()
    /// Answers instead of `memory`.
    private let store: (any ScriptStore)?
    package private(set) var mails: [Mail] = []
    /// Mails are not taken.
    package var isMailFailing = false
    package private(set) var notes: [Note] = []
    package private(set) var moves: [(connection: ConnectionID, address: ByteString)] = []
    package var isStoreFull = false
    /// Effects gather and nothing leaves, as while the journal is busy.
    package var holdsBatches = false
    /// The hasher in its simplest form: a password's hash is `hash:` and itself.
    package var isHasherBusy = false
    /// Passwords are not verified until it is false again and something happens.
    package var isHasherSlow = false
    package private(set) var reloads = 0
    private var unverified: [PasswordQuestion] = []
    private var underived: [DerivationQuestion] = []
    /// The history reader fails with this reason.
    package var historyFailure: String?
    /// The history reader takes its time: it answers with the first event after this became false.
    package var holdsPages = false
    private var heldPages: [HistoryQuestion] = []
    private var heldDirects: [DirectQuestion] = []
    private var heldSents: [SentQuestion] = []
    /// The history reader answers at once, and its answers arrive after those of later questions.
    package var holdsAnswers = false
    private var heldAnswers: [HistoryPage] = []
    package let images = MemoryImages()
    /// The thread of the images takes its time: it goes on with the first event after this became false.
    package var holdsImages = false
    private var heldOrders: [ImageOrder] = []
    /// Connections that do not read.
    package var deaf: Set<ConnectionID> = []
    package var awaitingRoom: [ConnectionID] { Array(world.awaitingRoom) }
    private var sink = Ledger()
    private var releaser = Releaser(limit: 1 << 20)
    private var nextSlot: Int32 = 0
    private var batch: Int64 = 0

    package var log: [LogRecord] { memory.log }
    package var members: [MemberState] { memory.members }
    package var identities: [UID: IdentityState] { memory.identities }
    package var metadata: [MetadataOwner: Metadata] { memory.metadata }
    package var changes: [Change] { memory.changes }

    package init(
        _ change: (inout Settings) -> Void = { _ in }, stored: StoredState = StoredState(),
        store: (any ScriptStore)? = nil
    ) {
        self.store = store
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
            digest: Digest(sha256: { Crypto.sha256($0) }, hmac: { Crypto.hmacSHA256(key: $0, $1) }),
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

    package func connect(
        address: ByteString = "192.0.2.1", host: ByteString = "host.test", isTLS: Bool = false,
        certificate: ByteString = "", network: UInt64 = 0
    ) -> ScriptClient {
        let id = ConnectionID(index: nextSlot, generation: 1)
        nextSlot += 1
        let peer = Peer(
            address: address, host: host, isTLS: isTLS, isLoopback: false, certificate: certificate, network: network)
        apply(.connected(id, peer))
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
            let awaited = world.effects.awaited
            heldPages += world.effects.pages
            let pages = holdsPages ? [] : heldPages
            if !holdsPages { heldPages = [] }
            let searches = world.effects.searches
            heldDirects += world.effects.directs
            heldSents += world.effects.sents
            let sents = holdsPages ? [] : heldSents
            if !holdsPages { heldSents = [] }
            let receipts = world.effects.receipts
            let directs = holdsPages ? [] : heldDirects
            if !holdsPages { heldDirects = [] }
            let imageQuestions = world.effects.imageQuestions
            let asked = world.effects.identities
            unverified += world.effects.passwords
            underived += world.effects.derivations
            reloads += world.effects.wantsReload ? 1 : 0
            notes += world.effects.notes
            moves += world.effects.moves
            sink.resumed += world.effects.resumes
            let retried = refused ? refuse() : []
            if !refused { commit() }
            heldOrders += world.effects.images
            let posted = world.effects.mails
            releaser.release(world.effects.outbox, into: &sink)
            world.effects.clear()
            if refused { world.apply(.refused(retried, reason: "full"), at: moment) }
            for waiting in awaited { world.apply(.stored(number: waiting.number, !refused), at: moment) }
            tell(pages.map(page))
            tell(searches.map(search))
            for question in directs { world.apply(.direct(direct(question)), at: moment) }
            for question in sents { world.apply(.sent(sent(question)), at: moment) }
            for question in receipts {
                world.apply(.receipts((store ?? memory).receipts(question)), at: moment)
            }
            for question in asked {
                world.apply(.identity((store ?? memory).identity(question)), at: moment)
            }
            verify()
            for mail in posted {
                if !isMailFailing { mails.append(mail) }
                world.apply(.mailed(number: mail.number, isSent: !isMailFailing), at: moment)
            }
            serveImages(imageQuestions)
            if world.effects.outbox.isEmpty, !world.effects.mustCommit, world.effects.pages.isEmpty,
                world.effects.searches.isEmpty, world.effects.directs.isEmpty, world.effects.sents.isEmpty,
                world.effects.receipts.isEmpty,
                world.effects.identities.isEmpty, world.effects.images.isEmpty,
                world.effects.imageQuestions.isEmpty, world.effects.mails.isEmpty,
                isHasherSlow || world.effects.passwords.isEmpty && world.effects.derivations.isEmpty
            {
                return
            }
        }
    }

    private func commit() {
        let (records, changes) = (world.effects.records, world.effects.changes)
        memory.commit(records, changes)
        store?.commit(records, changes)
        images.commit(records, changes)
    }

    /// Returns what is tried again.
    private func refuse() -> [Change] {
        var told: [ByteString] = []
        let refusals = world.effects.refusals
        for refusal in refusals { told.append(world.line(for: refusal)) }
        world.effects.outbox.refuse(told)
        return world.effects.takeBack()
    }

    private func serveImages(_ questions: [ImageQuestion]) {
        for question in questions { world.apply(.images(images.answer(question, memory.log)), at: moment) }
        let orders = holdsImages ? [] : heldOrders
        if !holdsImages { heldOrders = [] }
        for order in orders {
            if let event = images.carryOut(order) { world.apply(.image(event), at: moment) }
        }
        for id in world.awaitingRoom where !deaf.contains(id) { world.apply(.room(id), at: moment) }
    }

    private func tell(_ pages: [HistoryPage]) {
        if holdsAnswers {
            heldAnswers += pages
        } else {
            for page in pages + heldAnswers { world.apply(.page(page), at: moment) }
            heldAnswers = []
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
        let wanted = underived
        underived = []
        for question in wanted {
            let credentials = isHasherBusy ? nil : Self.credentials(question.password)
            world.apply(.derived(number: question.number, credentials), at: moment)
        }
    }

    /// Real SCRAM keys, of a salted password that costs nothing.
    private static func credentials(_ password: ByteString) -> Credentials {
        let salt = Array("salt".utf8)
        let digest = Digest(sha256: { Crypto.sha256($0) }, hmac: { Crypto.hmacSHA256(key: $0, $1) })
        let keys = ScramKeys(saltedPassword: saltedPassword(password), salt: salt, digest)
        return Credentials(hash: "hash:\(password)", scram: keys.text)
    }

    /// What stands in for PBKDF2.
    package static func saltedPassword(_ password: ByteString) -> [UInt8] { Crypto.sha256(password.bytes) }

    private func page(_ question: HistoryQuestion) -> HistoryPage {
        guard let historyFailure else { return (store ?? memory).page(question) }
        return HistoryPage(number: question.number, records: [], isComplete: false, failure: historyFailure)
    }

    private func search(_ question: SearchQuestion) -> HistoryPage {
        guard let historyFailure else { return (store ?? memory).search(question) }
        return HistoryPage(number: question.number, records: [], isComplete: false, failure: historyFailure)
    }

    private func sent(_ question: SentQuestion) -> SentAnswer {
        guard let historyFailure else { return (store ?? memory).sent(question) }
        return SentAnswer(number: question.number, sent: [], failure: historyFailure)
    }

    private func direct(_ question: DirectQuestion) -> DirectAnswer {
        guard let historyFailure else { return (store ?? memory).direct(question) }
        return DirectAnswer(number: question.number, records: [], isComplete: false, failure: historyFailure)
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

    /// It is not read on at the moment.
    package var isBlocked: Bool { script.world.isInputBlocked(id) }

    package var isClosed: Bool { script.isClosed(id) }

    package func drop() { script.apply(.closed(id, reason: "Connection reset")) }
}
