import Bytes

/// The schema's history. Append only: an entry that was released is never changed.
enum Migrations {
    /// "PRLY"; tells our files from other programs' databases.
    static let applicationID: Int64 = 0x5052_4C59

    /// Version n is what the first n entries make.
    static let all: [String] = [
        version1, version2, version3, version4, version5, version6, version7, version8, version9, version10,
        version11, version12, version13, version14, version15,
    ]

    /// Runs what is missing in one transaction. Only for files that `Inspection` let pass.
    static func run(_ migrations: [String], on database: borrowing Database) throws(SQLiteFailure) {
        let found = Int(try database.integer("PRAGMA user_version") ?? 0)
        guard found < migrations.count else { return }
        do throws(SQLiteFailure) {
            try database.execute("BEGIN IMMEDIATE")
            for migration in migrations[found...] { try database.execute(migration) }
            try database.execute("PRAGMA application_id = \(applicationID)")
            try database.execute("PRAGMA user_version = \(migrations.count)")
            try database.execute("COMMIT")
        } catch {
            database.rollBack()
            throw error
        }
    }

    /// `log` takes what is written, in order of arrival, which costs the fewest pages; `messages` holds it by
    /// conversation, which is how it is read. `event` stands before `position` in the key, so that a page of messages
    /// costs the same however many joins and quits lie between them. `meta` has one row: the highest position, the
    /// newest time and the highest channel id as far as rows no longer prove them, and the state of the merge
    /// (`MergeState`).
    ///
    /// Texts are TEXT by affinity only: bytes as they came. Times of `log` and `messages` are milliseconds since 1970,
    /// all others seconds.
    private static let version1 = """
        CREATE TABLE meta (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            position INTEGER NOT NULL, time INTEGER NOT NULL, channel INTEGER NOT NULL,
            merged INTEGER NOT NULL, target INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL,
            moved INTEGER NOT NULL
        );
        INSERT INTO meta VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0);

        CREATE TABLE log (
            position INTEGER PRIMARY KEY,
            a INTEGER NOT NULL, b INTEGER NOT NULL, time INTEGER NOT NULL, kind INTEGER NOT NULL, uid INTEGER NOT NULL,
            source TEXT NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL, tags TEXT NOT NULL, text TEXT NOT NULL
        );
        CREATE TABLE messages (
            a INTEGER NOT NULL, b INTEGER NOT NULL, event INTEGER NOT NULL, position INTEGER NOT NULL,
            time INTEGER NOT NULL, kind INTEGER NOT NULL, uid INTEGER NOT NULL,
            source TEXT NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL, tags TEXT NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (a, b, event, position)
        ) WITHOUT ROWID;

        CREATE TABLE channels (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL, created INTEGER NOT NULL, founder INTEGER NOT NULL,
            topic TEXT NOT NULL, topic_setter TEXT NOT NULL, topic_time INTEGER NOT NULL,
            modes TEXT NOT NULL, key TEXT NOT NULL, user_limit INTEGER NOT NULL, flood TEXT NOT NULL,
            used INTEGER NOT NULL
        );
        CREATE TABLE channel_lists (
            id INTEGER PRIMARY KEY,
            channel INTEGER NOT NULL, mode INTEGER NOT NULL, mask TEXT NOT NULL,
            setter TEXT NOT NULL, time INTEGER NOT NULL,
            UNIQUE (channel, mode, mask)
        );
        CREATE TABLE dropped (channel INTEGER PRIMARY KEY, position INTEGER NOT NULL);
        CREATE TABLE identities (
            uid INTEGER PRIMARY KEY,
            nick TEXT NOT NULL, name TEXT NOT NULL, epoch INTEGER NOT NULL, created INTEGER NOT NULL,
            seen INTEGER NOT NULL
        );
        CREATE TABLE members (
            channel INTEGER NOT NULL, uid INTEGER NOT NULL,
            ranks INTEGER NOT NULL, present INTEGER NOT NULL, joined INTEGER NOT NULL,
            PRIMARY KEY (channel, uid)
        ) WITHOUT ROWID;
        CREATE INDEX members_by_uid ON members (uid);

        CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB NOT NULL);
        """

    /// Bans of the whole server. `kind` is `ServerBan.Kind`; `expires` 0 is for good.
    private static let version2 = """
        CREATE TABLE server_bans (
            id INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL, mask TEXT NOT NULL, reason TEXT NOT NULL, setter TEXT NOT NULL,
            time INTEGER NOT NULL, expires INTEGER NOT NULL,
            UNIQUE (kind, mask)
        );
        """

    /// With whom an identity has exchanged direct messages: two rows for each pair.
    private static let version3 = """
        CREATE TABLE correspondents (
            uid INTEGER NOT NULL, other INTEGER NOT NULL,
            PRIMARY KEY (uid, other)
        ) WITHOUT ROWID;
        INSERT OR IGNORE INTO correspondents
            SELECT a, b FROM messages WHERE b != 0 UNION SELECT b, a FROM messages WHERE b != 0
            UNION SELECT a, b FROM log WHERE b != 0 UNION SELECT b, a FROM log WHERE b != 0;
        """

    /// What people and channels tell of themselves. `kind` is `MetadataOwner.kind`, `owner` a uid or a channel's id.
    private static let version4 = """
        CREATE TABLE metadata (
            kind INTEGER NOT NULL, owner INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
            PRIMARY KEY (kind, owner, key)
        ) WITHOUT ROWID;
        """

    /// NOCASE folds ASCII alone, as nicks are.
    private static let version5 = """
        CREATE INDEX identities_by_nick ON identities (nick COLLATE NOCASE, seen);
        """

    /// Edits and redactions, which lie beside a conversation's messages and events as `event` 2.
    private static let version6 = """
        ALTER TABLE log ADD COLUMN counterpart INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE messages ADD COLUMN counterpart INTEGER NOT NULL DEFAULT 0;
        """

    /// How far identities have read, in milliseconds; the position of the first direct message that one missed; and who
    /// was here last.
    private static let version7 = """
        CREATE TABLE read_marks (
            uid INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, time INTEGER NOT NULL,
            PRIMARY KEY (uid, a, b)
        ) WITHOUT ROWID;
        CREATE TABLE missed (uid INTEGER PRIMARY KEY, position INTEGER NOT NULL);
        CREATE INDEX identities_by_seen ON identities (seen);
        """

    /// What authors call their messages (`parley.chat/cid`), in the order they were said.
    private static let version8 = """
        CREATE TABLE sent (
            id INTEGER PRIMARY KEY,
            uid INTEGER NOT NULL, cid TEXT NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL,
            position INTEGER NOT NULL, time INTEGER NOT NULL,
            UNIQUE (uid, cid, a, b)
        );
        """

    /// `standing` is `AccountState.Standing`, `folded` the name in lower case, `look` its skeleton. What is read at the
    /// start stands in one index.
    private static let version9 = """
        CREATE TABLE accounts (
            uid INTEGER PRIMARY KEY,
            name TEXT NOT NULL, folded TEXT NOT NULL UNIQUE, look TEXT NOT NULL,
            hash TEXT NOT NULL, scram TEXT NOT NULL, email TEXT NOT NULL,
            created INTEGER NOT NULL, standing INTEGER NOT NULL, suspension TEXT NOT NULL,
            code TEXT NOT NULL, code_expires INTEGER NOT NULL
        );
        CREATE INDEX account_names ON accounts (standing, name, look, code_expires);
        CREATE TABLE certificates (
            fingerprint TEXT PRIMARY KEY, uid INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX certificates_by_uid ON certificates (uid);
        """

    /// `ErasedPerson`: whose records are still to be deleted, and the last key of `messages` that was looked at.
    private static let version10 = """
        CREATE TABLE erased (
            uid INTEGER PRIMARY KEY, position INTEGER NOT NULL,
            a INTEGER NOT NULL, b INTEGER NOT NULL, event INTEGER NOT NULL, last INTEGER NOT NULL
        );
        """

    /// Up to which position all that was said to an identity has come, and when that was found, in milliseconds.
    private static let version11 = """
        CREATE TABLE delivered (uid INTEGER PRIMARY KEY, position INTEGER NOT NULL, time INTEGER NOT NULL);
        """

    /// Pictures. An upload's bytes so far are a file named by its id. A picture's file is named by its hash and may be
    /// shared: `image_files` counts who names it, and what nobody names goes to `image_garbage`, whose files are
    /// removed after the commit. The triggers see to it, so that whatever deletes a message deletes its picture.
    private static let version12 = """
        CREATE TABLE uploads (
            id INTEGER PRIMARY KEY,
            uid INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, target TEXT NOT NULL, type INTEGER NOT NULL,
            size INTEGER NOT NULL, hash TEXT NOT NULL, name TEXT NOT NULL, reference TEXT NOT NULL,
            caption TEXT NOT NULL, tags TEXT NOT NULL
        );
        CREATE TABLE images (
            id INTEGER PRIMARY KEY,
            uid INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, position INTEGER NOT NULL,
            time INTEGER NOT NULL, hash TEXT NOT NULL, type INTEGER NOT NULL, size INTEGER NOT NULL,
            width INTEGER NOT NULL, height INTEGER NOT NULL, name TEXT NOT NULL, reference TEXT NOT NULL
        );
        CREATE UNIQUE INDEX images_by_message ON images (a, b, position);
        CREATE INDEX images_by_author ON images (uid, time);
        CREATE INDEX images_by_reference ON images (uid, reference) WHERE reference != '';
        CREATE TABLE image_files (
            hash TEXT PRIMARY KEY, size INTEGER NOT NULL, uses INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE image_garbage (id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL);
        CREATE TABLE image_total (id INTEGER PRIMARY KEY CHECK (id = 1), bytes INTEGER NOT NULL);
        INSERT INTO image_total VALUES (1, 0);

        CREATE TRIGGER image_added AFTER INSERT ON images BEGIN
            INSERT OR IGNORE INTO image_files VALUES (new.hash, new.size, 0);
            UPDATE image_files SET uses = uses + 1 WHERE hash = new.hash;
            DELETE FROM image_garbage WHERE hash = new.hash;
        END;
        CREATE TRIGGER image_removed AFTER DELETE ON images BEGIN
            UPDATE image_files SET uses = uses - 1 WHERE hash = old.hash;
            INSERT INTO image_garbage (hash) SELECT hash FROM image_files WHERE hash = old.hash AND uses = 0;
            DELETE FROM image_files WHERE hash = old.hash AND uses = 0;
        END;
        CREATE TRIGGER image_file_added AFTER INSERT ON image_files BEGIN
            UPDATE image_total SET bytes = bytes + new.size;
        END;
        CREATE TRIGGER image_file_removed AFTER DELETE ON image_files BEGIN
            UPDATE image_total SET bytes = bytes - old.size;
        END;
        CREATE TRIGGER image_message_removed AFTER DELETE ON messages WHEN old.event = 0 BEGIN
            DELETE FROM images WHERE a = old.a AND b = old.b AND position = old.position;
        END;
        CREATE TRIGGER image_author_removed AFTER DELETE ON identities BEGIN
            DELETE FROM images WHERE a = old.uid AND b = -1;
        END;
        """

    /// The hour of each conversation's newest message, so that a page of them looks at no others; and when the first
    /// message was missed.
    private static let version13 = """
        ALTER TABLE correspondents ADD COLUMN hour INTEGER NOT NULL DEFAULT 0;
        CREATE TEMP TABLE heads AS
            SELECT a, b, max(time) / 3600000 AS hour FROM (
                SELECT a, b, time FROM messages WHERE b != 0 AND event = 0
                UNION ALL SELECT a, b, time FROM log WHERE b != 0 AND kind < 10)
            GROUP BY a, b;
        UPDATE correspondents SET hour = heads.hour FROM heads
            WHERE heads.a = min(uid, other) AND heads.b = max(uid, other);
        DROP TABLE heads;
        CREATE INDEX correspondents_by_hour ON correspondents (uid, hour);
        ALTER TABLE missed ADD COLUMN time INTEGER NOT NULL DEFAULT 0;
        """

    /// The search index: `search_N` for each row of `search_parts`, made as they are needed, which holds the messages
    /// from position `first` to the next part's. `state` 1: something was deleted from it, 2: it is being merged.
    /// `search_rows` tells where an indexed message stands; `search_gone` what the index has to lose, with the text it
    /// knows. `meta.indexed` is the position up to which all is indexed, or listed in `search_rows` to be.
    private static let version14 = """
        ALTER TABLE meta ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE search_parts (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            first INTEGER NOT NULL UNIQUE, count INTEGER NOT NULL, oldest INTEGER NOT NULL, newest INTEGER NOT NULL,
            state INTEGER NOT NULL
        );
        CREATE TABLE search_rows (
            position INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER NOT NULL, time INTEGER NOT NULL
        );
        INSERT INTO search_rows SELECT position, a, b, time FROM messages
            WHERE event = 0 AND text != '' AND position <= (SELECT merged FROM meta) ORDER BY position;
        CREATE TABLE search_gone (
            position INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER NOT NULL, time INTEGER NOT NULL,
            uid INTEGER NOT NULL, source TEXT NOT NULL, text TEXT NOT NULL
        );
        CREATE TRIGGER search_log_changed BEFORE UPDATE OF text ON log
            WHEN old.kind < 10 AND old.text != '' AND old.position <= (SELECT indexed FROM meta)
        BEGIN
            INSERT OR IGNORE INTO search_gone VALUES
                (old.position, old.a, old.b, old.time, old.uid, old.source, old.text);
        END;
        CREATE TRIGGER search_message_changed BEFORE UPDATE OF text ON messages
            WHEN old.event = 0 AND old.text != '' AND old.position <= (SELECT indexed FROM meta)
        BEGIN
            INSERT OR IGNORE INTO search_gone VALUES
                (old.position, old.a, old.b, old.time, old.uid, old.source, old.text);
        END;
        CREATE TRIGGER search_message_removed BEFORE DELETE ON messages WHEN old.event = 0 AND old.text != '' BEGIN
            INSERT OR IGNORE INTO search_gone
                SELECT old.position, old.a, old.b, old.time, old.uid, old.source, old.text
                WHERE old.position <= (SELECT indexed FROM meta);
            DELETE FROM search_rows WHERE position = old.position;
        END;
        """

    /// How long channels are kept, by their own operators: seconds and messages, 0 is no limit.
    private static let version15 = """
        ALTER TABLE channels ADD COLUMN retain_age INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE channels ADD COLUMN retain_count INTEGER NOT NULL DEFAULT 0;
        """
}
