import Bytes
import Chat
import Foundation
import Testing

@testable import Store

/// A real disk that fills up: a small tmpfs. Needs root, as CI has; the limit of the file in JournalTests needs
/// nothing.
@Suite(.enabled(if: getuid() == 0)) struct FullDiskTests {
    @Test(arguments: [false, true]) func batchesAreRefusedWholeUntilThereIsRoom(merging: Bool) throws {
        let scratch = Scratch()
        try #require(mount("tmpfs", scratch.path, "tmpfs", 0, "size=6m") == 0)
        defer { umount2(scratch.path, 2) }
        let store = try Store.open(path: scratch.database, durability: .full)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        if merging {
            journal.pace.mergeFrom = 100
            journal.pace.checkpointPages = 50
        }
        var stored: [LogRecord] = []
        var position: Int64 = 0
        func batch() -> JournalBatch {
            let text = ByteString([UInt8](repeating: 0x61, count: 300))
            return JournalBatch(
                number: position,
                records: (1...50).map { .sample(position + $0, .channel((position + $0) % 7), text: text) })
        }
        func fillUp() throws {
            for _ in 0..<2000 {
                let next = batch()
                guard case .committed = journal.commit(next) else { return }
                stored += next.records
                position += 50
                if merging { _ = journal.maintain(budgetMilliseconds: 1) }
            }
            throw Unexpected()
        }
        func readAll() -> [LogRecord] {
            (0..<7).flatMap { reader.latest(.channel($0), limit: 100_000).records }.sorted { $0.position < $1.position }
        }
        try fillUp()
        #expect(journal.probe() == false)
        #expect(readAll() == stored)

        try #require(mount("tmpfs", scratch.path, "tmpfs", UInt(MS_REMOUNT), "size=40m") == 0)
        #expect(journal.probe() == true)
        for _ in 0..<10 {
            let next = batch()
            #expect(journal.commit(next) == .committed(batch: position))
            stored += next.records
            position += 50
        }
        journal.pace.resumeAt = 0
        try journal.mergeAll()
        #expect(readAll() == stored)
    }
}
