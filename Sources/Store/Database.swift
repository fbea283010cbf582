import CSQLite

/// What SQLite answered instead of success. Never holds content: codes and SQLite's own words for them.
struct SQLiteFailure: Error, CustomStringConvertible {
    /// Extended result code.
    var code: Int32
    /// errno of the failed system call, 0: none.
    var systemError: Int32 = 0
    /// Our own finding (code 0) rather than SQLite's.
    var finding: String?

    var primary: Int32 { code & 0xFF }

    /// A full disk, a refused row or our own finding leave a connection as good as it was; all else makes it doubtful.
    var leavesConnectionUsable: Bool {
        [SQLITE_OK, SQLITE_FULL, SQLITE_CONSTRAINT, SQLITE_BUSY, SQLITE_TOOBIG].contains(primary)
    }

    var description: String {
        if let finding { return finding }
        let words = String(cString: sqlite3_errstr(code))
        return systemError == 0 ? "\(words), code \(code)" : "\(words), code \(code), errno \(systemError)"
    }

    static func finding(_ text: String) -> SQLiteFailure { SQLiteFailure(code: 0, finding: text) }
}

/// One SQLite connection, closed when it goes out of scope.
///
/// `@unchecked`: the handle is not Sendable, but this is its only owner and cannot be copied, so moving it to another
/// thread moves all access with it, which is what SQLITE_OPEN_NOMUTEX demands.
struct Database: ~Copyable, @unchecked Sendable {
    enum Access { case write, read }

    private let handle: OpaquePointer
    private let notes: UnsafeMutablePointer<Notes>

    fileprivate struct Notes {
        /// Pages in the write-ahead log after the last commit, kept by the hook.
        var logPages: Int32 = 0
        /// The first statement that could not be prepared.
        var unprepared: SQLiteFailure?
    }

    private static let countsNoMemory = parley_sqlite3_count_no_memory()

    init(path: String, access: Access) throws(SQLiteFailure) {
        _ = Self.countsNoMemory
        let flags = access == .write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
            access == .write ? Scrubbing.layer : nil)
        guard code == SQLITE_OK, let opened else {
            let failure = SQLiteFailure(code: code, systemError: opened.map { sqlite3_system_errno($0) } ?? 0)
            sqlite3_close_v2(opened)
            throw failure
        }
        handle = opened
        notes = .allocate(capacity: 1)
        notes.initialize(to: Notes())
        // Text in double quotes is a name or an error, never a string.
        _ = parley_sqlite3_db_switch(handle, SQLITE_DBCONFIG_DQS_DML, 0)
        _ = parley_sqlite3_db_switch(handle, SQLITE_DBCONFIG_DQS_DDL, 0)
        _ = parley_sqlite3_db_switch(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    }

    // v2: statements that are finalised later keep the connection until then.
    deinit {
        sqlite3_close_v2(handle)
        notes.deinitialize(count: 1)
        notes.deallocate()
    }

    func execute(_ sql: String) throws(SQLiteFailure) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// Does not throw, so that a struct can hold many of them (a throwing init of noncopyable fields is not to be had):
    /// a statement that could not be prepared fails at its first step, and `checkPrepared` tells the reason.
    func prepare(_ sql: String) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        if code != SQLITE_OK && notes.pointee.unprepared == nil { notes.pointee.unprepared = SQLiteFailure(code: code) }
        return Statement(handle: statement)
    }

    /// For statements about tables that come and go.
    func prepareNow(_ sql: String) throws(SQLiteFailure) -> Statement {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, 0, &statement, nil))
        return Statement(handle: statement)
    }

    /// Whether the schema is what the statements expect.
    func checkPrepared() throws(SQLiteFailure) { if let failure = notes.pointee.unprepared { throw failure } }

    /// The first column of the first row; nil: no row.
    func integer(_ sql: String) throws(SQLiteFailure) -> Int64? {
        let statement = prepare(sql)
        try checkPrepared()
        return try statement.step() ? statement.integer(0) : nil
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rows that the last statement wrote or deleted.
    var changes: Int64 { sqlite3_changes64(handle) }

    /// Rows that all statements so far wrote or deleted, within virtual tables too.
    var totalChanges: Int64 { sqlite3_total_changes64(handle) }

    func rollBack() { if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) } }

    /// How long a locked database is waited for. In WAL that happens only around recovery and closing.
    func wait(milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

    /// A closing connection leaves the write-ahead log as it is: for looking without touching.
    func leaveLogOnClose() { _ = parley_sqlite3_db_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

    /// Counts the log's pages from now on; SQLite's own checkpoints inside of commits stop.
    func countLogPages() { sqlite3_wal_hook(handle, noteLogPages, notes) }

    var logPages: Int { Int(notes.pointee.logPages) }

    /// Copies what it can from the log to the file without waiting for anybody; whether all was copied.
    func checkpoint() throws(SQLiteFailure) -> Bool {
        var total: Int32 = 0
        var copied: Int32 = 0
        try check(sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, &total, &copied))
        if total == copied { notes.pointee.logPages = 0 }
        return total == copied
    }

    /// Copies the whole log to the file and empties it; false: somebody is reading it.
    func cutLog() throws(SQLiteFailure) -> Bool {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code & 0xFF == SQLITE_BUSY { return false }
        try check(code)
        notes.pointee.logPages = 0
        // What is read again is what was written, without the leftovers (`Scrubbing`).
        sqlite3_db_release_memory(handle)
        return true
    }

    private func check(_ code: Int32) throws(SQLiteFailure) {
        if code != SQLITE_OK { throw SQLiteFailure(code: code, systemError: sqlite3_system_errno(handle)) }
    }
}

private func noteLogPages(
    context: UnsafeMutableRawPointer?, db: OpaquePointer?, name: UnsafePointer<CChar>?, pages: Int32
) -> Int32 {
    context?.assumingMemoryBound(to: Database.Notes.self).pointee.logPages = pages
    return SQLITE_OK
}
