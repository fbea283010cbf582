import Bytes
import Chat
import Glibc

/// A channel whose history is still to be deleted. Ids are never used again, so nobody can ask for it.
struct DroppedChannel: Equatable {
    var id: Int64
    /// Its records have lower or equal positions.
    var position: Int64
}

/// When housekeeping is worth its cost. Rows, pages of 4 KB.
struct MaintenancePace {
    /// Larger steps touch fewer pages per row: 16,384 rows over 500 conversations are 33 neighbours each.
    var mergeFrom: Int64 = 16_384
    var largestStep: Int64 = 16_384
    var smallestStep: Int64 = 1_024
    /// Beyond these the caller should not wait for an idle moment.
    var hurryRows: Int64 = 65_536
    var hurryPages = 8_192
    var checkpointPages = 2_048
    var deleteStep: Int64 = 2_048
    /// Measured: how long a row of a merge takes.
    var nanosecondsPerRow: Int64 = 4_000
    /// No new attempt before this moment after a failure.
    var resumeAt: Int64 = 0

    func step(nanoseconds: Int64) -> Int64 { min(largestStep, max(smallestStep, nanoseconds / nanosecondsPerRow)) }
}

struct MergeStatements: ~Copyable, Sendable {
    let oldest: Statement
    let move: Statement
    let remove: Statement
    let deleteHistory: Statement
    let forgetDropped: Statement

    init(_ database: borrowing Database) {
        oldest = database.prepare("SELECT min(position) FROM log")
        move = database.prepare(
            """
            INSERT INTO messages (\(RecordRow.columns), a, b, event)
            SELECT \(RecordRow.columns), a, b, kind >= 10 FROM log
            WHERE position <= ?1 AND NOT (b = 0 AND a IN (SELECT channel FROM dropped))
            ORDER BY a, b, kind >= 10, position
            """)
        remove = database.prepare("DELETE FROM log WHERE position <= ?1")
        deleteHistory = database.prepare(
            """
            DELETE FROM messages WHERE a = ?1 AND b = 0 AND event = ?2 AND position < coalesce(
                (SELECT position FROM messages WHERE a = ?1 AND b = 0 AND event = ?2 ORDER BY position
                    LIMIT 1 OFFSET ?3), 9223372036854775807)
            RETURNING 1
            """)
        forgetDropped = database.prepare("DELETE FROM dropped WHERE channel = ?1")
    }
}

extension Writer {
    /// Moves the oldest `rows` rows of the log; the position up to which all have moved now. The highest `position` and
    /// newest `time` are kept too: the rows that prove them may be gone by the next start.
    func merge(rows: Int64, position: Int64, time: Int64) throws(SQLiteFailure) -> Int64 {
        var end = position
        try transaction { () throws(SQLiteFailure) in
            if try merge.oldest.step(), !merge.oldest.isNull(0) { end = min(end, merge.oldest.integer(0) + rows - 1) }
            merge.oldest.reset()
            try merge.move.run(end)
            try merge.remove.run(end)
            try set("merged", end)
            try set("position", position)
            try set("time", time)
        }
        return end
    }

    /// Deletes up to `rows` messages and as many events; whether that was all of the channel.
    func deleteHistory(_ channel: Int64, rows: Int64) throws(SQLiteFailure) -> Bool {
        var isDone = true
        try transaction { () throws(SQLiteFailure) in
            for event in Int64(0)...1 {
                var deleted: Int64 = 0
                merge.deleteHistory.bind([channel, event, rows])
                while try merge.deleteHistory.step() { deleted += 1 }
                merge.deleteHistory.reset()
                if deleted >= rows { isDone = false }
            }
            if isDone { try merge.forgetDropped.run(channel) }
        }
        return isDone
    }
}

extension Journal {
    private var backlog: Int64 { lastPosition - merged }
    /// A dropped channel still has rows in the log.
    private var mergesForDropped: Bool { dropped.contains { $0.position > merged } }
    private var logPages: Int {
        switch writer {
        case .some(let writer): writer.logPages
        case .none: 0
        }
    }
    private var isResting: Bool { pace.resumeAt > 0 && Clock.nanoseconds < pace.resumeAt }

    /// The tail or the write-ahead log is long: `maintain` now, also under load.
    package var mustMaintain: Bool {
        (backlog >= pace.hurryRows || logPages >= pace.hurryPages) && !isResting
    }

    /// Moves rows to their conversations, deletes history of dropped channels, shortens the write-ahead log; one
    /// transaction is the smallest step, so the budget may be passed by one. True: more is to do.
    package mutating func maintain(budgetMilliseconds: Int) -> Bool {
        if isResting { return false }
        let end = Clock.nanoseconds + Int64(budgetMilliseconds) * 1_000_000
        do throws(SQLiteFailure) {
            try openWriter()
            repeat {
                guard try maintainOnce(nanoseconds: end - Clock.nanoseconds) else {
                    maintenanceFailure = nil
                    return false
                }
            } while Clock.nanoseconds < end
            maintenanceFailure = nil
            return true
        } catch {
            giveUpWriter(after: error)
            maintenanceFailure = error.description
            pace.resumeAt = Clock.nanoseconds + 1_000_000_000
            return false
        }
    }

    /// One step; false: there was nothing to do.
    private mutating func maintainOnce(nanoseconds: Int64) throws(SQLiteFailure) -> Bool {
        if backlog >= pace.mergeFrom || mergesForDropped {
            try mergeStep(rows: pace.step(nanoseconds: nanoseconds))
            return true
        }
        if let channel = dropped.first {
            try deleteHistoryStep(channel)
            return true
        }
        guard logPages >= pace.checkpointPages else { return false }
        // Not all when a reader still looks at an older state; the next round takes the rest.
        _ = try writer!.checkpoint()
        return false
    }

    /// Moves the oldest `rows` rows of the log.
    mutating func mergeStep(rows: Int64) throws(SQLiteFailure) {
        let began = Clock.nanoseconds
        let from = merged
        merged = try writer!.merge(rows: rows, position: lastPosition, time: lastTime)
        tail.trim(upTo: merged)
        pace.nanosecondsPerRow = max(500, (Clock.nanoseconds - began) / max(merged - from, 1))
    }

    private mutating func deleteHistoryStep(_ channel: DroppedChannel) throws(SQLiteFailure) {
        if try writer!.deleteHistory(channel.id, rows: pace.deleteStep) { dropped.removeFirst() }
    }
}

enum Clock {
    /// Monotonic.
    static var nanoseconds: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}
