import CSQLite
import Foundation
import Testing

@testable import Store

/// What SQLite leaves in unused parts of pages is blanked on its way to the file, and nothing else is.
@Suite struct ScrubbingTests {
    let scratch = Scratch()

    private func middle(_ bytes: [UInt8], count: Int = 512, isFirst: Bool = false) -> Range<Int>? {
        let page = [UInt8](repeating: 0, count: isFirst ? 100 : 0) + bytes
        let whole = page + [UInt8](repeating: 0xFF, count: count - page.count)
        return whole.withUnsafeBytes { Scrubbing.middle(of: $0, isFirst: isFirst) }
    }

    @Test func betweenThePointersAndTheCells() {
        #expect(middle([13, 0, 0, 0, 3, 1, 0, 0]) == 14..<256)
        #expect(middle([10, 0, 0, 0, 0, 2, 0, 0]) == 8..<512)
        #expect(middle([5, 0, 0, 0, 3, 1, 0, 0]) == 18..<256)
        #expect(middle([2, 0, 0, 0, 3, 1, 0, 0]) == 18..<256)
        #expect(middle([13, 0, 0, 0, 3, 1, 0, 0], isFirst: true) == 114..<256)
        #expect(middle([13, 0, 0, 0, 1, 0, 0, 0], count: 65_536) == 10..<65_536)
    }

    @Test("What is no page of cells, or has no room, is left alone") func nothing() {
        #expect(middle([0, 0, 0, 7, 3, 1, 0, 0]) == nil)
        #expect(middle([1, 0, 0, 7, 3, 1, 0, 0]) == nil)
        #expect(middle([13, 0, 0, 0, 3, 0, 14, 0]) == nil)
        #expect(middle([13, 0, 0, 0, 3, 2, 1, 0]) == nil, "beyond the page")
        #expect(middle([13, 0, 0, 0, 3, 0, 0, 0]) == nil, "65,536 in a smaller page")
        #expect(middle([13, 0, 0, 255, 255, 1, 0, 0]) == nil)
        #expect(middle([13, 0, 0, 0, 3, 1, 0, 0], count: 500) == nil, "no size of a page")
    }

    @Test func largeFilesAreLeftAlone() {
        #expect(Scrubbing.hasSmallNumbers(128 << 30 - 4096, pageSize: 4096))
        #expect(!Scrubbing.hasSmallNumbers(128 << 30, pageSize: 4096))
    }

    /// Through the layer alone, so that also what Parley would not do is tried.
    @Test(arguments: [512, 1024, 4096, 65_536], ["NONE", "FULL", "INCREMENTAL"])
    func theFileStaysSound(pageSize: Int, vacuum: String) throws {
        var dice = Dice(seed: UInt64(pageSize))
        var gone: [Int64] = []
        var kept: [Int64] = []
        let layer = try #require(Scrubbing.layer)
        for round in 0..<3 {
            var db: OpaquePointer?
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            try #require(sqlite3_open_v2(scratch.database, &db, flags, layer) == SQLITE_OK)
            defer { sqlite3_close(db) }
            func run(_ sql: String) throws {
                try #require(sqlite3_exec(db, sql, nil, nil, nil) == SQLITE_OK, "\(sql.prefix(80))")
            }
            if round == 0 { try run("PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(vacuum)") }
            try run("PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON; PRAGMA synchronous = OFF")
            try run("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, place INTEGER, text TEXT)")
            try run("CREATE INDEX IF NOT EXISTS i ON t (place, text)")
            for step in 0..<120 {
                if dice.chance(55) || kept.isEmpty {
                    let id = Int64(round * 1000 + step + 1)
                    let filler = dice.chance(10) ? 3 * pageSize : Int(dice.roll(0...Int64(pageSize / 3)))
                    let text = "<\(id)-secret>\(String(repeating: "x", count: filler))<\(id)-end>"
                    try run("INSERT INTO t VALUES (\(id), \(dice.roll(1...9)), '\(text)')")
                    kept.append(id)
                } else {
                    let id = kept.remove(at: Int(dice.roll(0...Int64(kept.count - 1))))
                    try run("DELETE FROM t WHERE id = \(id)")
                    gone.append(id)
                }
                if dice.chance(5) { try run("PRAGMA wal_checkpoint(PASSIVE)") }
            }
            if vacuum == "INCREMENTAL" { try run("PRAGMA incremental_vacuum(7)") }
            try run("PRAGMA wal_checkpoint(TRUNCATE)")
            try run("PRAGMA shrink_memory")
            try check(db)
            if vacuum == "NONE" { try expectGone(gone) }
        }
    }

    private func check(_ db: OpaquePointer?) throws {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        try #require(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, nil) == SQLITE_OK)
        try #require(sqlite3_step(statement) == SQLITE_ROW)
        #expect(String(cString: sqlite3_column_text(statement, 0)) == "ok")
    }

    private func expectGone(_ ids: [Int64]) throws {
        let file = try #require(scratch.contents("parley.db"))
        for id in ids {
            #expect(file.range(of: Data("<\(id)-secret>".utf8)) == nil, "\(id)")
            #expect(file.range(of: Data("<\(id)-end>".utf8)) == nil, "\(id)")
        }
    }
}
