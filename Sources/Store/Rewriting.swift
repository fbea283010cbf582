import Chat

/// Edits and redactions reach into what is written: the message's row changes in the transaction of the record that
/// says so. A row that has moved but is not removed yet lies in both tables.
struct RewriteStatements: ~Copyable, Sendable {
    private let editLog: Statement
    private let editMessages: Statement
    private let redactLog: Statement
    private let redactMessages: Statement
    private let dropImage: Statement

    init(_ database: borrowing Database) {
        let log = "WHERE position = ?1 AND a = ?2 AND b = ?3"
        let messages = "WHERE a = ?2 AND b = ?3 AND event IN (0, 1) AND position = ?1"
        let edit = "SET counterpart = ?4, text = ?5"
        let redact = "SET counterpart = ?4, text = '', tags = ''"
        editLog = database.prepare("UPDATE log \(edit) \(log)")
        editMessages = database.prepare("UPDATE messages \(edit) \(messages)")
        redactLog = database.prepare("UPDATE log \(redact) \(log)")
        redactMessages = database.prepare("UPDATE messages \(redact) \(messages)")
        dropImage = database.prepare("DELETE FROM images WHERE position = ?1 AND a = ?2 AND b = ?3")
    }

    /// Nothing for what is neither an edit nor a redaction.
    func apply(_ record: LogRecord) throws(SQLiteFailure) {
        switch record.kind {
        case .edit:
            try run(editLog, record)
            try run(editMessages, record)
        case .redact:
            try run(redactLog, record)
            try run(redactMessages, record)
            try dropImage.run(record.counterpart, record.conversation.a, record.conversation.b)
        default: break
        }
    }

    private func run(_ statement: borrowing Statement, _ record: LogRecord) throws(SQLiteFailure) {
        statement.bind([record.counterpart, record.conversation.a, record.conversation.b, record.position])
        if record.kind == .edit { statement.bind(5, record.text) }
        try statement.run()
    }
}
