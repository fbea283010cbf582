import Bytes
import Chat
import Foundation
import Testing

@testable import Store

/// What is no longer to be kept goes: by age, by number, of the server and of channels, with pictures and index.
@Suite struct RetainingTests {
    let scratch = Scratch()

    private static let day: Int64 = 86_400

    private func open(now: Int64) throws -> Opened {
        var store = try Opened(scratch)
        store.journal.wall = { now }
        store.journal.pace.step = 7
        return store
    }

    /// One message an hour, the last one now.
    private func hourly(_ count: Int64, _ conversation: Conversation, from first: Int64 = 1, now: Int64) -> [LogRecord]
    {
        (0..<count).map {
            .sample(first + $0, conversation, time: now - (count - 1 - $0) * 3_600_000, text: "word n\(first + $0)x")
        }
    }

    private func positions(_ reader: inout Reader, _ conversation: Conversation) -> [Int64] {
        reader.latest(conversation).records.map(\.position)
    }

    @Test func byAgeAndAfterARestart() throws {
        let now = 400 * Self.day * 1000
        var store = try open(now: now)
        let pair = Conversation.direct(UID(number: 7), UID(number: 9))
        _ = store.journal.commit(hourly(48, .channel(1), now: now) + hourly(48, pair, from: 49, now: now))
        store.settle()
        #expect(positions(&store.reader, .channel(1)).count == 48)
        store.journal.retain(Retention(age: Self.day))
        store.settle()
        #expect(positions(&store.reader, .channel(1)) == Array(24...48))
        #expect(positions(&store.reader, pair) == Array(72...96))
        _ = consume store
        store = try open(now: now + 3_600_000)
        #expect(positions(&store.reader, .channel(1)) == Array(24...48))
        store.journal.retain(Retention(age: Self.day))
        store.settle()
        #expect(positions(&store.reader, .channel(1)) == Array(25...48))
    }

    @Test func byNumberWithWhatHappenedBetween() throws {
        let now: Int64 = 1_000_000_000
        var store = try open(now: now)
        var records: [LogRecord] = []
        for position in Int64(1)...60 {
            records.append(.sample(position, kind: position % 3 == 0 ? .join : .privmsg))
        }
        records += (61...63).map { .sample($0, .channel(2)) }
        _ = store.journal.commit(records)
        store.journal.retain(Retention(count: 10))
        store.settle()
        let left = store.reader.latest().records
        #expect(left.filter(\.kind.isMessage).map(\.position) == [46, 47, 49, 50, 52, 53, 55, 56, 58, 59])
        #expect(left.filter { !$0.kind.isMessage }.map(\.position) == [48, 51, 54, 57, 60])
        #expect(positions(&store.reader, .channel(2)) == [61, 62, 63])
    }

    @Test("A channel's own limits count where they are narrower, whatever the server's", arguments: [false, true])
    func ofAChannel(hasRestarted: Bool) throws {
        let now: Int64 = 10_000 * 3_600_000
        var store = try open(now: now)
        var states = (1...3).map { ChannelState(id: $0, name: "#c\($0)", created: 1, founder: UID(number: 7)) }
        states[0].retention = Retention(age: 5 * 3600)
        states[1].retention = Retention(count: 4)
        for state in states {
            _ = store.journal.commit(
                hourly(20, .channel(state.id), from: state.id * 100, now: now), [.saveChannel(state)])
        }
        if hasRestarted {
            _ = consume store
            store = try open(now: now)
        }
        store.settle()
        #expect(positions(&store.reader, .channel(1)) == Array(114...119))
        #expect(positions(&store.reader, .channel(2)) == Array(216...219))
        #expect(positions(&store.reader, .channel(3)) == Array(300...319))
        store.journal.retain(Retention(age: 10 * 3600, count: 3))
        store.settle()
        #expect(positions(&store.reader, .channel(1)) == Array(117...119))
        #expect(positions(&store.reader, .channel(2)) == Array(217...219))
        #expect(positions(&store.reader, .channel(3)) == Array(317...319))
        states[0].retention = Retention(count: 1)
        _ = store.journal.commit(JournalBatch(number: 900, changes: [.saveChannel(states[0])]))
        store.settle()
        #expect(positions(&store.reader, .channel(1)) == [119])
    }

    @Test func nothingOfItStaysInTheFiles() throws {
        let now: Int64 = 10_000 * 3_600_000
        var store = try open(now: now)
        store.journal.pace.indexFrom = 1
        store.journal.pace.searchPart = 16
        _ = store.journal.commit(hourly(100, .channel(1), now: now))
        store.settle()
        store.journal.retain(Retention(age: 50 * 3600))
        store.settle()
        store.journal.erasesAt = 0
        store.settle()
        let found = store.reader.search(SearchQuestion(number: 1, places: [.channel(1): 0], text: "word", limit: 200))
        #expect(found.records.map(\.position) == Array(50...100))
        let files = try ["parley.db", "parley.db-wal"].map { try #require(scratch.contents($0)) }
        for position in 1...49 { #expect(files.allSatisfy { $0.range(of: Data("n\(position)x".utf8)) == nil }) }
        for position in 50...100 { #expect(files.contains { $0.range(of: Data("n\(position)x".utf8)) != nil }) }
    }

    @Test("A round is made of small steps, and comes again only after its time") func steps() throws {
        let now: Int64 = 10_000 * 3_600_000
        var store = try open(now: now)
        _ = store.journal.commit(hourly(200, .channel(1), now: now))
        store.journal.retain(Retention(count: 100))
        var before = 200
        var mostAtOnce = 0
        while store.journal.maintain(budgetMilliseconds: 0) {
            let left = positions(&store.reader, .channel(1)).count
            mostAtOnce = max(mostAtOnce, before - left)
            before = left
        }
        #expect(before == 100)
        #expect(mostAtOnce <= 7)
        _ = store.journal.commit(hourly(50, .channel(1), from: 201, now: now))
        store.settle()
        #expect(positions(&store.reader, .channel(1)).count == 150)
        store.journal.pace.retainsAt = 0
        store.settle()
        #expect(positions(&store.reader, .channel(1)).count == 100)
    }
}
