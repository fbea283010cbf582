package import Bytes
import Chat
import Wire

/// Everything that is kept of a person, as a JSON object a line: the identity, its metadata, its channels, what it said
/// anywhere, and its direct conversations whole, as it can read them itself. Or of a channel: its state, lists, members
/// and history. Reads beside a running server, in one snapshot; for a person it passes over all history once.
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

    /// `=<uid>`, an account, or the nick that an identity had last: whom that may be. Empty: nothing is kept of one.
    package func find(_ who: ByteString) throws(StoreError) -> [Int64] {
        if let uid = who.withView({ $0.first == 0x3D ? UID($0.dropFirst()) : nil }) { return [uid.number] }
        let rows = database.prepare(
            """
            SELECT uid FROM accounts WHERE folded = ?2 UNION
            SELECT * FROM (SELECT uid FROM identities WHERE nick = ?1 COLLATE NOCASE ORDER BY seen DESC LIMIT 1)
            """)
        rows.bind(1, who)
        rows.bind(2, who.withView { Names.fold($0) })
        return try reading { () throws(SQLiteFailure) in
            var found: [Int64] = []
            while try rows.step() { found.append(rows.integer(0)) }
            return found
        }
    }

    /// By its name, the # left out or not. nil: there is none.
    package func find(channel name: ByteString) throws(StoreError) -> Int64? {
        let rows = database.prepare(
            "SELECT id FROM channels WHERE name COLLATE NOCASE IN (?1, ?2) ORDER BY name LIMIT 1")
        rows.bind(1, name)
        rows.bind(2, "#\(name)")
        return try reading { () throws(SQLiteFailure) in try rows.step() ? rows.integer(0) : nil }
    }

    /// Of whom, or of which channel.
    package enum Parts {
        case person(Int64)
        case channel(Int64)
    }

    /// Calls `line` with each object, without line end, until it returns false.
    package func write(_ parts: Parts, line: (ByteString) -> Bool) throws(StoreError) {
        let (id, texts) =
            switch parts {
            case .person(let uid): (uid, Self.personParts)
            case .channel(let id): (id, Self.channelParts)
            }
        for (sql, hasPosition) in texts {
            let rows = database.prepare(sql)
            rows.bind(1, id)
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

    private static let channelParts: [(sql: String, hasPosition: Bool)] = [
        (
            """
            SELECT json_object('type', 'channel', 'name', name, 'created', created, 'topic', topic,
                'topic-by', topic_setter, 'topic-time', topic_time, 'modes', modes)
            FROM channels WHERE id = ?1
            """, false
        ),
        (
            """
            SELECT json_object('type', 'metadata', 'key', key, 'value', value)
            FROM metadata WHERE kind = 2 AND owner = ?1
            """, false
        ),
        (
            """
            SELECT json_object('type', 'list', 'mode', char(mode), 'mask', mask, 'by', setter, 'time', time)
            FROM channel_lists WHERE channel = ?1 ORDER BY id
            """, false
        ),
        (
            """
            SELECT json_object('type', 'member', 'nick', nick, 'name', name, 'ranks', ranks, 'present', present)
            FROM members LEFT JOIN identities USING (uid) WHERE channel = ?1
            """, false
        ),
        (
            """
            SELECT \(record), position FROM (
                SELECT a, b, position, kind, time, source, name, text FROM messages t WHERE a = ?1 AND b = 0
                UNION ALL SELECT a, b, position, kind, time, source, name, text FROM log t
                    WHERE a = ?1 AND b = 0 AND NOT \(hasMoved)
            ) t LEFT JOIN channels ON channels.id = t.a ORDER BY position
            """, true
        ),
    ]

    private static let personParts: [(sql: String, hasPosition: Bool)] = [
        (
            """
            SELECT json_object('type', 'identity', 'nick', nick, 'name', name, 'created', created, 'seen', seen)
            FROM identities WHERE uid = ?1
            """, false
        ),
        (
            """
            SELECT json_object('type', 'account', 'name', name, 'email', email, 'created', created,
                'suspension', suspension) FROM accounts WHERE uid = ?1
            """, false
        ),
        ("SELECT json_object('type', 'certificate', 'sha256', fingerprint) FROM certificates WHERE uid = ?1", false),
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
        (
            """
            SELECT json_object('type', 'image', 'time', time, 'file', 'images/files/' || substr(hash, 1, 2) || '/' || hash,
                'size', size, 'width', width, 'height', height, 'name', name) FROM images WHERE uid = ?1
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

    private static let record = """
        json_object('type', 'record', 'kind', kind, 'time', time, 'channel', channels.name, 'from', source,
            'name', t.name, 'text', text)
        """

    private static func said(_ table: String, _ condition: String) -> String {
        """
        SELECT \(record), position
        FROM \(table) t LEFT JOIN channels ON t.b = 0 AND channels.id = t.a
        WHERE (uid = ?1 OR (t.b != 0 AND ?1 IN (t.a, t.b))) AND \(condition)
        """
    }
}
