package import Bytes
import Chat

/// Everything that is kept of a person, as a JSON object a line: the identity, its metadata, its channels, what it said
/// anywhere, and its direct conversations whole, as it can read them itself. Reads beside a running server, in one
/// snapshot; passes over all history once.
package struct Export: ~Copyable {
    private let database: Database

    package static func open(path: String) throws(StoreError) -> Export {
        do throws(SQLiteFailure) {
            let database = try Database(path: path, access: .read)
            database.wait(milliseconds: 2_000)
            try database.execute("BEGIN")
            return Export(database)
        } catch {
            throw StoreError(error, path: path)
        }
    }

    private init(_ database: consuming Database) { self.database = database }

    /// `=<uid>`, or the nick that the identity had last. nil: nothing is kept of one.
    package func find(_ who: ByteString) throws(StoreError) -> Int64? {
        if let uid = who.withView({ $0.first == 0x3D ? UID($0.dropFirst()) : nil }) { return uid.number }
        let rows = database.prepare(
            "SELECT uid FROM identities WHERE nick = ?1 COLLATE NOCASE ORDER BY seen DESC LIMIT 1")
        rows.bind(1, who)
        return try reading { () throws(SQLiteFailure) in try rows.step() ? rows.integer(0) : nil }
    }

    /// Calls `line` with each object, without line end, until it returns false.
    package func write(_ uid: Int64, line: (ByteString) -> Bool) throws(StoreError) {
        for (sql, hasPosition) in Self.parts {
            let rows = database.prepare(sql)
            rows.bind(1, uid)
            let goesOn = try reading { () throws(SQLiteFailure) in
                while try rows.step() {
                    let object = rows.bytes(0)
                    let text: ByteString =
                        hasPosition
                        ? "{\"msgid\":\"\(MessageID.text(rows.integer(1)))\",\(object[1..<object.count])" : object
                    if !line(text) { return false }
                }
                return true
            }
            if !goesOn { return }
        }
    }

    private func reading<R>(_ body: () throws(SQLiteFailure) -> R) throws(StoreError) -> R {
        do throws(SQLiteFailure) {
            try database.checkPrepared()
            return try body()
        } catch {
            throw StoreError(error, path: "export")
        }
    }

    private static let parts: [(sql: String, hasPosition: Bool)] = [
        (
            """
            SELECT json_object('type', 'identity', 'nick', nick, 'name', name, 'created', created, 'seen', seen)
            FROM identities WHERE uid = ?1
            """, false
        ),
        (
            """
            SELECT json_object('type', 'metadata', 'key', key, 'value', value)
            FROM metadata WHERE kind = 1 AND owner = ?1
            """, false
        ),
        (
            """
            SELECT json_object('type', 'channel', 'name', channels.name, 'present', members.present)
            FROM members JOIN channels ON channels.id = members.channel WHERE uid = ?1
            """, false
        ),
        (said("messages", "true"), true),
        (said("log", "NOT \(hasMoved)"), true),
    ]

    /// What has moved may still lie in both.
    private static let hasMoved = """
        EXISTS (SELECT 1 FROM messages m WHERE m.a = t.a AND m.b = t.b AND m.event IN (0, 1, 2)
            AND m.position = t.position)
        """

    private static func said(_ table: String, _ condition: String) -> String {
        """
        SELECT json_object('type', 'record', 'kind', kind, 'time', time, 'channel', channels.name, 'from', source,
            'name', t.name, 'text', text), position
        FROM \(table) t LEFT JOIN channels ON t.b = 0 AND channels.id = t.a
        WHERE (uid = ?1 OR (t.b != 0 AND ?1 IN (t.a, t.b))) AND \(condition)
        """
    }
}
