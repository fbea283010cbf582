import Bytes
import CSQLite
import Chat
import Testing

@testable import Store

/// What is kept of direct conversations beside their messages: who talked with whom, marks, what was missed.
@Suite struct CorrespondenceTests {
    let scratch = Scratch()
    let ana = UID(number: 50)
    let bo = UID(number: 7)
    let cy = UID(number: 1 << 50)

    private func message(_ position: Int64, from: UID, to: UID, kind: RecordKind = .privmsg) -> LogRecord {
        var record = LogRecord.sample(position, .direct(from, to), kind: kind)
        record.uid = from
        return record
    }

    private func heads(_ uid: UID, from: Int64 = 0, to: Int64 = 10_000, limit: Int = 10)
        -> DirectQuestion
    {
        DirectQuestion(number: 1, uid: uid, wanted: .heads(from: from, to: to), limit: limit, newest: .max)
    }

    private func received(_ uid: UID, since: Int64, limit: Int = 10, newest: Int64 = .max) -> DirectQuestion {
        DirectQuestion(
            number: 1, uid: uid, wanted: .received(since: MessageMark(position: since, time: 1000 + since)),
            limit: limit, newest: newest)
    }

    /// Bounds are the samples' times: 1000 and the position.
    @Test(arguments: [false, true]) func newestMessageOfEachConversation(merged: Bool) throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        let records = [
            message(1, from: ana, to: bo), message(2, from: bo, to: ana), message(3, from: ana, to: cy),
            LogRecord.sample(4, .channel(1)), message(5, from: bo, to: cy), message(6, from: cy, to: ana),
            message(7, from: ana, to: ana), message(8, from: ana, to: bo, kind: .tagmsg),
        ]
        #expect(journal.commit(records) == .committed(batch: 1))
        if merged { try journal.mergeAll() }
        func found(_ question: DirectQuestion) -> [Int64] { reader.direct(question).records.map(\.position) }
        #expect(found(heads(ana)) == [2, 6, 7])
        #expect(found(heads(bo)) == [2, 5])
        #expect(found(heads(cy)) == [5, 6])
        #expect(found(heads(ana, from: 1002, to: 1007)) == [6])
        #expect(found(heads(ana, from: 1007, to: 1000)) == [2, 6])
        #expect(found(heads(ana, limit: 2)) == [2, 6])
        #expect(found(heads(ana, from: 10_000, to: 0, limit: 2)) == [6, 7])
        #expect(reader.direct(heads(ana, limit: 2)).isComplete == false)
        #expect(reader.direct(heads(ana, limit: 3)).isComplete == true)
        #expect(found(heads(UID(number: 3))) == [])

        #expect(found(received(ana, since: 1)) == [2, 6])
        #expect(found(received(ana, since: 3)) == [6])
        #expect(found(received(cy, since: 1)) == [3, 5])
        #expect(found(received(cy, since: 1, newest: 4)) == [3])
        #expect(found(received(cy, since: 1, limit: 1)) == [5])
        #expect(reader.direct(received(cy, since: 1, limit: 1)).isComplete == false)
    }

    /// Over many hours, each page finds what belongs to it.
    @Test(arguments: [false, true]) func pagesOverManyHours(backwards: Bool) throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        let hour: Int64 = 3_600_000
        var position: Int64 = 0
        for round in Int64(0)..<3 {
            for number in Int64(1)...20 {
                position += 1
                var record = message(position, from: ana, to: UID(number: 100 + (number * 7) % 20))
                record.time = round * 30 * hour + number * hour / 3
                _ = journal.commit([record])
            }
        }
        var found: [Int64] = []
        var from = backwards ? 1_000 * hour : 0
        while true {
            let answer = reader.direct(heads(ana, from: from, to: backwards ? 0 : 1_000 * hour, limit: 3))
            let page = answer.records.map(\.position)
            found = backwards ? page + found : found + page
            if answer.isComplete { break }
            #expect(page.count == 3)
            from = (backwards ? answer.records.first : answer.records.last)!.time
        }
        #expect(found == Array(41...60))
        let asked = try journal.ask("SELECT count(*) FROM correspondents WHERE uid = \(ana.number) AND hour >= 60")
        #expect(asked == 20)
    }

    @Test func headsNameTheAccountsOfTheOthers() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        let account = AccountState(
            uid: bo, name: "Bo", look: "bo", credentials: Credentials(hash: "", scram: ""), email: "", created: 1,
            standing: .open)
        _ = journal.commit(
            [message(1, from: ana, to: bo), message(2, from: ana, to: cy)], [.account(.add(account))])
        #expect(reader.direct(heads(ana)).accounts == [bo: "Bo"])
    }

    /// What nothing but the time tells apart is not divided.
    @Test func equalTimesAreOnOnePage() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        var records: [LogRecord] = []
        for number in Int64(1)...6 {
            var record = message(number, from: ana, to: UID(number: 100 + number))
            record.time = number < 4 ? 1001 : 1002
            records.append(record)
        }
        _ = journal.commit(records)
        #expect(reader.direct(heads(ana, limit: 1)).records.map(\.position) == [1, 2, 3])
        #expect(reader.direct(heads(ana, from: 10_000, to: 0, limit: 2)).records.map(\.position) == [4, 5, 6])
    }

    @Test func aFailedBatchLeavesNoCorrespondents() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        guard case .failed = journal.commit([message(2, from: ana, to: bo), message(1, from: ana, to: bo)]) else {
            throw Unexpected()
        }
        let isWritable = journal.probe()
        #expect(isWritable)
        #expect(try journal.ask("SELECT count(*) FROM correspondents") == 0)
        _ = journal.commit([message(3, from: ana, to: bo)])
        #expect(reader.direct(heads(bo)).records.map(\.position) == [3])
        #expect(try journal.ask("SELECT count(*) FROM correspondents") == 2)
    }

    @Test func anOlderDatabaseLearnsItsCorrespondents() throws {
        for migration in Migrations.all.prefix(2) { try edit(migration) }
        let row = "'a!b@c', '', '', '', 'hi'"
        try edit("PRAGMA application_id = \(Migrations.applicationID); PRAGMA user_version = 2")
        try edit("UPDATE meta SET position = 3, merged = 2, target = 2")
        try edit("INSERT INTO messages VALUES (7, 50, 0, 1, 1001, 1, 50, \(row)), (1, 0, 0, 2, 1002, 1, 50, \(row))")
        try edit(
            "INSERT INTO log (a, b, position, time, kind, uid, source, account, name, tags, text)"
                + " VALUES (50, \(cy.number), 3, 1003, 1, 50, \(row))")
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        #expect(reader.direct(heads(ana)).records.map(\.position) == [1, 3])
        #expect(reader.direct(heads(bo)).records.map(\.position) == [1])
        #expect(reader.direct(heads(cy)).records.map(\.position) == [3])
    }

    private func edit(_ sql: String) throws {
        var db: OpaquePointer?
        defer { sqlite3_close(db) }
        try #require(sqlite3_open(scratch.database, &db) == SQLITE_OK)
        try #require(sqlite3_exec(db, sql, nil, nil, nil) == SQLITE_OK)
    }

    @Test func marksAndMissedOutliveARestart() throws {
        let one = ReadMark(conversation: .channel(4), time: 1_000)
        let two = ReadMark(conversation: .direct(ana, bo), time: 2_000)
        do {
            var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
            let changes: [Change] = [
                .saveReadMark(ana, ReadMark(conversation: .channel(4), time: 5)), .saveReadMark(ana, one),
                .saveReadMark(ana, two), .saveReadMark(ana, ReadMark(conversation: .channel(5), time: 7)),
                .removeReadMark(ana, .channel(5)), .saveReadMark(bo, two),
                .noteMissed(bo, MessageMark(position: 12, time: 5)),
                .noteMissed(bo, MessageMark(position: 15, time: 6)),
                .noteMissed(ana, MessageMark(position: 3, time: 1)),
                .forgetMissed(ana),
            ]
            #expect(journal.commit(JournalBatch(number: 1, changes: changes)) == .committed(batch: 1))
        }
        let store = try Store.open(path: scratch.database, durability: .full)
        var reader = store.readers.make()
        let mine = reader.identity(IdentityQuestion(number: 4, who: .uid(ana))).correspondence
        #expect(mine.marks == [one, two] && mine.missedSince == MessageMark())
        let his = reader.identity(IdentityQuestion(number: 4, who: .uid(bo))).correspondence
        #expect(his.marks == [two] && his.missedSince == MessageMark(position: 12, time: 5))
    }

    @Test func whoWasHereLastIsLoaded() throws {
        do {
            var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
            let changes: [Change] = [(ana, "ana", 30), (bo, "bo", 10), (cy, "cy", 20)].map { uid, nick, seen in
                .saveIdentity(
                    IdentityState(uid: uid, nick: nick, name: "", epoch: 0, created: 1, seen: Int64(seen)))
            }
            _ = journal.commit(JournalBatch(number: 1, changes: changes))
        }
        let state = try Store.open(path: scratch.database, durability: .full).state
        #expect(state.departed.map(\.nick) == ["bo", "cy", "ana"])
        #expect(state.departed.map(\.uid) == [bo, cy, ana])
    }

    @Test func aChannelsNewestMessageIsKnownAtTheStart() throws {
        do {
            var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
            for id in Int64(1)...3 {
                let channel = ChannelState(id: id, name: ByteString("#c\(id)"), created: 1, founder: .none)
                _ = journal.commit(JournalBatch(number: id, changes: [.saveChannel(channel)]))
            }
            _ = journal.commit([.sample(1, .channel(1)), .sample(2, .channel(1), kind: .join), .sample(3, .channel(2))])
            try journal.mergeAll()
            _ = journal.commit([.sample(4, .channel(2)), .sample(5, .channel(2), kind: .part)])
        }
        let channels = try Store.open(path: scratch.database, durability: .full).state.channels
        #expect(
            channels.map(\.lastMessage) == [
                MessageMark(position: 1, time: 1001), MessageMark(position: 4, time: 1004), MessageMark(),
            ])
        #expect(channels.map(\.lastTime) == [1002, 1005, 0])
    }
}
