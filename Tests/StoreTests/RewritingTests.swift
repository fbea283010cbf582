import Bytes
import Chat
import Foundation
import Testing

@testable import Store

/// Edits and redactions reach the row wherever it lies, and nothing of what was said stays in the files.
@Suite struct RewritingTests {
    let scratch = Scratch()

    private static let channel = Conversation.channel(1)

    private func change(_ position: Int64, _ kind: RecordKind, of message: Int64, _ text: ByteString = "") -> LogRecord
    {
        var record = LogRecord.sample(position, kind: kind, text: text)
        record.counterpart = message
        return record
    }

    private func page(_ reader: inout Reader, changes: Bool = false) -> HistoryPage {
        reader.page(
            HistoryQuestion(
                number: 1, conversation: Self.channel, selector: .latest(after: nil), limit: 1000,
                kinds: changes ? [.messages, .changes] : .messages))
    }

    /// Where the message and its change lie when it is changed and when it is read.
    enum Place: CaseIterable { case log, messages, both }

    private func mergeAndSweep(_ journal: inout Journal, _ place: Place) throws {
        if place == .log { return }
        try journal.mergeAll()
        if place == .messages { while try journal.writer!.removeMoved(upTo: 1000, rows: 100) {} }
    }

    @Test(arguments: Place.allCases) func aRedactionEmptiesTheMessage(place: Place) throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        var message = LogRecord.sample(1, text: "secret")
        message.tags = "+draft/reply=secret"
        _ = journal.commit([message, .sample(2)])
        try mergeAndSweep(&journal, place)
        let redaction = change(3, .redact, of: 1, "spam")
        #expect(journal.commit([redaction]) == .committed(batch: 3))
        message.text = ""
        message.tags = ""
        message.counterpart = 3
        for _ in 0..<2 {
            let found = page(&reader)
            #expect(found.records == [message, .sample(2)])
            #expect(found.records[0].isRedacted)
            #expect(found.counterparts == [3: redaction])
            let all = page(&reader, changes: true)
            #expect(all.records == [message, .sample(2), redaction])
            #expect(all.counterparts == [1: message, 3: redaction])
            try journal.mergeAll()
        }
    }

    @Test(arguments: Place.allCases) func anEditChangesTheTextAndTheEditItselfHasNone(place: Place) throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        _ = journal.commit([.sample(1, text: "helo")])
        try mergeAndSweep(&journal, place)
        _ = journal.commit([change(2, .edit, of: 1, "hallo")])
        _ = journal.commit([change(3, .edit, of: 1, "hello")])
        try mergeAndSweep(&journal, place)
        let all = page(&reader, changes: true)
        #expect(all.records.map(\.text.string) == ["hello", "", ""])
        #expect(all.records.map(\.counterpart) == [3, 1, 1])
        _ = journal.commit([change(4, .redact, of: 1)])
        #expect(page(&reader, changes: true).records.allSatisfy { $0.text.isEmpty })
    }

    @Test func onlyInItsOwnConversation() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        _ = journal.commit([.sample(1, .channel(2))])
        _ = journal.commit([change(2, .redact, of: 1)])
        #expect(reader.latest(.channel(2)).records == [.sample(1, .channel(2))])
    }

    @Test func changesOutliveARestart() throws {
        do {
            var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
            _ = journal.commit([.sample(1), .sample(2)])
            try journal.mergeAll()
            _ = journal.commit([change(3, .redact, of: 1), change(4, .edit, of: 2, "new")])
        }
        let store = try Store.open(path: scratch.database, durability: .full)
        #expect(store.state.lastPosition == 4)
        var reader = store.readers.make()
        #expect(page(&reader).records.map(\.text.string) == ["", "new"])
        #expect(page(&reader, changes: true).records.map(\.position) == [1, 2, 3, 4])
    }

    @Test func theNewestOfAnAuthorAreFoundInBothPlaces() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        let records = (Int64(1)...40).map { position in
            var record = LogRecord.sample(position)
            record.uid = UID(number: position % 4 + 1)
            return record
        }
        for batch in 0..<4 {
            _ = journal.commit(Array(records[batch * 10..<batch * 10 + 10]))
            if batch < 2 { try journal.mergeAll() }
            var question = HistoryQuestion(
                number: 1, conversation: Self.channel, selector: .latest(after: nil), limit: 5,
                author: UID(number: 3))
            question.newest = 33
            let expected = records[..<(batch * 10 + 10)].filter { $0.uid.number == 3 && $0.position <= 33 }.suffix(5)
            #expect(reader.page(question).records == Array(expected))
        }
    }

    /// Cells move between pages, pages are freed and the log is copied: wherever the texts were, they are gone.
    @Test(arguments: [1, 2, 3] as [UInt64]) func nothingOfADeletedTextStaysInTheFiles(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let store = try Store.open(path: scratch.database, durability: .full)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        journal.pace.eraseDelay = 0
        journal.pace.mergeFrom = 1
        var position: Int64 = 0
        var alive: [Int64] = []
        var deleted: [Int64] = []
        for _ in 0..<60 {
            var records: [LogRecord] = []
            for _ in 0..<60 {
                position += 1
                // Some need pages of their own.
                let filler = String(repeating: "x", count: dice.chance(5) ? 5000 : Int(dice.roll(0...300)))
                records.append(
                    LogRecord.sample(
                        position, .channel(dice.roll(1...9)),
                        text: ByteString("<\(position)-secret> \(filler) <\(position)-end>")))
                alive.append(position)
            }
            guard case .committed = journal.commit(records) else { throw Unexpected() }
            if dice.chance(40) { try journal.mergeStep() }
            if dice.chance(20) { _ = journal.maintain(budgetMilliseconds: 5) }
            _ = reader.latest()
            for _ in 0..<dice.roll(0...12) {
                let gone = alive.remove(at: Int(dice.roll(0...Int64(alive.count - 1))))
                guard
                    let place = (1...9).first(where: { id in
                        reader.page(
                            HistoryQuestion(
                                number: 1, conversation: .channel(id),
                                selector: .between(.position(gone - 1), .position(gone + 1)), limit: 1)
                        ).records.count == 1
                    })
                else { throw Unexpected() }
                position += 1
                var redaction = LogRecord.sample(
                    position, .channel(Int64(place)), kind: dice.chance(70) ? .redact : .edit, text: "new")
                redaction.counterpart = gone
                guard case .committed = journal.commit([redaction]) else { throw Unexpected() }
                deleted.append(gone)
            }
        }
        while journal.maintain(budgetMilliseconds: 100) {}
        let files = try ["parley.db", "parley.db-wal"].map { try #require(scratch.contents($0)) }
        for gone in deleted {
            for mark in ["<\(gone)-secret>", "<\(gone)-end>"] {
                #expect(files.allSatisfy { $0.range(of: Data(mark.utf8)) == nil }, "\(mark)")
            }
        }
        #expect(files.contains { $0.range(of: Data("<\(alive[0])-secret>".utf8)) != nil })
    }
}
