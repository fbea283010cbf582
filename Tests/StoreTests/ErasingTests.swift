import Bytes
import Chat
import Foundation
import Testing

@testable import Store

/// A person's records go in small steps, wherever they lie, and a crash in between loses no step.
@Suite struct ErasingTests {
    let scratch = Scratch()

    private func record(_ position: Int64, by uid: Int64, _ conversation: Conversation) -> LogRecord {
        var record = LogRecord.sample(position, conversation, text: "<\(position)-said-by-\(uid)>")
        record.uid = UID(number: uid)
        return record
    }

    @Test func allOfOnePersonAndNothingElse() throws {
        var dice = Dice(seed: 5)
        let store = try Store.open(path: scratch.database, durability: .full)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        journal.pace.step = 16
        journal.pace.eraseDelay = 0
        var all: [LogRecord] = []
        for position in Int64(1)...600 {
            let conversation: Conversation =
                dice.chance(30) ? .direct(UID(number: 1), UID(number: dice.roll(2...4))) : .channel(dice.roll(1...5))
            all.append(record(position, by: dice.roll(1...4), conversation))
            guard case .committed = journal.commit([all.last!]) else { throw Unexpected() }
            if position == 300 { try journal.mergeAll() }
        }
        _ = journal.commit([], [.erase(UID(number: 3))])
        // Said by somebody who came back with an old token.
        all.append(record(601, by: 3, .channel(1)))
        _ = journal.commit([all.last!])
        while journal.maintain(budgetMilliseconds: 100) {}
        for conversation in Set(all.map(\.conversation)) {
            let expected = all.filter {
                $0.conversation == conversation && ($0.uid.number != 3 || $0.position == 601)
            }
            #expect(reader.latest(conversation).records == expected)
        }
        let files = try ["parley.db", "parley.db-wal"].map { try #require(scratch.contents($0)) }
        for gone in all where gone.uid.number == 3 && gone.position != 601 {
            let mark = Data("<\(gone.position)-said-by-3>".utf8)
            #expect(files.allSatisfy { $0.range(of: mark) == nil }, "\(gone.position)")
        }
    }

    @Test func whoWritesToAnErasedUIDIsNotedAgain() throws {
        var journal = try Store.open(path: scratch.database, durability: .off).takeJournal()
        let pair = Conversation.direct(UID(number: 1), UID(number: 2))
        _ = journal.commit([record(1, by: 1, pair)], [.erase(UID(number: 2))])
        #expect(try journal.ask("SELECT count(*) FROM correspondents") == 0)
        _ = journal.commit([record(2, by: 1, pair)])
        #expect(try journal.ask("SELECT count(*) FROM correspondents") == 2)
    }

    @Test func aRestartGoesOn() throws {
        do {
            var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
            _ = journal.commit((Int64(1)...100).map { record($0, by: $0 % 2 + 1, .channel(1)) })
            _ = journal.commit([], [.erase(UID(number: 1))])
            try journal.mergeAll()
            journal.erased[0] = try #require(try journal.writer!.erase(journal.erased[0], rows: 10))
        }
        let store = try Store.open(path: scratch.database, durability: .full)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        #expect(journal.erased.count == 1 && journal.erased[0].cursor == [1, 0, 0, 10])
        while journal.maintain(budgetMilliseconds: 100) {}
        #expect(reader.latest(.channel(1)).records.map(\.uid.number) == [Int64](repeating: 2, count: 50))
        #expect(try journal.ask("SELECT count(*) FROM erased") == 0)
    }
}
