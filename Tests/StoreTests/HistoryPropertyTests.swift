import Bytes
import Chat
import Testing

@testable import Store

/// Random histories (ties in time, events among messages, edits and deletions, merges and restarts at random moments,
/// dropped channels) against the model.
@Suite struct HistoryPropertyTests {
    @Test(arguments: 1...6) func everyPageIsTheModels(seed: UInt64) throws {
        let scratch = Scratch()
        var play = Play(seed: seed)
        for _ in 0..<6 {
            let store = try Store.open(path: scratch.database, durability: .off)
            #expect(store.state.lastPosition == play.position)
            var reader = store.readers.make()
            var journal = store.takeJournal()
            journal.pace.mergeFrom = 1
            for _ in 0..<20 {
                #expect(journal.commit(play.batch()) == .committed(batch: play.number))
                journal.pace.step = Int(play.dice.roll(1...30))
                if play.dice.chance(50) { try journal.mergeStep() }
                if play.dice.chance(10) { _ = journal.maintain(budgetMilliseconds: 0) }
                for _ in 0..<20 {
                    let question = play.question()
                    let page = reader.page(question)
                    let expected = play.model.page(question)
                    #expect(page == expected, "seed \(seed): \(question)")
                    if page != expected { return }
                }
            }
        }
    }
}

private struct Play {
    var dice: Dice
    var model = Model()
    var number: Int64 = 0
    var position: Int64 = 0
    var time: Int64 = 1_000
    /// Ids of the channels; a dropped one is replaced by a new one.
    var channels: [Int64] = [1, 2, 3]
    var lastChannel: Int64 = 3
    let direct = Conversation.direct(UID(number: 1 << 50), UID(number: 5))

    init(seed: UInt64) { dice = Dice(seed: seed) }

    mutating func conversation() -> Conversation {
        dice.chance(25) ? direct : .channel(channels.randomElement(using: &dice)!)
    }

    mutating func batch() -> JournalBatch {
        number += 1
        var batch = JournalBatch(number: number)
        for _ in 0..<dice.roll(0...15) {
            position += dice.chance(10) ? 3 : 1
            time += dice.roll(0...2)
            let record = (dice.chance(20) ? change() : nil) ?? happening()
            batch.records.append(record)
            model.add(record)
        }
        if dice.chance(4) {
            let index = Int(dice.roll(0...2))
            let gone = channels[index]
            batch.changes.append(.dropChannel(id: gone))
            model.records.removeAll { $0.conversation == .channel(gone) }
            lastChannel += 1
            channels[index] = lastChannel
        }
        return batch
    }

    private mutating func happening() -> LogRecord {
        let kinds: [RecordKind] = [.privmsg, .notice, .tagmsg, .join, .quit, .topic]
        return .sample(position, conversation(), time: time, kind: kinds.randomElement(using: &dice)!)
    }

    /// Of a message that was not deleted.
    private mutating func change() -> LogRecord? {
        let said = model.records.filter { $0.kind.isMessage && !$0.isRedacted }
        guard let message = said.randomElement(using: &dice) else { return nil }
        var record = LogRecord.sample(
            position, message.conversation, time: time, kind: dice.chance(60) ? .edit : .redact,
            text: "changed \(position)")
        record.counterpart = message.position
        return record
    }

    mutating func reference() -> PageReference {
        dice.chance(50) ? .position(dice.roll(0...position + 3)) : .time(dice.roll(998...time + 3))
    }

    /// Messages, everything, or some.
    mutating func kinds() -> RecordKinds {
        switch dice.roll(0...2) {
        case 0: .messages
        case 1: .all
        default: RecordKinds(rawValue: dice.next())
        }
    }

    mutating func question() -> HistoryQuestion {
        let selector: PageSelector =
            switch dice.roll(0...5) {
            case 0: .latest(after: nil)
            case 1: .latest(after: reference())
            case 2: .before(reference())
            case 3: .after(reference())
            case 4: .around(reference())
            default: .between(reference(), reference())
            }
        var question = HistoryQuestion(
            number: number, conversation: conversation(), selector: selector, limit: Int(dice.roll(1...30)),
            kinds: kinds())
        if dice.chance(30) { question.oldest = dice.roll(0...position) }
        if dice.chance(30) { question.newest = dice.roll(question.oldest...position + 1) }
        return question
    }
}
