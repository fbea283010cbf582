import Bytes
import Chat

/// What authors call their messages, kept for about a day.
struct SentStatements: ~Copyable, Sendable {
    private let note: Statement
    private let forget: Statement

    init(_ database: borrowing Database) {
        note = database.prepare(
            "INSERT OR REPLACE INTO sent (uid, a, b, position, time, cid) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        forget = database.prepare(
            "DELETE FROM sent WHERE id IN (SELECT id FROM sent ORDER BY id LIMIT ?1) AND time < ?2")
    }

    func apply(_ record: LogRecord) throws(SQLiteFailure) {
        if record.cid.isEmpty { return }
        note.bind([record.uid.number, record.conversation.a, record.conversation.b, record.position, record.time])
        note.bind(6, record.cid)
        try note.run()
    }

    /// The oldest `rows`, as far as they are older than this.
    func forget(_ rows: Int64, olderThan time: Int64) throws(SQLiteFailure) { try forget.run(rows, time) }
}

extension Writer {
    /// Whether there may be more.
    func forgetSent(rows: Int64, olderThan time: Int64) throws(SQLiteFailure) -> Bool {
        try transaction { () throws(SQLiteFailure) in try sent.forget(rows, olderThan: time) }
        return database.changes >= rows
    }
}

/// Looks them up.
struct SentReading: ~Copyable, Sendable {
    private let rows: Statement

    init(_ database: borrowing Database) {
        rows = database.prepare(
            "SELECT a, b, position, time FROM sent WHERE uid = ?1 AND cid = ?3 AND time >= ?2 ORDER BY position")
    }

    func answer(_ question: SentQuestion) throws(SQLiteFailure) -> SentAnswer {
        defer { rows.reset() }
        rows.bind([question.uid.number, question.since])
        rows.bind(3, question.cid)
        var answer = SentAnswer(number: question.number, sent: [])
        while try rows.step() {
            answer.sent.append(
                SentMessage(
                    conversation: Conversation(a: rows.integer(0), b: rows.integer(1)), position: rows.integer(2),
                    time: rows.integer(3)))
        }
        return answer
    }
}
