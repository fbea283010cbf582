import Bytes
import CSQLite

/// One prepared statement, finalised when it goes out of scope. Bind, step until false, reset.
///
/// `@unchecked`: as for `Database`; a statement is kept beside its connection and moves with it.
struct Statement: ~Copyable, @unchecked Sendable {
    /// nil: could not be prepared; SQLite answers every call with SQLITE_MISUSE.
    private let handle: OpaquePointer?

    init(handle: OpaquePointer?) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }

    /// Stored as TEXT, so that search and sqlite3's shell can use it; SQLite neither checks nor changes the bytes.
    func bind(_ index: Int32, _ bytes: ByteString) {
        if bytes.isEmpty {
            parley_sqlite3_bind_empty_text(handle, index)
            return
        }
        _ = bytes.withView { parley_sqlite3_bind_text_copy(handle, index, $0.raw.baseAddress, Int32($0.count)) }
    }

    /// As `bind`, without a copy: the bytes must stay until `stepOnce` has returned.
    func bindInPlace(_ index: Int32, _ bytes: ByteView) {
        _ = parley_sqlite3_bind_text_in_place(handle, index, bytes.raw.baseAddress, Int32(bytes.count))
    }

    /// What SQLite answers, for `hasRow`: where nothing can be thrown.
    func stepOnce() -> Int32 { sqlite3_step(handle) }

    /// Whether there is a row.
    func step() throws(SQLiteFailure) -> Bool { try hasRow(stepOnce()) }

    func hasRow(_ code: Int32) throws(SQLiteFailure) -> Bool {
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        let systemError = handle.map { sqlite3_system_errno(sqlite3_db_handle($0)) } ?? 0
        sqlite3_reset(handle)
        throw SQLiteFailure(code: code, systemError: systemError)
    }

    func reset() { sqlite3_reset(handle) }

    /// For statements without rows.
    func run() throws(SQLiteFailure) {
        _ = try step()
        reset()
    }

    func run(_ values: Int64...) throws(SQLiteFailure) { try run(values) }

    func run(_ values: [Int64]) throws(SQLiteFailure) {
        bind(values)
        try run()
    }

    /// Parameters 1, 2, …
    func bind(_ values: [Int64]) {
        for (index, value) in values.enumerated() { bind(Int32(index + 1), value) }
    }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func bytes(_ column: Int32) -> ByteString {
        guard let start = sqlite3_column_blob(handle, column) else { return ByteString() }
        let count = Int(sqlite3_column_bytes(handle, column))
        return ByteString(ByteView(UnsafeRawBufferPointer(start: start, count: count)))
    }
}
