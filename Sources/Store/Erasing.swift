import Chat

/// A person whose records are still to be deleted. Nothing tells which they are but reading all, so it is done in
/// steps; the row keeps how far they have come.
struct ErasedPerson: Equatable {
    var uid: Int64
    /// What is above was said later, by who came back with an old token.
    var position: Int64
    /// The key of the last row of `messages` that was looked at.
    var cursor = [Int64](repeating: .min, count: 4)
}

struct EraseStatements: ~Copyable, Sendable {
    private let forgetIdentity: Statement
    private let forgetAccount: Statement
    private let forgetCertificates: Statement
    private let forgetPlaces: Statement
    private let forgetMarks: Statement
    private let forgetDelivered: Statement
    private let forgetCorrespondents: Statement
    private let forgetSent: Statement
    private let forgetImages: Statement
    private let forgetUploads: Statement
    private let note: Statement
    fileprivate let boundary: Statement
    fileprivate let delete: Statement
    fileprivate let save: Statement
    fileprivate let end: Statement

    init(_ database: borrowing Database) {
        forgetIdentity = database.prepare("DELETE FROM identities WHERE uid = ?1")
        forgetAccount = database.prepare("DELETE FROM accounts WHERE uid = ?1")
        forgetCertificates = database.prepare("DELETE FROM certificates WHERE uid = ?1")
        forgetPlaces = database.prepare("DELETE FROM members WHERE uid = ?1")
        forgetMarks = database.prepare("DELETE FROM read_marks WHERE uid = ?1")
        forgetDelivered = database.prepare("DELETE FROM delivered WHERE uid = ?1")
        forgetCorrespondents = database.prepare("DELETE FROM correspondents WHERE uid = ?1 OR other = ?1")
        forgetSent = database.prepare("DELETE FROM sent WHERE uid = ?1")
        forgetImages = database.prepare("DELETE FROM images WHERE uid = ?1")
        forgetUploads = database.prepare("DELETE FROM uploads WHERE uid = ?1")
        note = database.prepare("INSERT OR REPLACE INTO erased VALUES (?1, ?2, ?3, ?3, ?3, ?3)")
        let after = "(a, b, event, position) > (?1, ?2, ?3, ?4)"
        boundary = database.prepare(
            """
            SELECT a, b, event, position FROM messages WHERE \(after)
            ORDER BY a, b, event, position LIMIT 1 OFFSET ?5
            """)
        delete = database.prepare(
            """
            DELETE FROM messages WHERE \(after) AND (a, b, event, position) <= (?5, ?6, ?7, ?8)
            AND uid = ?9 AND position <= ?10
            """)
        save = database.prepare("UPDATE erased SET a = ?1, b = ?2, event = ?3, last = ?4 WHERE uid = ?5")
        end = database.prepare("DELETE FROM erased WHERE uid = ?1")
    }

    /// What is kept of the identity goes at once, and it is noted that its records have to.
    func begin(_ uid: UID, position: Int64) throws(SQLiteFailure) {
        try forgetIdentity.run(uid.number)
        try forgetAccount.run(uid.number)
        try forgetCertificates.run(uid.number)
        try forgetPlaces.run(uid.number)
        try forgetMarks.run(uid.number)
        try forgetDelivered.run(uid.number)
        try forgetCorrespondents.run(uid.number)
        try forgetSent.run(uid.number)
        try forgetImages.run(uid.number)
        try forgetUploads.run(uid.number)
        try note.run(uid.number, position, .min)
    }
}

extension Writer {
    /// Looks at the next `rows` messages and deletes the person's; nil: that was the last step.
    func erase(_ person: ErasedPerson, rows: Int64) throws(SQLiteFailure) -> ErasedPerson? {
        var next: ErasedPerson?
        try transaction { () throws(SQLiteFailure) in
            let end = try boundary(after: person.cursor, rows)
            let last = end ?? [.max, .max, .max, .max]
            try changes.erasing.delete.run(person.cursor + last + [person.uid, person.position])
            if let end {
                try changes.erasing.save.run(end + [person.uid])
                next = ErasedPerson(uid: person.uid, position: person.position, cursor: end)
            } else {
                try changes.erasing.end.run(person.uid)
            }
        }
        return next
    }

    private func boundary(after cursor: [Int64], _ rows: Int64) throws(SQLiteFailure) -> [Int64]? {
        changes.erasing.boundary.bind(cursor + [rows - 1])
        defer { changes.erasing.boundary.reset() }
        guard try changes.erasing.boundary.step() else { return nil }
        return (0..<4).map { changes.erasing.boundary.integer($0) }
    }
}
