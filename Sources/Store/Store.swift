package import Chat

/// An opened database: what was in it, its one journal, and any number of readers.
package struct Store: ~Copyable {
    package let state: StoredState
    package let readers: Readers
    private let journal: Journal

    /// Creates the directory and the file (owner only) when missing, refuses what another process serves, what is not
    /// ours, what a newer Parley wrote and what is damaged; upgrades older schemas after making a copy.
    package static func open(path: String, durability: Durability) throws(StoreError) -> Store {
        try open(path: path, durability: durability, migrations: Migrations.all)
    }

    static func open(path: String, durability: Durability, migrations: [String]) throws(StoreError) -> Store {
        try Files.createDirectory(of: path)
        let lock = try FileLock(database: path)
        let isNew = try Files.create(path)
        let found = isNew ? 0 : try Inspection.version(path: path, known: migrations.count)
        if found > 0 && found < migrations.count { try Backup.copy(path, version: found) }
        do throws(SQLiteFailure) {
            let writer = try Writer.open(path: path, durability: durability, migrations: migrations)
            let loaded = try Loader(writer.database)
            return Store(path: path, durability: durability, lock: lock, writer: writer, loaded)
        } catch {
            throw StoreError(error, path: path)
        }
    }

    private init(
        path: String, durability: Durability, lock: consuming FileLock, writer: consuming Writer, _ loaded: Loader
    ) {
        state = loaded.state
        readers = Readers(path: path, tail: loaded.tail)
        journal = Journal(path: path, durability: durability, lock: lock, writer: writer, loaded: loaded)
    }

    /// For the thread that will own it.
    package consuming func takeJournal() -> Journal { journal }
}

/// Makes readers; each belongs to one thread, which makes it there.
package struct Readers: Sendable {
    let path: String
    let tail: Tail

    /// Nothing is opened before the first question.
    package func make() -> Reader { Reader(path: path, tail: tail) }
}
