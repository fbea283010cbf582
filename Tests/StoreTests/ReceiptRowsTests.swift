import Bytes
import Chat
import Testing

@testable import Store

/// Who got and who has read a message, by high-water marks.
@Suite struct ReceiptRowsTests {
    let scratch = Scratch()

    private func ask(_ reader: inout Reader, _ position: Int64, in conversation: Conversation = .channel(1))
        -> [String]?
    {
        let answer = reader.receipts(
            ReceiptsQuestion(
                number: 1, conversation: conversation, position: position, author: UID(number: 7), oldest: 0, limit: 10)
        )
        return answer.isFound
            ? answer.receipts.map { "\($0.uid.number) \($0.isRead ? "read" : "delivered") \($0.time)" } : nil
    }

    private func member(_ uid: Int64, joined: Int64 = 1, present: Bool = true) -> Change {
        .saveMember(MemberState(channel: 1, uid: UID(number: uid), ranks: 0, present: present, joined: joined))
    }

    @Test func membersByWhatTheyGotAndRead() throws {
        do {
            var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
            let off = MetadataOwner.identity(UID(number: 6))
            _ = journal.commit(
                [.sample(10), .sample(11)],
                [
                    member(1), member(2), member(3, joined: 11), member(4, present: false), member(5), member(6),
                    member(7), .setMetadata(off, key: "parley.chat/receipts", value: "off"),
                    .saveReadMark(UID(number: 1), ReadMark(conversation: .channel(1), time: 1_010)),
                    .saveReadMark(UID(number: 5), ReadMark(conversation: .channel(2), time: 9_999)),
                ])
            var changes: [Change] = []
            for uid in [1, 2, 3, 4, 6, 7] as [Int64] {
                changes.append(.saveDelivered(UID(number: uid), position: 10, time: 5_000 + uid))
            }
            _ = journal.commit([], changes)
            try journal.mergeAll()
        }
        var reader = try Store.open(path: scratch.database, durability: .full).readers.make()
        #expect(ask(&reader, 10) == ["1 read 1010", "2 delivered 5002"])
        #expect(ask(&reader, 11) == [])
        #expect(ask(&reader, 12) == nil && ask(&reader, 10, in: .channel(2)) == nil)
    }

    @Test func betweenTwoPeople() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        let pair = Conversation.direct(UID(number: 7), UID(number: 3))
        _ = journal.commit([.sample(1, pair)])
        #expect(ask(&reader, 1, in: pair) == [])
        _ = journal.commit([], [.saveDelivered(UID(number: 3), position: 4, time: 5_000)])
        #expect(ask(&reader, 1, in: pair) == ["3 delivered 5000"])
        _ = journal.commit([], [.saveReadMark(UID(number: 3), ReadMark(conversation: pair, time: 1_001))])
        #expect(ask(&reader, 1, in: pair) == ["3 read 1001"])
    }

    @Test func somebodyElsesOrADeletedMessageIsNotFound() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        var other = LogRecord.sample(1)
        other.uid = UID(number: 8)
        var redaction = LogRecord.sample(3, kind: .redact, text: "")
        redaction.counterpart = 2
        _ = journal.commit([other, .sample(2), redaction])
        #expect(ask(&reader, 1) == nil && ask(&reader, 2) == nil)
    }
}
