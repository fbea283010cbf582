import Chat

/// The one writing connection with its statements. Opened again after failures that leave a connection doubtful.
struct Writer: ~Copyable, Sendable {
    let database: Database
    private let begin: Statement
    private let commit: Statement
    private let insert: Statement
    let changes: ChangeStatements
    private let rewrites: RewriteStatements
    let sent: SentStatements
    let search: SearchStatements
    let retention: RetentionStatements
    private let correspondents: CorrespondentStatements
    private let forgetGarbage: Statement
    private var knownPairs: [Conversation: Int64] = [:]
    let merge: MergeStatements

    /// Settings that hold for the connection, then whatever `prepare` has to do (migrations) before the statements.
    static func open(
        path: String, durability: Durability, migrations: [String]? = nil
    ) throws(SQLiteFailure) -> Writer {
        let database = try Database(path: path, access: .write)
        // What is deleted, redacted or moved leaves nothing behind in free pages. Of the ways of a message only the
        // removal of moved rows pays for it, a page for some twenty rows.
        try database.execute("PRAGMA secure_delete = ON")
        // Only sorting a merge step makes temporary data; a full disk must not stop that.
        try database.execute("PRAGMA temp_store = MEMORY")
        // 16 MB: the clustered table's inner pages and the leaves of busy conversations.
        try database.execute("PRAGMA cache_size = -16384")
        guard try database.integer("PRAGMA journal_mode = WAL") != nil else { throw .finding("no write-ahead log") }
        // A log that grew in a rush gives the room back when it starts over.
        try database.execute("PRAGMA journal_size_limit = \(64 << 20)")
        try database.execute(durability.pragma)
        database.countLogPages()
        if let migrations { try Migrations.run(migrations, on: database) }
        let writer = Writer(database)
        try writer.database.checkPrepared()
        return writer
    }

    private init(_ database: consuming Database) {
        begin = database.prepare("BEGIN IMMEDIATE")
        commit = database.prepare("COMMIT")
        insert = database.prepare(RecordRow.insert)
        changes = ChangeStatements(database)
        rewrites = RewriteStatements(database)
        sent = SentStatements(database)
        search = SearchStatements(database)
        retention = RetentionStatements(database)
        correspondents = CorrespondentStatements(database)
        forgetGarbage = database.prepare("DELETE FROM image_garbage WHERE id = ?1")
        merge = MergeStatements(database)
        self.database = database
    }

    /// All of `body` or nothing.
    func transaction(_ body: () throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
        do throws(SQLiteFailure) {
            try begin.run()
            try body()
            try commit.run()
        } catch {
            database.rollBack()
            throw error
        }
    }

    /// Positions must rise, and above `lastPosition`, which becomes the position of drops in the batch.
    mutating func write(_ batch: JournalBatch, above lastPosition: Int64) throws(SQLiteFailure) {
        var newest = lastPosition
        // What a failed transaction has added is not known.
        var known: [Conversation: Int64] = [:]
        swap(&known, &knownPairs)
        try transaction { () throws(SQLiteFailure) in
            for record in batch.records {
                guard record.position > newest else {
                    throw .finding("position \(record.position) does not follow \(newest)")
                }
                try RecordRow.insert(record, by: insert)
                try rewrites.apply(record)
                try sent.apply(record)
                newest = record.position
            }
            try correspondents.note(batch.records, known: &known)
            for change in batch.changes { try changes.apply(change, position: newest) }
        }
        // An erased person's pairs are written anew with the next message to it.
        let erases = batch.changes.contains { if case .erase = $0 { true } else { false } }
        knownPairs = erases ? [:] : known
    }

    func forgetImageFiles(_ garbage: [Int64]) throws(SQLiteFailure) {
        try transaction { () throws(SQLiteFailure) in for id in garbage { try forgetGarbage.run(id) } }
    }

    /// Takes room in a commit and gives it back in another.
    func fillAndEmpty(_ bytes: Int) throws(SQLiteFailure) {
        try transaction { () throws(SQLiteFailure) in
            try database.execute("INSERT OR REPLACE INTO probe VALUES (1, zeroblob(\(bytes)))")
        }
        try transaction { () throws(SQLiteFailure) in try database.execute("DELETE FROM probe") }
    }

    /// Outside of transactions.
    func setDurability(_ durability: Durability, atMost most: Durability = .full) throws(SQLiteFailure) {
        try database.execute(most == .off ? most.pragma : durability.pragma)
    }

    var logPages: Int { database.logPages }

    func checkpoint() throws(SQLiteFailure) -> Bool { try database.checkpoint() }

    func cutLog() throws(SQLiteFailure) -> Bool { try database.cutLog() }
}

extension Durability {
    var pragma: String {
        switch self {
        case .full: "PRAGMA synchronous = FULL"
        case .normal: "PRAGMA synchronous = NORMAL"
        case .off: "PRAGMA synchronous = OFF"
        }
    }
}
