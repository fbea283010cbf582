import Bytes
import Chat

/// How a record lies in a row; the same columns in `log` and `messages`.
enum RecordRow {
    static let columns = "position, time, kind, uid, source, account, name, tags, text, counterpart"

    static let insert = """
        INSERT INTO log (\(columns), a, b) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
        """

    /// Runs the prepared `insert`.
    static func insert(_ record: LogRecord, by statement: borrowing Statement) throws(SQLiteFailure) {
        statement.bind(1, record.position)
        statement.bind(2, record.time)
        statement.bind(3, Int64(record.kind.rawValue))
        statement.bind(4, record.uid.number)
        statement.bind(10, record.counterpart)
        statement.bind(11, record.conversation.a)
        statement.bind(12, record.conversation.b)
        let text = record.kind == .edit ? "" : record.text
        let code = record.source.withView { source in
            record.account.withView { account in
                record.name.withView { name in
                    record.tags.withView { tags in
                        text.withView { text in
                            statement.bindInPlace(5, source)
                            statement.bindInPlace(6, account)
                            statement.bindInPlace(7, name)
                            statement.bindInPlace(8, tags)
                            statement.bindInPlace(9, text)
                            return statement.stepOnce()
                        }
                    }
                }
            }
        }
        _ = try statement.hasRow(code)
        statement.reset()
    }

    static func decode(
        _ statement: borrowing Statement, _ conversation: Conversation
    ) throws(SQLiteFailure) -> LogRecord {
        let number = statement.integer(2)
        guard let kind = UInt8(exactly: number).flatMap(RecordKind.init(rawValue:)) else {
            throw .finding("record of unknown kind \(number)")
        }
        return LogRecord(
            position: statement.integer(0), conversation: conversation, time: statement.integer(1), kind: kind,
            uid: UID(number: statement.integer(3)), source: statement.bytes(4), account: statement.bytes(5),
            name: statement.bytes(6), tags: statement.bytes(7), text: statement.bytes(8),
            counterpart: statement.integer(9))
    }
}
