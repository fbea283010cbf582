import Bytes
import Chat
import Testing

@testable import Store

@Suite struct JournalTests {
    let scratch = Scratch()

    @Test func recordsComeBackAsTheyWere() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        let pair = Conversation.direct(UID(number: 9), UID(number: 4))
        let kinds: [RecordKind] = [
            .privmsg, .notice, .tagmsg, .join, .part, .quit, .kick, .nick, .topic, .mode, .setname,
        ]
        let records = kinds.enumerated().map { index, kind in
            LogRecord(
                position: Int64(index + 1), conversation: pair, time: 5_000, kind: kind, uid: UID(number: 1 << 59),
                source: "a!b@c", account: "acc", name: "Ä\u{0}ö", tags: "+draft/react=\\:",
                text: ByteString([0xFF, 0, 0xC3]))
        }
        #expect(journal.commit(records) == .committed(batch: 1))
        #expect(reader.latest(pair).records == records)
        try journal.mergeAll()
        #expect(reader.latest(pair).records == records)
    }

    @Test func failedBatchLeavesNothing() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        #expect(journal.commit([.sample(5)]) == .committed(batch: 5))
        let channel = ChannelState(id: 1, name: "#a", created: 1, founder: .none)
        guard case .failed(7, _) = journal.commit([.sample(7), .sample(7)], [.saveChannel(channel)]) else {
            Issue.record("a repeated position was accepted")
            return
        }
        #expect(reader.latest().records == [.sample(5)])
    }

    @Test func whatFollowsAFailureFailsUntilTheProbe() throws {
        var journal = try Store.open(path: scratch.database, durability: .off).takeJournal()
        _ = journal.commit([.sample(2)])
        guard case .failed = journal.commit([.sample(1)]) else { throw Unexpected() }
        guard case .failed(3, let reason) = journal.commit([.sample(3)]) else { throw Unexpected() }
        #expect(reason.contains("batch 1"))
        #expect(journal.probe() == true)
        #expect(journal.commit([.sample(3)]) == .committed(batch: 3))
    }

    /// SQLITE_FULL by a limit of the file.
    @Test func fullFileRefusesWholeBatchesAndRecovers() throws {
        let store = try Store.open(path: scratch.database, durability: .full)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        let pages = try journal.ask("PRAGMA page_count")
        _ = try journal.ask("PRAGMA max_page_count = \(pages + 20)")
        var position: Int64 = 0
        var stored: [LogRecord] = []
        var outcome = JournalOutcome.committed(batch: 0)
        for _ in 0..<1000 {
            let records = (0..<40).map {
                LogRecord.sample(position + 1 + $0, text: ByteString([UInt8](repeating: 65, count: 200)))
            }
            position += 40
            outcome = journal.commit(records)
            guard case .committed = outcome else { break }
            stored += records
        }
        guard case .failed(_, let reason) = outcome else { throw Unexpected() }
        #expect(reason.contains("full"))
        #expect(journal.probe() == false)
        #expect(reader.latest(limit: 10_000).records == stored)
        _ = try journal.ask("PRAGMA max_page_count = 100000")
        #expect(journal.probe() == true)
        let next = LogRecord.sample(position + 1)
        #expect(journal.commit([next]) == .committed(batch: position + 1))
        #expect(reader.latest(limit: 10_000).records == stored + [next])
    }

    /// Copies the files after every commit without closing anything, as a crash would leave them.
    @Test func everythingReportedIsThereAfterACrash() throws {
        var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
        let crashed = Scratch()
        var expected: [LogRecord] = []
        for round in Int64(0)..<30 {
            let records = (1...5).map { LogRecord.sample(round * 5 + $0) }
            guard case .committed = journal.commit(records) else { throw Unexpected() }
            expected += records
            journal.pace.step = 4
            if round % 3 == 2 { try journal.mergeStep() }
            if round % 10 == 9 {
                journal.pace.checkpointPages = 1
                _ = journal.maintain(budgetMilliseconds: 0)
                journal.pace.checkpointPages = 10_000
            }
            try scratch.copy(to: crashed)
            let store = try Store.open(path: crashed.database, durability: .full)
            #expect(store.state.lastPosition == expected.last?.position)
            var reader = store.readers.make()
            #expect(reader.latest().records == expected)
        }
    }

    @Test func positionsOutliveTheirRecords() throws {
        do {
            var journal = try Store.open(path: scratch.database, durability: .off).takeJournal()
            var channel = ChannelState(id: 41, name: "#gone", created: 1, founder: .none)
            channel.topic = "t"
            _ = journal.commit([.sample(10, .channel(41))], [.saveChannel(channel)])
            _ = journal.commit(JournalBatch(number: 11, changes: [.dropChannel(id: 41)]))
            while journal.maintain(budgetMilliseconds: 100) {}
            #expect(journal.dropped.isEmpty)
            let left = try journal.ask("SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM log)")
            #expect(left == 0)
        }
        let state = try Store.open(path: scratch.database, durability: .off).state
        #expect(state.lastPosition == 10)
        #expect(state.lastTime == 1010)
        #expect(state.lastChannelID == 41)
        #expect(state.channels.isEmpty)
    }
}
