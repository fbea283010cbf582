import Bytes
import Chat
import Foundation
import Testing

@testable import Store

/// Random histories with edits, redactions, dropped channels, erased people and restarts, while the index is made and
/// merged in steps of any size: what is found is what a filter over a list finds, and what was deleted is in the files
/// no more.
@Suite struct SearchPropertyTests {
    @Test(arguments: 1...4) func whatIsFoundIsWhatIsThere(seed: UInt64) throws {
        let scratch = Scratch()
        var play = SearchPlay(seed: seed)
        for _ in 0..<4 {
            let store = try Store.open(path: scratch.database, durability: .off)
            var reader = store.readers.make()
            var journal = store.takeJournal()
            journal.pace.mergeFrom = 20
            for _ in 0..<40 {
                #expect(journal.commit(play.batch()) == .committed(batch: play.number))
                play.setPace(&journal)
                if play.hasErased { while journal.maintain(budgetMilliseconds: 100) {} }
                if play.dice.chance(40) { _ = journal.maintain(budgetMilliseconds: Int(play.dice.roll(0...2))) }
                for _ in 0..<5 {
                    let question = play.question()
                    let page = reader.search(question)
                    let expected = play.expected(question)
                    #expect(page.failure == nil)
                    #expect(page.records.map(\.position) == expected, "seed \(seed): \(question)")
                    if page.records.map(\.position) != expected { return }
                }
            }
            try finish(&journal, play, scratch)
        }
    }

    private func finish(_ journal: inout Journal, _ play: SearchPlay, _ scratch: Scratch) throws {
        journal.pace.indexFrom = 1
        repeat {
            journal.erasesAt = 0
            journal.hasGone = true
            while journal.maintain(budgetMilliseconds: 100) {}
        } while journal.erasesAt != nil
        #expect(journal.maintenanceFailure == nil)
        #expect(try journal.ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check != 'ok'") == 0)
        #expect(try journal.ask("SELECT count(*) FROM search_gone") == 0)
        #expect(try journal.ask("SELECT count(*) FROM search_rows") == play.said.count)
        #expect(try journal.ask("SELECT total(count) FROM search_parts") == play.said.count)
        let files = try ["parley.db", "parley.db-wal"].map { try #require(scratch.contents($0)) }
        for word in play.goneWords {
            #expect(files.allSatisfy { $0.range(of: Data(word.utf8)) == nil }, "\(word)")
        }
        if let alive = play.said.values.first {
            #expect(files.contains { $0.range(of: Data(alive.mark.utf8)) != nil })
        }
    }
}

private struct SearchPlay {
    struct Said {
        var conversation: Conversation
        var uid: Int64
        var words: [String]
        /// A word that no other text has.
        var mark: String
    }

    var dice: Dice
    var number: Int64 = 0
    private var position: Int64 = 0
    private var marks = 0
    var said: [Int64: Said] = [:]
    var goneWords: [String] = []
    /// What an erased person said is there until its turn comes.
    var hasErased = false
    private var channels: [Int64] = [1, 2, 3]
    private let pair = Conversation.direct(UID(number: 11), UID(number: 12))

    init(seed: UInt64) { dice = Dice(seed: seed) }

    mutating func setPace(_ journal: inout Journal) {
        journal.pace.indexFrom = dice.chance(80) ? 1 : 1_000
        journal.pace.step = Int(dice.roll(1...40))
        journal.pace.searchPart = 60
        journal.pace.searchPages = Int(dice.roll(1...4))
        if journal.erasesAt != nil { journal.erasesAt = 0 }
    }

    mutating func batch() -> JournalBatch {
        number += 1
        hasErased = false
        var batch = JournalBatch(number: number)
        for _ in 0..<dice.roll(1...12) {
            position += dice.chance(5) ? 50 : 1
            batch.records.append(dice.chance(25) && !said.isEmpty ? change() : message())
        }
        if dice.chance(4) { batch.changes.append(drop()) }
        if dice.chance(3) { batch.changes.append(erase()) }
        return batch
    }

    private mutating func text() -> (words: [String], mark: String) {
        marks += 1
        let words = (0..<dice.roll(1...3)).map { _ in "w\(dice.roll(1...6))" }
        return (words, "mark\(marks)x")
    }

    private mutating func message() -> LogRecord {
        let conversation = dice.chance(20) ? pair : .channel(channels.randomElement(using: &dice)!)
        let (words, mark) = text()
        let uid = dice.roll(11...14)
        var record = LogRecord.sample(
            position, conversation, text: ByteString("\(words.joined(separator: " ")) \(mark)"))
        record.uid = UID(number: uid)
        record.source = "nick\(uid)!u@h"
        said[position] = Said(conversation: conversation, uid: uid, words: words, mark: mark)
        return record
    }

    private mutating func change() -> LogRecord {
        let at = said.keys.sorted().randomElement(using: &dice)!
        var old = said[at]!
        goneWords.append(old.mark)
        let isEdit = dice.chance(50)
        var record = LogRecord.sample(position, old.conversation, kind: isEdit ? .edit : .redact, text: "")
        record.counterpart = at
        record.uid = UID(number: old.uid)
        if isEdit {
            (old.words, old.mark) = text()
            record.text = ByteString("\(old.words.joined(separator: " ")) \(old.mark)")
            said[at] = old
        } else {
            said[at] = nil
        }
        return record
    }

    private mutating func drop() -> Change {
        let index = Int(dice.roll(0...2))
        let gone = channels[index]
        remove { $0.conversation == .channel(gone) }
        channels[index] = channels.max()! + 1
        return .dropChannel(id: gone)
    }

    private mutating func erase() -> Change {
        hasErased = true
        let uid = dice.roll(11...14)
        remove { $0.uid == uid }
        return .erase(UID(number: uid))
    }

    private mutating func remove(_ isGone: (Said) -> Bool) {
        for (at, one) in said where isGone(one) {
            goneWords.append(one.mark)
            said[at] = nil
        }
    }

    mutating func question() -> SearchQuestion {
        var question = SearchQuestion(number: 1, limit: Int(dice.roll(1...30)))
        for channel in channels where dice.chance(60) { question.places[.channel(channel)] = dice.roll(0...position) }
        if dice.chance(50) { question.direct = UID(number: dice.roll(11...13)) }
        if dice.chance(20) { question.places[pair] = 0 }
        question.text = ByteString((0..<dice.roll(0...2)).map { _ in "w\(dice.roll(1...6))" }.joined(separator: " "))
        if dice.chance(20) { question.author = .uid(UID(number: dice.roll(11...14))) }
        if dice.chance(20) { question.author = .nick(ByteString("nick\(dice.roll(11...14))")) }
        question.isForward = dice.chance(50)
        if dice.chance(30) { question.times = 1000 + dice.roll(0...position / 2)...1000 + position }
        return question
    }

    func expected(_ question: SearchQuestion) -> [Int64] {
        let wanted = question.text.description.split(separator: " ").map(String.init)
        let found = said.filter { at, one in
            let isBy =
                switch question.author {
                case .anyone: true
                case .uid(let uid): uid.number == one.uid
                case .nick(let nick): nick.description == "nick\(one.uid)"
                }
            return isBy && question.allows(one.conversation, at) && question.times.contains(1000 + at)
                && wanted.allSatisfy { one.words.contains($0) }
        }
        let positions = found.keys.sorted()
        return question.isForward ? Array(positions.prefix(question.limit)) : positions.suffix(question.limit)
    }
}
