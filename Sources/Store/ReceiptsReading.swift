import Chat

/// Who got and who has read a message: marks are high-water marks, so that a message is compared with them.
struct ReceiptsReading: ~Copyable, Sendable {
    private let members: Statement
    private let person: Statement

    init(_ database: borrowing Database) {
        let marks = """
            LEFT JOIN delivered d ON d.uid = m.uid
            LEFT JOIN read_marks r ON r.uid = m.uid AND r.a = ?1 AND r.b = ?2
            WHERE m.uid != ?5 AND NOT EXISTS (
                SELECT 1 FROM metadata WHERE kind = 1 AND owner = m.uid AND key = 'parley.chat/receipts'
                    AND value = 'off')
                AND (coalesce(d.position, 0) >= ?3 OR coalesce(r.time, 0) >= ?4)
            """
        let columns = "m.uid, coalesce(r.time, 0) >= ?4, coalesce(r.time, 0), coalesce(d.time, 0)"
        members = database.prepare(
            "SELECT \(columns) FROM members m \(marks) AND m.channel = ?1 AND m.present = 1 AND m.joined <= ?3 ORDER BY m.uid LIMIT ?6"
        )
        person = database.prepare("SELECT \(columns) FROM (SELECT ?6 AS uid) m \(marks)")
    }

    func receipts(_ question: ReceiptsQuestion, of message: LogRecord) throws(SQLiteFailure) -> [Receipt] {
        let conversation = question.conversation
        let values = [conversation.a, conversation.b, message.position, message.time, question.author.number]
        if !conversation.isDirect { return try read(members, values + [Int64(question.limit)]) }
        let other = conversation.a == question.author.number ? conversation.b : conversation.a
        return try read(person, values + [other])
    }

    private func read(_ statement: borrowing Statement, _ values: [Int64]) throws(SQLiteFailure) -> [Receipt] {
        defer { statement.reset() }
        statement.bind(values)
        var receipts: [Receipt] = []
        while try statement.step() {
            let isRead = statement.integer(1) != 0
            receipts.append(
                Receipt(
                    uid: UID(number: statement.integer(0)), isRead: isRead,
                    time: isRead ? statement.integer(2) : statement.integer(3)))
        }
        return receipts
    }
}
