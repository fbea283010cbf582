import Bytes
import Glibc

/// Compares the database with itself and with the files beside it, for an operator and for tests. Nothing is changed.
/// The server must not be running: it is always about to write something.
package enum StoreCheck {
    /// What is wrong, a sentence each; none: all is well. `sha256` gives 32 bytes.
    package static func run(path: String, sha256: ([UInt8]) -> [UInt8]) throws(StoreError) -> [String] {
        guard Files.exists(path) else { throw .io(path: path, reason: "there is no such file") }
        let lock = try FileLock(database: path)
        return try run(path: path, holding: lock, sha256)
    }

    private static func run(
        path: String, holding lock: borrowing FileLock, _ sha256: ([UInt8]) -> [UInt8]
    ) throws(StoreError) -> [String] {
        let version = try Inspection.version(path: path, known: Migrations.all.count)
        guard version == Migrations.all.count else {
            return ["\(path) has schema version \(version): start the server once, so that it is brought up to date"]
        }
        do throws(SQLiteFailure) {
            let database = try Database(path: path, access: .read)
            database.leaveLogOnClose()
            var check = Check(places: ImagePlaces(database: path))
            try check.database(database)
            try check.uploads(database)
            try check.images(database, sha256)
            return check.problems
        } catch {
            throw StoreError(error, path: path)
        }
    }

    private struct Check {
        let places: ImagePlaces
        var problems: [String] = []

        mutating func database(_ database: borrowing Database) throws(SQLiteFailure) {
            let rows = database.prepare("PRAGMA quick_check(20)")
            while try rows.step() {
                let found = rows.bytes(0).string
                if found != "ok" { problems.append("database: \(found)") }
            }
        }

        /// A row without a file is an upload to which nothing came yet.
        mutating func uploads(_ database: borrowing Database) throws(SQLiteFailure) {
            let row = database.prepare("SELECT 1 FROM uploads WHERE id = ?1")
            for name in Files.names(in: places.parts) {
                row.bind([Int64(name) ?? 0])
                if try !row.step() { problems.append("\(places.parts)/\(name): no row names this file") }
                row.reset()
            }
        }

        mutating func images(
            _ database: borrowing Database, _ sha256: ([UInt8]) -> [UInt8]
        ) throws(SQLiteFailure) {
            try count(
                database, "pictures whose file is not counted",
                "SELECT count(*) FROM images WHERE hash NOT IN (SELECT hash FROM image_files)")
            try count(
                database, "files whose uses are counted wrong",
                """
                SELECT count(*) FROM image_files AS f
                WHERE uses != (SELECT count(*) FROM images AS i WHERE i.hash = f.hash)
                """)
            try count(
                database, "bytes by which the total is wrong",
                "SELECT abs(bytes - (SELECT coalesce(sum(size), 0) FROM image_files)) FROM image_total")
            try count(
                database, "pictures without their message",
                """
                SELECT count(*) FROM images AS i WHERE b != -1
                AND NOT EXISTS (SELECT 1 FROM log AS l WHERE l.position = i.position AND l.text != '')
                AND NOT EXISTS (SELECT 1 FROM messages AS m
                    WHERE m.a = i.a AND m.b = i.b AND m.event = 0 AND m.position = i.position AND m.text != '')
                """)
            try files(database, sha256)
        }

        private mutating func count(
            _ database: borrowing Database, _ what: String, _ sql: String
        ) throws(SQLiteFailure) {
            let found = try database.integer(sql) ?? 0
            if found != 0 { problems.append("\(found) \(what)") }
        }

        private mutating func files(
            _ database: borrowing Database, _ sha256: ([UInt8]) -> [UInt8]
        ) throws(SQLiteFailure) {
            let rows = database.prepare("SELECT hash, size FROM image_files ORDER BY hash")
            var named: Set<String> = []
            while try rows.step() {
                let hash = rows.bytes(0)
                named.insert(hash.string)
                let file = places.file(hash)
                guard Files.size(file) == rows.integer(1) else {
                    problems.append("\(file): missing, or of another size")
                    continue
                }
                let bytes = try? Files.read(file, at: 0, count: Int(rows.integer(1)))
                if bytes.map({ Hex.encode(sha256($0)) }) != hash { problems.append("\(file): damaged") }
            }
            for folder in Files.names(in: places.files) {
                for name in Files.names(in: "\(places.files)/\(folder)") where !named.contains(name) {
                    problems.append("\(places.files)/\(folder)/\(name): no row names this file")
                }
            }
        }
    }
}
