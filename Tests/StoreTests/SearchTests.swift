import Bytes
import CSQLite
import Chat
import Testing

@testable import Store

/// The search index: what is found, wherever it lies, and that nothing of a deleted text stays in it.
@Suite struct SearchTests {
    let scratch = Scratch()

    static let cats = Conversation.channel(1)
    static let dogs = Conversation.channel(2)
    static let pair = Conversation.direct(UID(number: 7), UID(number: 9))

    private func open() throws -> Opened {
        var store = try Opened(scratch)
        store.journal.pace.indexFrom = 1
        return store
    }

    private func find(_ reader: inout Reader, _ text: ByteString, _ change: (inout SearchQuestion) -> Void = { _ in })
        -> [Int64]
    {
        var question = SearchQuestion(
            number: 1, places: [Self.cats: 0, Self.dogs: 0], direct: UID(number: 7), text: text, limit: 100)
        change(&question)
        let page = reader.search(question)
        #expect(page.failure == nil)
        return page.records.map(\.position)
    }

    /// Where the messages are: in the log alone, in the index, and there after a restart.
    enum Place: CaseIterable { case fresh, indexed, restarted }

    private func with(
        _ records: [LogRecord], at place: Place, _ body: (inout Journal, inout Reader) throws -> Void
    ) throws {
        var store = try open()
        if place == .fresh { store.journal.pace.indexFrom = .max }
        #expect(store.journal.commit(records) == .committed(batch: records[0].position))
        store.settle()
        #expect(try store.journal.ask("SELECT count(*) FROM search_parts") == (place == .fresh ? 0 : 1))
        if place == .restarted {
            _ = consume store
            store = try open()
        }
        try body(&store.journal, &store.reader)
    }

    @Test(arguments: Place.allCases) func wordsAreFoundInEveryPlace(place: Place) throws {
        let texts: [ByteString] = [
            "Deploy on Friday", "the deployment failed, again", "Café Zürich", "今天東京很熱", "e\u{301}tude numero 2",
            "\u{3}04,12red\u{3} hat\u{2}ter", "\u{1}ACTION waves hello\u{1}", "one\nnext week two", "don't panic",
        ]
        let records = texts.enumerated().map { LogRecord.sample(Int64($0 + 1), Self.cats, text: $1) }
        try with(records, at: place) { _, reader in
            let expected: [(ByteString, [Int64])] = [
                ("deploy", [1]), ("DEPLOY friday", [1]), ("deploy*", [1, 2]), ("cafe", [3]), ("zurich", [3]),
                ("東京", [4]), ("京東", []), ("étude", [5]), ("red", [6]), ("hatter", [6]), ("04", []),
                ("waves", [7]), ("action", []), ("\"next week\"", [8]), ("\"week next\"", []), ("week one", [8]),
                ("don't", [9]), ("don", [9]), ("failed again", [2]), ("nothing", []),
                ("", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
            ]
            for (text, positions) in expected { #expect(find(&reader, text) == positions, "\(text)") }
        }
    }

    @Test("What people type is never taken for the query language", arguments: Place.allCases)
    func hostileQuestions(place: Place) throws {
        try with([.sample(1, Self.cats, text: "plain and (simple) OR not")], at: place) { _, reader in
            for text in [
                "AND", "OR", "NOT", "(", ")", "\"", "\"\"", "\"\"\"", "*", "^plain", "plain AND", "text : plain",
                "{text}:x", "NEAR(a b)", "-plain", "+", "marks : c2", "'; DROP TABLE log; --", "\u{0}", "\"a", "a\"b",
                ":", "\\", "- -", "plain*simple", "**", "%", "_",
            ] { _ = find(&reader, ByteString(text)) }
            #expect(find(&reader, "AND OR") == [1])
            #expect(find(&reader, "c1").isEmpty)
            #expect(find(&reader, String(repeating: "plain ", count: 80).asBytes) == [1])
        }
    }

    @Test(arguments: Place.allCases) func placesAuthorsAndTimes(place: Place) throws {
        var records = [
            LogRecord.sample(1, Self.cats, text: "word a"), .sample(2, Self.dogs, text: "word b"),
            .sample(3, Self.pair, text: "word c"),
            .sample(4, .direct(UID(number: 8), UID(number: 9)), text: "word d"),
            .sample(5, .channel(3), text: "word e"), .sample(6, Self.cats, kind: .topic, text: "word f"),
            .sample(7, Self.cats, kind: .notice, text: "word g"),
        ]
        records[1].uid = UID(number: 9)
        records[1].source = "[Bo]!b@c"
        try with(records, at: place) { _, reader in
            #expect(find(&reader, "word") == [1, 2, 3, 7], "own direct messages and given channels, no events")
            #expect(find(&reader, "word") { $0.places[Self.cats] = 2 } == [2, 3, 7])
            #expect(find(&reader, "word") { $0.direct = .none } == [1, 2, 7])
            #expect(find(&reader, "word") { ($0.places, $0.direct) = ([Self.pair: 0], .none) } == [3])
            #expect(find(&reader, "word") { ($0.places, $0.direct) = ([:], UID(number: 8)) } == [4])
            #expect(find(&reader, "word") { ($0.places, $0.direct) = ([:], .none) } == [])
            #expect(find(&reader, "word") { $0.author = .nick("[bo]") } == [2])
            #expect(find(&reader, "word") { $0.author = .nick("bo") } == [])
            #expect(find(&reader, "word") { $0.author = .uid(UID(number: 7)) } == [1, 3, 7])
            #expect(find(&reader, "word") { $0.times = 1002...1003 } == [2, 3])
            #expect(find(&reader, "word") { $0.newest = 2 } == [1, 2])
            #expect(find(&reader, "word") { $0.limit = 2 } == [3, 7])
            #expect(find(&reader, "word") { ($0.limit, $0.isForward) = (2, true) } == [1, 2])
            var question = SearchQuestion(number: 1, places: [Self.cats: 0], text: "word", limit: 2)
            #expect(reader.search(question).isComplete)
            question.limit = 1
            #expect(!reader.search(question).isComplete)
        }
    }

    @Test(arguments: Place.allCases) func changesAreFoundAsTheyAre(place: Place) throws {
        let records = (1...3).map { LogRecord.sample($0, Self.cats, text: "word original\($0)") }
        try with(records, at: place) { journal, reader in
            var edit = LogRecord.sample(4, Self.cats, kind: .edit, text: "word edited")
            edit.counterpart = 1
            var redaction = LogRecord.sample(5, Self.cats, kind: .redact, text: "")
            redaction.counterpart = 2
            _ = journal.commit([edit, redaction])
            for isTidy in [false, true] {
                #expect(find(&reader, "word") == [1, 3], "tidy: \(isTidy)")
                #expect(find(&reader, "edited") == [1])
                #expect(find(&reader, "original*") == [3])
                let found = reader.search(SearchQuestion(number: 1, places: [Self.cats: 0], text: "edited", limit: 9))
                #expect(found.counterparts[4]?.kind == .edit)
                while journal.maintain(budgetMilliseconds: 100) {}
            }
        }
    }

    @Test func whatWasThereBeforeTheIndexIsIndexed() throws {
        var store = try open()
        let records = (1...40).map { LogRecord.sample($0, .channel($0 % 3), text: "word n\($0)") }
        _ = store.journal.commit(records)
        try store.journal.mergeAll()
        while try store.journal.writer!.removeMoved(upTo: 30, rows: 7) {}
        _ = consume store
        // The schema before, as it was then.
        for trigger in ["log_changed", "message_changed", "message_removed"] {
            try edit("DROP TRIGGER search_\(trigger)")
        }
        try edit("DROP TABLE search_rows; DROP TABLE search_gone; DROP TABLE search_parts")
        try edit("ALTER TABLE meta DROP COLUMN indexed; PRAGMA user_version = 13")
        for column in ["retain_age", "retain_count"] { try edit("ALTER TABLE channels DROP COLUMN \(column)") }
        store = try open()
        _ = store.journal.commit([.sample(41, .channel(1), text: "word n41")])
        store.journal.pace.step = 7
        store.journal.pace.searchPart = 10
        store.settle()
        #expect(try store.journal.ask("SELECT count(*) FROM search_parts") > 3)
        let found = find(&store.reader, "word") { $0.places = [.channel(0): 0, .channel(1): 0, .channel(2): 0] }
        #expect(found == Array(1...41))
        #expect(find(&store.reader, "n20") { $0.places = [.channel(2): 0] } == [20])
    }

    @Test func aPartWithoutMessagesGoes() throws {
        var store = try open()
        store.journal.pace.searchPart = 5
        store.journal.pace.step = 5
        _ = store.journal.commit((1...20).map { .sample($0, .channel($0 > 10 ? 2 : 1), text: "word") })
        store.settle()
        #expect(try store.journal.ask("SELECT count(*) FROM search_parts") == 4)
        _ = store.journal.commit(JournalBatch(number: 2, changes: [.dropChannel(id: 1)]))
        store.settle()
        #expect(try store.journal.ask("SELECT count(*) FROM search_parts") == 2)
        #expect(try store.journal.ask("SELECT count(*) FROM search_rows") == 10)
        #expect(
            try store.journal.ask("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'search\\__' ESCAPE '\\'") == 2)
        #expect(find(&store.reader, "word") == Array(11...20))
    }

    private func edit(_ sql: String) throws {
        var db: OpaquePointer?
        defer { sqlite3_close(db) }
        try #require(sqlite3_open(scratch.database, &db) == SQLITE_OK)
        try #require(
            sqlite3_exec(db, sql, nil, nil, nil) == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(db)))")
    }
}

extension String {
    fileprivate var asBytes: ByteString { ByteString(self) }
}
