import Bytes
import Chat

/// Reading the search index. What is not in it yet, or not as it is now, is put into an index in memory for each
/// question, so that the same words are found in the same way wherever a message lies.
struct SearchReading: ~Copyable, Sendable {
    fileprivate let parts: Statement
    fileprivate let tail: Statement
    fileprivate let changed: Statement
    fileprivate let clear: Statement
    fileprivate let insert: Statement
    fileprivate let match: Statement
    fileprivate let matchForward: Statement

    /// Before the statements: the table that they are about is the connection's own, and in memory.
    static func prepare(_ database: borrowing Database) throws(SQLiteFailure) {
        try database.execute("PRAGMA temp_store = MEMORY")
        try database.execute("CREATE VIRTUAL TABLE temp.search_fresh USING fts5(\(SearchText.options))")
    }

    init(_ database: borrowing Database) {
        parts = database.prepare(
            "SELECT id FROM search_parts WHERE newest >= ?1 AND oldest <= ?2 AND first <= ?3 ORDER BY first")
        tail = database.prepare(
            """
            SELECT position, a, b, uid, source, text FROM log
            WHERE position > (SELECT indexed FROM meta) AND kind < 10 AND text != '' AND time BETWEEN ?1 AND ?2
            """)
        changed = database.prepare("SELECT position, a, b FROM search_gone")
        clear = database.prepare("INSERT INTO temp.search_fresh (search_fresh) VALUES ('delete-all')")
        insert = database.prepare("INSERT INTO temp.search_fresh (rowid, text, marks) VALUES (?1, ?2, ?3)")
        let found = "SELECT rowid FROM temp.search_fresh WHERE search_fresh MATCH ?1 ORDER BY rowid"
        match = database.prepare("\(found) DESC LIMIT ?2")
        matchForward = database.prepare("\(found) LIMIT ?2")
    }
}

/// A search under way: what it may still cost, and what it found.
private struct Search {
    struct Hit {
        var position: Int64
        var conversation: Conversation
    }

    let question: SearchQuestion
    let expression: ByteString
    let end: Int64
    /// Where the messages stand that are looked at apart from the index.
    var fresh: [Int64: Conversation] = [:]
    /// Messages that the index does not know as they are.
    var changed: Set<Int64> = []
    var hits: [Hit] = []

    /// One more than the page holds tells that there is another page.
    var wanted: Int { question.limit + 1 }

    func checkTime() throws(SQLiteFailure) {
        if Clock.nanoseconds > end { throw .finding(SearchQuestion.tooMuch) }
    }
}

extension History {
    /// `budget`: nanoseconds.
    func search(_ question: SearchQuestion, budget: Int64) throws(SQLiteFailure) -> Slice {
        defer { database.rollBack() }
        try begin.run()
        var search = Search(
            question: question, expression: SearchText.expression(question), end: Clock.nanoseconds + budget)
        try searchFresh(&search)
        let fresh = search.hits
        search.hits = []
        for part in try searchParts(question) where search.hits.count < search.wanted {
            try searchPart(part, &search)
        }
        let found = (fresh + search.hits).sorted {
            question.isForward ? $0.position < $1.position : $0.position > $1.position
        }
        var records: [LogRecord] = []
        for hit in found.prefix(search.wanted) {
            if let record = try record(hit.position, hit.conversation) { records.append(record) }
        }
        if !question.isForward { records.reverse() }
        var slice = Slice(records, limit: question.limit, newestFirst: !question.isForward)
        try findCounterparts(&slice)
        try commit.run()
        return slice
    }

    /// In the order in which they are to be looked through.
    private func searchParts(_ question: SearchQuestion) throws(SQLiteFailure) -> [Int64] {
        defer { searching.parts.reset() }
        searching.parts.bind([question.times.lowerBound, question.times.upperBound, question.newest])
        var parts: [Int64] = []
        while try searching.parts.step() { parts.append(searching.parts.integer(0)) }
        return question.isForward ? parts : parts.reversed()
    }

    /// The index leaps from hit to hit in the order that is wanted; each is a seek of `search_rows`.
    private func searchPart(_ part: Int64, _ search: inout Search) throws(SQLiteFailure) {
        let question = search.question
        let rows = try database.prepareNow(
            """
            SELECT r.position, r.a, r.b FROM search_\(part) CROSS JOIN search_rows r ON r.position = search_\(part).rowid
            WHERE search_\(part) MATCH ?1 AND r.time BETWEEN ?2 AND ?3
            ORDER BY search_\(part).rowid \(question.isForward ? "ASC" : "DESC")
            """)
        rows.bind(1, search.expression)
        rows.bind(2, question.times.lowerBound)
        rows.bind(3, question.times.upperBound)
        try search.checkTime()
        while search.hits.count < search.wanted, try rows.step() {
            try search.checkTime()
            let position = rows.integer(0)
            let conversation = Conversation(a: rows.integer(1), b: rows.integer(2))
            if search.changed.contains(position) || !question.allows(conversation, position) { continue }
            search.hits.append(Search.Hit(position: position, conversation: conversation))
        }
    }

    // MARK: What the index does not know

    private func searchFresh(_ search: inout Search) throws(SQLiteFailure) {
        try searching.clear.run()
        try gatherTail(&search)
        try gatherChanged(&search)
        if search.fresh.isEmpty { return }
        let isForward = search.question.isForward
        let positions =
            isForward
            ? try matching(searching.matchForward, search) : try matching(searching.match, search)
        for position in positions {
            guard let conversation = search.fresh[position] else { continue }
            search.hits.append(Search.Hit(position: position, conversation: conversation))
        }
    }

    private func matching(
        _ statement: borrowing Statement, _ search: Search
    ) throws(SQLiteFailure) -> [Int64] {
        defer { statement.reset() }
        statement.bind(1, search.expression)
        statement.bind(2, Int64(search.wanted))
        var positions: [Int64] = []
        while try statement.step() { positions.append(statement.integer(0)) }
        return positions
    }

    private func gatherTail(_ search: inout Search) throws(SQLiteFailure) {
        defer { searching.tail.reset() }
        searching.tail.bind([search.question.times.lowerBound, search.question.times.upperBound])
        while try searching.tail.step() {
            try search.checkTime()
            let conversation = Conversation(a: searching.tail.integer(1), b: searching.tail.integer(2))
            try gather(
                searching.tail.integer(0), conversation, uid: searching.tail.integer(3),
                source: searching.tail.bytes(4), text: searching.tail.bytes(5), &search)
        }
    }

    private func gatherChanged(_ search: inout Search) throws(SQLiteFailure) {
        var changed: [(Int64, Conversation)] = []
        defer { searching.changed.reset() }
        while try searching.changed.step() {
            let conversation = Conversation(a: searching.changed.integer(1), b: searching.changed.integer(2))
            changed.append((searching.changed.integer(0), conversation))
        }
        for (position, conversation) in changed {
            try search.checkTime()
            search.changed.insert(position)
            guard let record = try record(position, conversation), !record.text.isEmpty,
                search.question.times.contains(record.time)
            else { continue }
            try gather(
                position, conversation, uid: record.uid.number, source: record.source, text: record.text, &search)
        }
    }

    private func gather(
        _ position: Int64, _ conversation: Conversation, uid: Int64, source: ByteString, text: ByteString,
        _ search: inout Search
    ) throws(SQLiteFailure) {
        guard search.question.allows(conversation, position) else { return }
        search.fresh[position] = conversation
        searching.insert.bind(1, position)
        searching.insert.bind(2, SearchText.words(of: text))
        searching.insert.bind(3, SearchText.marks(conversation, uid: uid, source: source))
        try searching.insert.run()
    }
}
