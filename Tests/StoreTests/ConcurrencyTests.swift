import Bytes
import Chat
import Foundation
import Synchronization
import Testing

@testable import Store

/// Readers while the journal writes, merges and checkpoints: nothing missed, nothing twice.
@Suite struct ConcurrencyTests {
    private final class Shared: Sendable {
        /// Records committed so far in each of the three channels.
        let counts = Lock<[Int64]>([0, 0, 0])
        let isDone = Atomic<Bool>(false)
        let pages = Atomic<Int>(0)
        let problems = Lock<[String]>([])
    }

    @Test(.timeLimit(.minutes(1))) func readersSeeEveryRecordOnce() throws {
        let scratch = Scratch()
        let store = try Store.open(path: scratch.database, durability: .off)
        let readers = store.readers
        var journal = store.takeJournal()
        journal.pace.mergeFrom = 40
        journal.pace.step = 17
        journal.pace.checkpointPages = 20
        let shared = Shared()
        let group = DispatchGroup()
        for seed in UInt64(1)...2 {
            group.enter()
            Thread.detachNewThread {
                read(readers.make(), shared, seed)
                group.leave()
            }
        }
        var position: Int64 = 0
        var dice = Dice(seed: 99)
        // Until the readers have seen enough of the game, which they need processor time for.
        while position < 6_000 || shared.pages.load(ordering: .relaxed) < 200 {
            var counts = shared.counts.withLock { $0 }
            var records: [LogRecord] = []
            for _ in 0..<dice.roll(1...20) {
                position += 1
                let channel = dice.roll(0...2)
                counts[Int(channel)] += 1
                records.append(.sample(position, .channel(channel), text: "\(counts[Int(channel)])"))
            }
            guard case .committed = journal.commit(records) else { throw Unexpected() }
            let committed = counts
            shared.counts.withLock { $0 = committed }
            _ = journal.maintain(budgetMilliseconds: 0)
        }
        shared.isDone.store(true, ordering: .releasing)
        group.wait()
        #expect(journal.merge.merged > 0)
        #expect(shared.problems.withLock { $0 } == [])
    }

    private func read(_ reader: consuming Reader, _ shared: Shared, _ seed: UInt64) {
        var dice = Dice(seed: seed)
        while !shared.isDone.load(ordering: .acquiring) {
            let channel = dice.roll(0...2)
            let least = shared.counts.withLock { $0[Int(channel)] }
            var before: (position: Int64, number: Int64)?
            var pages = 0
            // Back through a few pages: each joins the one before without a gap.
            while pages < 5 {
                let selector: PageSelector = before.map { .before(.position($0.position)) } ?? .latest(after: nil)
                let question = HistoryQuestion(
                    number: 1, conversation: .channel(channel), selector: selector, limit: Int(dice.roll(1...60)))
                let page = reader.page(question)
                let numbers = page.records.compactMap { Int64($0.text.string) }
                var complaint = check(page, numbers, latest: before == nil ? least : nil)
                if complaint == nil, let before, numbers.last != before.number - 1 {
                    complaint = "after \(numbers.last ?? 0) came \(before.number)"
                }
                if let complaint { shared.problems.withLock { $0.append(complaint) } }
                pages += 1
                shared.pages.add(1, ordering: .relaxed)
                guard complaint == nil, !page.isComplete, let first = page.records.first else { break }
                before = (first.position, numbers[0])
            }
        }
    }

    private func check(_ page: HistoryPage, _ numbers: [Int64], latest: Int64?) -> String? {
        if let failure = page.failure { return failure }
        if let first = numbers.first, numbers != Array(first..<first + Int64(numbers.count)) {
            return "gap: \(numbers)"
        }
        if let latest, (numbers.last ?? 0) < latest { return "newest \(numbers.last ?? 0), committed \(latest)" }
        if page.isComplete != ((numbers.first ?? 1) == 1) {
            return "start: \(numbers.first ?? 0), \(page.isComplete)"
        }
        return nil
    }
}
