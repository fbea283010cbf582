import Bytes
import Chat
import Testing

@testable import Store

/// What authors call their messages.
@Suite struct SentTests {
    let scratch = Scratch()

    private func record(_ position: Int64, _ cid: ByteString, in channel: Int64 = 1, time: Int64 = 1_000) -> LogRecord {
        var record = LogRecord.sample(position, .channel(channel), time: time)
        record.cid = cid
        return record
    }

    private func ask(_ reader: inout Reader, _ cid: ByteString, uid: Int64 = 7, since: Int64 = 0) -> [Int64] {
        reader.sent(SentQuestion(number: 1, uid: UID(number: uid), cid: cid, since: since)).sent.map(\.position)
    }

    @Test func eachConversationHasItsOwnAndItOutlivesARestart() throws {
        do {
            var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
            _ = journal.commit([record(1, "a"), record(2, "a", in: 2), record(3, "b"), record(4, "")])
        }
        let store = try Store.open(path: scratch.database, durability: .full)
        var reader = store.readers.make()
        #expect(ask(&reader, "a") == [1, 2])
        #expect(ask(&reader, "b") == [3])
        #expect(ask(&reader, "").isEmpty && ask(&reader, "a", uid: 8).isEmpty)
        #expect(ask(&reader, "a", since: 1_001).isEmpty)
    }

    @Test func aRefusedBatchNamesNothing() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        guard case .failed = journal.commit([record(2, "a"), record(1, "b")]) else { throw Unexpected() }
        #expect(ask(&reader, "a").isEmpty)
    }

    @Test func whatIsOlderThanADayIsForgotten() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        _ = journal.commit((1...3000).map { record($0, ByteString("\($0)"), time: 1_000 + $0) })
        _ = journal.commit([record(3001, "new", time: 86_400_000 + 2_000)])
        while journal.maintain(budgetMilliseconds: 100) {}
        #expect(try journal.ask("SELECT count(*) FROM sent") == 2_002)
        #expect(ask(&reader, "999").isEmpty)
        #expect(ask(&reader, "1000") == [1000] && ask(&reader, "new") == [3001])
    }
}
