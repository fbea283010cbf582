import Bytes
import Chat
import TestKit
import Testing

@testable import Store

/// The whole way of a page, from the command to the lines, over the real store: whatever way a client pages, it gets
/// every message exactly once and in order, while others go on talking, editing and deleting, the store merges and the
/// server starts again.
@Suite struct PagingPropertyTests {
    @Test(arguments: 1...3) func everyMessageExactlyOnce(seed: UInt64) throws {
        let scratch = Scratch()
        var play = PagingPlay(seed: seed)
        for _ in 0..<2 {
            let disk = try DiskStore(scratch.database)
            let script = WorldScript({ $0.page = 40 }, stored: disk.state, store: disk)
            script.moment.wall += play.elapsed
            play.begin(script, disk)
            for _ in 0..<4 {
                play.talk(turns: 40)
                for way in PagingWay.allCases {
                    for target in play.targets {
                        var (found, expected) = play.read(target, way)
                        // What is deleted on the way may have been read before.
                        found.removeAll(where: play.isDeleted)
                        expected.removeAll(where: play.isDeleted)
                        #expect(found == expected && !expected.isEmpty, "seed \(seed), \(way) of \(target)")
                        if found != expected { return }
                    }
                }
            }
            play.elapsed = script.moment.wall - 1_780_000_000_000 + 1_000
            play.end()
        }
    }
}

/// The real store behind a script. What is committed may be merged at any moment.
private final class DiskStore: ScriptStore {
    let state: StoredState
    private var journal: Journal
    private var reader: Reader
    private var number: Int64 = 0
    var dice = Dice(seed: 1)

    init(_ path: String) throws {
        let store = try Store.open(path: path, durability: .off)
        state = store.state
        reader = store.readers.make()
        journal = store.takeJournal()
        journal.pace.mergeFrom = 30
    }

    func commit(_ records: [LogRecord], _ changes: [Change]) {
        number += 1
        let outcome = journal.commit(JournalBatch(number: number, records: records, changes: changes))
        #expect(outcome == .committed(batch: number))
        journal.pace.step = Int(dice.roll(1...20))
        if dice.chance(20) { _ = journal.maintain(budgetMilliseconds: 0) }
    }

    func page(_ question: HistoryQuestion) -> HistoryPage { reader.page(question) }
    func search(_ question: SearchQuestion) -> HistoryPage { reader.search(question) }
    func direct(_ question: DirectQuestion) -> DirectAnswer { reader.direct(question) }
    func sent(_ question: SentQuestion) -> SentAnswer { reader.sent(question) }
    func receipts(_ question: ReceiptsQuestion) -> ReceiptsAnswer { reader.receipts(question) }
    func identity(_ question: IdentityQuestion) -> IdentityAnswer { reader.identity(question) }
}

/// How a client goes through a conversation.
private enum PagingWay: CaseIterable {
    /// LATEST *, then BEFORE the oldest.
    case back
    /// AFTER the beginning of time, then AFTER the newest.
    case forth
    /// BETWEEN the newest known and the beginning, backwards.
    case between
}

private struct PagingPlay {
    var dice: Dice
    var elapsed: Int64 = 0
    let targets = ["#one", "#two", "bo"]
    /// What the messages that `ana` may read are called, by conversation.
    var said: [String: [String]] = [:]
    private var deleted: Set<String> = []
    private var authors: [String: String] = [:]
    private var count = 0
    private var script: WorldScript!
    private var disk: DiskStore!
    private var ana: ScriptClient!
    private var bo: ScriptClient!

    init(seed: UInt64) { dice = Dice(seed: seed) }

    /// ana is the same identity after a restart; bo is the one she talks with.
    mutating func begin(_ script: WorldScript, _ disk: DiskStore) {
        (self.script, self.disk) = (script, disk)
        disk.dice = dice
        ana = connect("ana", 0)
        bo = connect("bo", 1)
        for client in [ana, bo] { _ = client!.ask("JOIN #one,#two") }
    }

    /// Lets go of the store, which is opened again.
    mutating func end() { (script, disk, ana, bo) = (nil, nil, nil, nil) }

    private var tokens = ["", ""]

    private mutating func connect(_ nick: String, _ index: Int) -> ScriptClient {
        let client = script.connect()
        client.send(
            "CAP REQ :batch server-time message-tags draft/chathistory\(index == 0 ? " draft/event-playback" : "")")
        if !tokens[index].isEmpty { client.send("PASS guest:\(tokens[index])") }
        client.send("NICK \(nick)")
        client.send("USER \(nick) 0 * :\(nick)")
        client.send("CAP END")
        _ = client.read()
        tokens[index] = client.ask("IDENTITY TOKEN")[0].split(separator: " ")[4].description
        return client
    }

    mutating func talk(turns: Int) {
        for _ in 0..<turns {
            if dice.chance(30) { script.moment.wall += dice.roll(0...3) }
            if dice.chance(2) { script.moment.wall -= 5_000 }
            let client: ScriptClient = dice.chance(50) ? ana : bo
            let channel = dice.chance(50) ? "#one" : "#two"
            switch dice.roll(0...9) {
            case 0: client.send("TOPIC \(channel) :topic")
            case 1: client.send("@+draft/react=x TAGMSG \(channel)")
            case 2...4: sayDirectly()
            case 5: change(client, nick: client.id == ana.id ? "ana" : "bo", channel)
            default: say(client, channel, in: channel)
            }
        }
        _ = (ana.read(), bo.read())
    }

    private mutating func sayDirectly() {
        if dice.chance(50) { say(ana, "bo", in: "bo") } else { say(bo, "ana", in: "bo") }
    }

    func isDeleted(_ name: String) -> Bool { deleted.contains(name) }

    /// The newest of one's own there: another text, which begins with the same name, or none.
    private mutating func change(_ client: ScriptClient, nick: String, _ channel: String) {
        let name = said[channel]?.last { authors[$0] == nick && !deleted.contains($0) }
        guard let name else { return }
        if dice.chance(50) {
            client.send("EDIT \(channel) * :\(name)e\(count)")
        } else {
            client.send("REDACT \(channel) *")
            deleted.insert(name)
        }
    }

    private mutating func say(_ client: ScriptClient, _ target: String, in conversation: String) {
        count += 1
        authors["m\(count)"] = client.id == ana.id ? "ana" : "bo"
        client.send("\(dice.chance(20) ? "NOTICE" : "PRIVMSG") \(target) :m\(count)")
        said[conversation, default: []].append("m\(count)")
    }

    /// What paging finds, and what was there when it began (and, going forth, when it ended).
    mutating func read(_ target: String, _ way: PagingWay) -> (found: [String], expected: [String]) {
        let isTimed = dice.chance(50)
        let beginning = isTimed ? "timestamp=2000-01-01T00:00:00.000Z" : "msgid=000000000000"
        let atBegin = said[target] ?? []
        var found: [String] = []
        var reference = way == .forth ? beginning : ""
        while true {
            let limit = dice.roll(1...15)
            let question =
                switch way {
                case .forth: "AFTER \(target) \(reference)"
                case _ where reference.isEmpty: "LATEST \(target) *"
                case .back: "BEFORE \(target) \(reference)"
                case .between: "BETWEEN \(target) \(reference) \(beginning)"
                }
            let lines = ana.ask("CHATHISTORY \(question) \(limit)")
            let page = lines.filter { $0.hasPrefix("@batch=") }
            let texts = page.compactMap { $0.firstMatch(of: /.* :(m\d+)(?:e\d+)?$/).map { String($0.1) } }
            found = way == .forth ? found + texts : texts + found
            let isEnd = lines.first?.contains("draft/chathistory-end") == true
            guard isEnd || page.count == limit else { return (["page of \(page.count), limit \(limit)"], []) }
            if isEnd { break }
            reference = Self.reference(way == .forth ? page.last! : page.first!, isTimed: isTimed)
            if dice.chance(30) { talk(turns: 3) }
        }
        return (found, way == .forth ? said[target] ?? [] : atBegin)
    }

    private static func reference(_ line: String, isTimed: Bool) -> String {
        let tags = line.prefix { $0 != " " }.dropFirst().split(separator: ";")
        let wanted = isTimed ? "time=" : "msgid="
        let value = tags.first { $0.hasPrefix(wanted) }?.dropFirst(wanted.count) ?? ""
        return isTimed ? "timestamp=\(value)" : "msgid=\(value)"
    }
}
