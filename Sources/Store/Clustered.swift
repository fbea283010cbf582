import Chat

/// The table `messages`, in which a conversation's messages, its events and its changes each lie together by
/// position.
/// A page costs one seek and its rows; a time costs a binary search of one seek a step (20 steps for a million).
struct Clustered: ~Copyable, Sendable {
    private let newest: Statement
    private let newestOfAuthor: Statement
    private let oldest: Statement
    private let atOrAfter: Statement
    private let atOrBefore: Statement

    init(_ database: borrowing Database) {
        let range = "FROM messages WHERE a = ?1 AND b = ?2 AND event = ?3 AND position"
        // Bit `kind` of `RecordKinds`.
        let wanted = "?6 >> kind & 1"
        newest = database.prepare(
            "SELECT \(RecordRow.columns) \(range) BETWEEN ?4 AND ?5 AND \(wanted) ORDER BY position DESC LIMIT ?7")
        // Who said nothing for so long is not looked for further.
        newestOfAuthor = database.prepare(
            """
            SELECT * FROM (SELECT \(RecordRow.columns) \(range) BETWEEN ?4 AND ?5 ORDER BY position DESC LIMIT 10000)
            WHERE \(wanted) AND uid = ?8 LIMIT ?7
            """)
        oldest = database.prepare(
            "SELECT \(RecordRow.columns) \(range) BETWEEN ?4 AND ?5 AND \(wanted) ORDER BY position LIMIT ?7")
        atOrAfter = database.prepare("SELECT position, time \(range) >= ?4 ORDER BY position LIMIT 1")
        atOrBefore = database.prepare("SELECT position, time \(range) <= ?4 ORDER BY position DESC LIMIT 1")
    }

    /// Up to `limit` of the window's records from the end it asks for, oldest first.
    func records(
        _ conversation: Conversation, _ window: Window, limit: Int
    ) throws(SQLiteFailure) -> [LogRecord] {
        let shelves = window.kinds.shelves
        if shelves.count == 1 { return try records(conversation, window, shelves[0], limit) }
        var all: [LogRecord] = []
        for shelf in shelves { all = merge(all, try records(conversation, window, shelf, limit)) }
        return Array(window.newestFirst ? all.suffix(limit) : all.prefix(limit))
    }

    private func records(
        _ conversation: Conversation, _ window: Window, _ shelf: Shelf, _ limit: Int
    ) throws(SQLiteFailure) -> [LogRecord] {
        let lower = try start(conversation, window, shelf)
        let upper = try end(conversation, window, shelf)
        guard lower <= upper else { return [] }
        if !window.newestFirst, window.author == .none {
            return try read(oldest, conversation, shelf, window.kinds, lower, upper, limit)
        }
        var records: [LogRecord]
        if window.author == .none {
            records = try read(newest, conversation, shelf, window.kinds, lower, upper, limit)
        } else {
            newestOfAuthor.bind(8, window.author.number)
            records = try read(newestOfAuthor, conversation, shelf, window.kinds, lower, upper, limit)
        }
        records.reverse()
        return records
    }

    private func read(
        _ statement: borrowing Statement, _ conversation: Conversation, _ shelf: Shelf, _ kinds: RecordKinds,
        _ lower: Int64, _ upper: Int64, _ limit: Int
    ) throws(SQLiteFailure) -> [LogRecord] {
        statement.bind([
            conversation.a, conversation.b, shelf.rawValue, lower, upper, Int64(bitPattern: kinds.rawValue),
            Int64(limit),
        ])
        defer { statement.reset() }
        var records: [LogRecord] = []
        records.reserveCapacity(min(limit, 128))
        while try statement.step() { records.append(try RecordRow.decode(statement, conversation)) }
        return records
    }

    private func start(_ conversation: Conversation, _ window: Window, _ shelf: Shelf) throws(SQLiteFailure) -> Int64 {
        if window.times.lowerBound == .min { return window.positions.lowerBound }
        return max(window.positions.lowerBound, try position(conversation, shelf, from: window.times.lowerBound))
    }

    private func end(_ conversation: Conversation, _ window: Window, _ shelf: Shelf) throws(SQLiteFailure) -> Int64 {
        if window.times.upperBound == .max { return window.positions.upperBound }
        let next = try position(conversation, shelf, from: window.times.upperBound + 1)
        return min(window.positions.upperBound, next == .max ? .max : next - 1)
    }

    /// The first position whose time is `time` or later; `Int64.max`: none.
    private func position(
        _ conversation: Conversation, _ shelf: Shelf, from time: Int64
    ) throws(SQLiteFailure) -> Int64 {
        guard let last = try seek(atOrBefore, conversation, shelf, .max), last.time >= time,
            let first = try seek(atOrAfter, conversation, shelf, .min)
        else { return .max }
        if first.time >= time { return first.position }
        var earlier = first.position
        var found = last.position
        var bound = found  // No row between `bound` and `found`.
        while earlier + 1 < bound {
            let middle = earlier + (bound - earlier) / 2
            guard let row = try seek(atOrAfter, conversation, shelf, middle) else { break }
            if row.time >= time {
                found = row.position
                bound = middle
            } else {
                earlier = row.position
            }
        }
        return found
    }

    private func seek(
        _ statement: borrowing Statement, _ conversation: Conversation, _ shelf: Shelf, _ position: Int64
    ) throws(SQLiteFailure) -> (position: Int64, time: Int64)? {
        statement.bind([conversation.a, conversation.b, shelf.rawValue, position])
        defer { statement.reset() }
        return try statement.step() ? (statement.integer(0), statement.integer(1)) : nil
    }

    /// Two lists in order of position as one.
    private func merge(_ one: [LogRecord], _ other: [LogRecord]) -> [LogRecord] {
        if one.isEmpty || other.isEmpty { return one + other }
        var both: [LogRecord] = []
        both.reserveCapacity(one.count + other.count)
        var rest = other[...]
        for record in one {
            while let next = rest.first, next.position < record.position {
                both.append(next)
                rest = rest.dropFirst()
            }
            both.append(record)
        }
        return both + rest
    }
}
