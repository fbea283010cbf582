import Chat

/// How far the move from `log` to `messages` has come. A round moves everything up to `target`, conversation by
/// conversation in the order of `messages`, so that a small step is as cheap per row as a large one: the rows of one
/// conversation go to the same pages.
struct MergeState: Equatable {
    /// Every record up to here has moved.
    var merged: Int64 = 0
    /// What the present round moves; equal to `merged` between rounds.
    var target: Int64 = 0
    /// The last conversation the round has touched, and up to where it has moved.
    var cursor = Conversation(a: 0, b: 0)
    var moved: Int64 = 0

    static let select = "SELECT merged, target, a, b, moved FROM meta"

    /// One row of `select`, which is left reset.
    init(_ row: borrowing Statement) throws(SQLiteFailure) {
        defer { row.reset() }
        guard try row.step() else { throw .finding("meta is empty") }
        merged = row.integer(0)
        target = row.integer(1)
        cursor = Conversation(a: row.integer(2), b: row.integer(3))
        moved = row.integer(4)
    }

    var isBetweenRounds: Bool { target == merged }

    /// Up to where this conversation's records lie in `messages`.
    func moved(_ conversation: Conversation) -> Int64 {
        if isBetweenRounds { return merged }
        if conversation == cursor { return moved }
        return (conversation.a, conversation.b) < (cursor.a, cursor.b) ? target : merged
    }

    mutating func begin(target: Int64) {
        self.target = target
        cursor = Conversation(a: .min, b: .min)
        moved = merged
    }

    mutating func end() { merged = target }
}

struct MergeStatements: ~Copyable, Sendable {
    let move: Statement
    let save: Statement
    let oldest: Statement
    let removeMoved: Statement
    let deleteHistory: Statement
    let forgetDropped: Statement

    init(_ database: borrowing Database) {
        move = database.prepare(
            """
            INSERT INTO messages (\(RecordRow.columns), a, b, event)
            SELECT \(RecordRow.columns), a, b, (kind >= 10) + (kind >= 30) FROM log WHERE position = ?1
            """)
        save = database.prepare(
            "UPDATE meta SET position = ?1, time = ?2, merged = ?3, target = ?4, a = ?5, b = ?6, moved = ?7")
        oldest = database.prepare("SELECT min(position) FROM log")
        removeMoved = database.prepare("DELETE FROM log WHERE position <= ?1")
        deleteHistory = database.prepare(
            """
            DELETE FROM messages WHERE a = ?1 AND b = 0 AND event = ?2 AND position < coalesce(
                (SELECT position FROM messages WHERE a = ?1 AND b = 0 AND event = ?2 ORDER BY position
                    LIMIT 1 OFFSET ?3), 9223372036854775807)
            """)
        forgetDropped = database.prepare("DELETE FROM dropped WHERE channel = ?1")
    }
}

extension Writer {
    /// Moves these rows and keeps the state that says so; also the highest `position` and newest `time`, as the rows
    /// that prove them may be gone by the next start.
    func move(
        _ positions: [Int64], _ state: MergeState, position: Int64, time: Int64
    ) throws(SQLiteFailure) {
        try transaction { () throws(SQLiteFailure) in
            for position in positions { try merge.move.run(position) }
            try merge.save.run(
                position, time, state.merged, state.target, state.cursor.a, state.cursor.b, state.moved)
        }
    }

    /// Removes up to about `rows` rows that have moved, up to `merged`; whether more are there.
    func removeMoved(upTo merged: Int64, rows: Int64) throws(SQLiteFailure) -> Bool {
        defer { merge.oldest.reset() }
        guard try merge.oldest.step(), !merge.oldest.isNull(0), merge.oldest.integer(0) <= merged else { return false }
        let end = min(merged, merge.oldest.integer(0) + rows - 1)
        merge.oldest.reset()
        try transaction { () throws(SQLiteFailure) in try merge.removeMoved.run(end) }
        return true
    }

    /// Deletes up to `rows` messages, as many events and as many changes; whether that was all of the channel.
    func deleteHistory(_ channel: Int64, rows: Int64) throws(SQLiteFailure) -> Bool {
        var isDone = true
        try transaction { () throws(SQLiteFailure) in
            for shelf in Shelf.allCases {
                try merge.deleteHistory.run(channel, shelf.rawValue, rows)
                if database.changes >= rows { isDone = false }
            }
        }
        return isDone
    }

    func forgetDropped(_ channel: Int64) throws(SQLiteFailure) {
        try transaction { () throws(SQLiteFailure) in try merge.forgetDropped.run(channel) }
    }
}
