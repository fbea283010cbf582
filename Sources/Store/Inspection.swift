import CSQLite

/// Looks at a file before anything is written to it.
enum Inspection {
    /// The schema version found, 0 for a database that holds nothing yet. Throws for what this Parley must not touch.
    static func version(path: String, known: Int) throws(StoreError) -> Int {
        let found: Header
        do throws(SQLiteFailure) { found = try read(path) } catch { throw StoreError(error, path: path) }
        if found.application == 0 && found.version == 0 && found.tables == 0 { return 0 }
        guard found.application == Migrations.applicationID else { throw .foreign(path: path) }
        guard found.version <= known else { throw .newerSchema(path: path, found: found.version, known: known) }
        return found.version
    }

    private struct Header {
        var application: Int64
        var version: Int
        var tables: Int64
    }

    /// Through SQLite, because the newest header may still be in the write-ahead log.
    private static func read(_ path: String) throws(SQLiteFailure) -> Header {
        let database = try Database(path: path, access: .read)
        database.leaveLogOnClose()
        return Header(
            application: try database.integer("PRAGMA application_id") ?? 0,
            version: Int(try database.integer("PRAGMA user_version") ?? 0),
            tables: try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0)
    }
}

extension StoreError {
    init(_ failure: SQLiteFailure, path: String) {
        switch failure.primary {
        case SQLITE_NOTADB: self = .foreign(path: path)
        // A statement could not be prepared, or our own finding about a row.
        case SQLITE_ERROR, SQLITE_OK:
            self = .damaged(path: path, reason: "its schema is not as it should be: \(failure)")
        case SQLITE_CORRUPT: self = .damaged(path: path, reason: failure.description)
        default: self = .io(path: path, reason: failure.description)
        }
    }
}
