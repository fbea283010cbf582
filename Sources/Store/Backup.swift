import Bytes
import Glibc
import CSQLite

/// A copy of the whole database as it is.
enum Backup {
    /// Before an upgrade, as `PATH.before-vN` (N: the version that comes), or with a number when that exists.
    static func copy(_ path: String, version found: Int) throws(StoreError) {
        var target = "\(path).before-v\(found + 1)"
        var attempt = 1
        while try !Files.create(target) {
            attempt += 1
            target = "\(path).before-v\(found + 1)-\(attempt)"
        }
        do throws(SQLiteFailure) {
            let database = try Database(path: path, access: .read)
            database.leaveLogOnClose()
            let copy = database.prepare("VACUUM INTO ?1")
            copy.bind(1, "\(target)")
            try copy.run()
            guard Files.sync(target) else { throw .finding("cannot sync \(target)") }
        } catch {
            unlink(target)
            throw .io(path: path, reason: "no copy before the upgrade: \(error)")
        }
    }
}
