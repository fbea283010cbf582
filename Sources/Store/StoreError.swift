/// Why a database could not be opened. The text names the file, tells the operator what to do and never holds content.
package enum StoreError: Error, Equatable, CustomStringConvertible {
    /// A newer Parley wrote it; nothing was touched.
    case newerSchema(path: String, found: Int, known: Int)
    /// Not a database, or some other program's; nothing was touched.
    case foreign(path: String)
    case damaged(path: String, reason: String)
    /// Another process serves it; its number when it could be read.
    case locked(path: String, process: Int?)
    case io(path: String, reason: String)

    package var description: String {
        switch self {
        case .newerSchema(let path, let found, let known):
            "\(path) has schema version \(found), this Parley knows up to \(known): run the newer Parley that wrote it, "
                + "or restore the copy made before the upgrade (\(path).before-v…)"
        case .foreign(let path):
            "\(path) is not a Parley database: choose another path or move the file away"
        case .damaged(let path, let reason):
            "\(path) is damaged (\(reason)): restore a backup, or keep the file and try sqlite3's .recover on a copy"
        case .locked(let path, let process):
            "\(path) is in use by another Parley" + (process.map { " (process \($0))" } ?? "")
                + ": stop it first, or give this one its own data directory"
        case .io(let path, let reason):
            "\(path) cannot be used (\(reason)): check that the directory exists, is writable and has room"
        }
    }
}
