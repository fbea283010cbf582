import Bytes
import Chat

/// Writing the search index, off the way of messages: rows are taken from `log` in order of position when enough have
/// gathered. It is divided into parts by position, each an FTS5 table. Deleting from FTS5 only notes that something is
/// gone; the words go when a part is merged into one piece, which costs as much as the part is large. A small part is
/// rewritten in a fraction of a second, in steps, wherever in a long history a text was deleted.
struct SearchStatements: ~Copyable, Sendable {
    fileprivate let unlisted: Statement
    fileprivate let listed: Statement
    fileprivate let list: Statement
    fileprivate let unlist: Statement
    fileprivate let save: Statement
    fileprivate let newestPart: Statement
    fileprivate let part: Statement
    fileprivate let addPart: Statement
    fileprivate let extendPart: Statement
    fileprivate let spoilPart: Statement
    fileprivate let spoilt: Statement
    fileprivate let setState: Statement
    fileprivate let emptyPart: Statement
    fileprivate let removePart: Statement
    fileprivate let gone: Statement
    fileprivate let forgetGone: Statement

    init(_ database: borrowing Database) {
        let said = "CASE WHEN kind < 10 THEN text ELSE '' END"
        unlisted = database.prepare(
            """
            SELECT position, a, b, time, uid, source, \(said) FROM log WHERE position > ?1 ORDER BY position LIMIT ?2
            """)
        listed = database.prepare(
            """
            SELECT r.position, r.a, r.b, m.time, m.uid, m.source, m.text FROM search_rows r
            JOIN messages m ON m.a = r.a AND m.b = r.b AND m.event = 0 AND m.position = r.position
            WHERE r.position > ?1 ORDER BY r.position LIMIT ?2
            """)
        list = database.prepare("INSERT OR IGNORE INTO search_rows (position, a, b, time) VALUES (?1, ?2, ?3, ?4)")
        unlist = database.prepare("DELETE FROM search_rows WHERE position = ?1")
        save = database.prepare("UPDATE meta SET indexed = ?1")
        newestPart = database.prepare("SELECT id, count FROM search_parts ORDER BY first DESC LIMIT 1")
        part = database.prepare("SELECT id FROM search_parts WHERE first <= ?1 ORDER BY first DESC LIMIT 1")
        addPart = database.prepare(
            "INSERT INTO search_parts (first, count, oldest, newest, state) VALUES (?1, 0, ?2, ?2, 0) RETURNING id")
        extendPart = database.prepare(
            """
            UPDATE search_parts SET count = count + ?2, oldest = min(oldest, ?3), newest = max(newest, ?4) WHERE id = ?1
            """)
        spoilPart = database.prepare("UPDATE search_parts SET count = count - 1, state = 1 WHERE id = ?1")
        spoilt = database.prepare("SELECT id, state FROM search_parts WHERE state != 0 ORDER BY id LIMIT 1")
        setState = database.prepare("UPDATE search_parts SET state = ?2 WHERE id = ?1")
        emptyPart = database.prepare(
            "SELECT id FROM search_parts WHERE count = 0 AND first < (SELECT max(first) FROM search_parts)")
        removePart = database.prepare("DELETE FROM search_parts WHERE id = ?1")
        gone = database.prepare(
            """
            SELECT g.position, g.a, g.b, g.time, g.uid, g.source, g.text, coalesce(
                (SELECT l.text FROM log l WHERE l.position = g.position),
                (SELECT m.text FROM messages m
                    WHERE m.a = g.a AND m.b = g.b AND m.event = 0 AND m.position = g.position), '')
            FROM search_gone g ORDER BY g.position LIMIT ?1
            """)
        forgetGone = database.prepare("DELETE FROM search_gone WHERE position = ?1")
    }
}

/// A message on its way into the index or out of it.
private struct SearchRow {
    var position: Int64
    var conversation: Conversation
    var time: Int64
    /// Empty: it is not in the index.
    var text: ByteString
    var marks: ByteString = ""

    /// position, a, b, time, uid, source, text
    init(_ row: borrowing Statement) {
        position = row.integer(0)
        conversation = Conversation(a: row.integer(1), b: row.integer(2))
        time = row.integer(3)
        text = row.bytes(6)
        if !text.isEmpty { marks = SearchText.marks(conversation, uid: row.integer(4), source: row.bytes(5)) }
    }
}

extension Writer {
    /// Messages in one part. At 131,072 it has some seven megabytes, merged in a tenth of a second.
    static let searchPart: Int64 = 131_072

    /// Indexes up to `rows` records behind `indexed`; up to where it came. What was there before there was an index is
    /// listed already.
    func index(after indexed: Int64, upTo last: Int64, rows: Int, part: Int64) throws(SQLiteFailure) -> Int64 {
        var next = last
        try transaction { () throws(SQLiteFailure) in
            var found = try searchRows(search.listed, after: indexed, rows)
            var hasMore = !found.isEmpty
            if found.isEmpty {
                found = try searchRows(search.unlisted, after: indexed, rows)
                hasMore = found.count == rows
            }
            if hasMore, let newest = found.last { next = newest.position }
            let said = found.filter { !$0.text.isEmpty }
            if let first = said.first { try add(said, to: openPart(from: first, capacity: part)) }
            try search.save.run(next)
        }
        return next
    }

    private func searchRows(
        _ statement: borrowing Statement, after indexed: Int64, _ rows: Int
    ) throws(SQLiteFailure) -> [SearchRow] {
        defer { statement.reset() }
        statement.bind([indexed, Int64(rows)])
        var found: [SearchRow] = []
        while try statement.step() { found.append(SearchRow(statement)) }
        return found
    }

    private func openPart(from row: SearchRow, capacity: Int64) throws(SQLiteFailure) -> Int64 {
        defer {
            search.newestPart.reset()
            search.addPart.reset()
        }
        if try search.newestPart.step(), search.newestPart.integer(1) < capacity { return search.newestPart.integer(0) }
        search.newestPart.reset()
        search.addPart.bind([row.position, row.time])
        guard try search.addPart.step() else { throw .finding("no new part of the search index") }
        let id = search.addPart.integer(0)
        search.addPart.reset()
        try database.execute("CREATE VIRTUAL TABLE search_\(id) USING fts5(\(SearchText.options))")
        return id
    }

    private func add(_ rows: [SearchRow], to part: Int64) throws(SQLiteFailure) {
        let insert = try database.prepareNow("INSERT INTO search_\(part) (rowid, text, marks) VALUES (?1, ?2, ?3)")
        for row in rows {
            try run(insert, row)
            try search.list.run(row.position, row.conversation.a, row.conversation.b, row.time)
        }
        try extend(part, by: rows)
    }

    private func extend(_ part: Int64, by rows: [SearchRow]) throws(SQLiteFailure) {
        let times = rows.map(\.time)
        try search.extendPart.run(part, Int64(rows.count), times.min() ?? 0, times.max() ?? 0)
    }

    private func run(_ statement: borrowing Statement, _ row: SearchRow) throws(SQLiteFailure) {
        statement.bind(1, row.position)
        statement.bind(2, SearchText.words(of: row.text))
        statement.bind(3, row.marks)
        try statement.run()
    }

    // MARK: What is gone

    /// Takes up to `rows` deleted and former texts (which triggers put into `search_gone`) out of their parts, and puts
    /// in what an edit made of them; whether there were any.
    func removeGone(rows: Int) throws(SQLiteFailure) -> Bool {
        var gone: [(SearchRow, present: ByteString)] = []
        search.gone.bind(1, Int64(rows))
        defer { search.gone.reset() }
        while try search.gone.step() { gone.append((SearchRow(search.gone), search.gone.bytes(7))) }
        search.gone.reset()
        if gone.isEmpty { return false }
        try transaction { () throws(SQLiteFailure) in
            for (row, present) in gone { try replace(row, by: present) }
        }
        return true
    }

    private func replace(_ row: SearchRow, by present: ByteString) throws(SQLiteFailure) {
        try search.forgetGone.run(row.position)
        guard let part = try part(of: row.position) else { return }
        let delete = try database.prepareNow(
            "INSERT INTO search_\(part) (search_\(part), rowid, text, marks) VALUES ('delete', ?1, ?2, ?3)")
        try run(delete, row)
        try search.spoilPart.run(part)
        if present.isEmpty { return try search.unlist.run(row.position) }
        var row = row
        row.text = present
        try add([row], to: part)
    }

    private func part(of position: Int64) throws(SQLiteFailure) -> Int64? {
        defer { search.part.reset() }
        search.part.bind(1, position)
        return try search.part.step() ? search.part.integer(0) : nil
    }

    /// One step of merging a part from which something was deleted, after which no word of it is left; false: there is
    /// none. `pages`: how much, about.
    func tidySearch(pages: Int) throws(SQLiteFailure) -> Bool {
        if let part = try row(search.emptyPart)?.id {
            try transaction { () throws(SQLiteFailure) in
                try database.execute("DROP TABLE search_\(part)")
                try search.removePart.run(part)
            }
            return true
        }
        guard let (part, state) = try row(search.spoilt) else { return false }
        try transaction { () throws(SQLiteFailure) in
            let before = database.totalChanges
            // A negative number begins, as if all of the table were to be merged (FTS5, the 'merge' command).
            try database.execute(
                "INSERT INTO search_\(part) (search_\(part), rank) VALUES ('merge', \(state == 1 ? -pages : pages))")
            let isDone = state != 1 && database.totalChanges - before < 2
            try search.setState.run(part, isDone ? 0 : 2)
        }
        return true
    }

    private func row(_ statement: borrowing Statement) throws(SQLiteFailure) -> (id: Int64, state: Int64)? {
        defer { statement.reset() }
        return try statement.step() ? (statement.integer(0), statement.integer(1)) : nil
    }
}
