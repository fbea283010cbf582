import Bytes
import Chat

/// Writing a `Change`; one statement or a few for each case.
struct ChangeStatements: ~Copyable, Sendable {
    private let saveChannel: Statement
    private let dropChannel: Statement
    private let dropLists: Statement
    private let dropMembers: Statement
    private let noteDropped: Statement
    private let noteChannel: Statement
    private let addListEntry: Statement
    private let removeListEntry: Statement
    private let saveMember: Statement
    private let removeMember: Statement
    private let saveIdentity: Statement
    private let setMetadata: Statement
    private let removeMetadata: Statement
    private let dropMetadata: Statement
    private let images: ImageStatements
    private let saveServerBan: Statement
    private let removeServerBan: Statement
    private let saveReadMark: Statement
    private let saveDelivered: Statement
    private let removeReadMark: Statement
    private let noteMissed: Statement
    private let forgetMissed: Statement
    private let accounts: AccountStatements
    let erasing: EraseStatements

    init(_ database: borrowing Database) {
        saveChannel = database.prepare(
            """
            INSERT OR REPLACE INTO channels (id, name, created, founder, topic, topic_setter, topic_time, modes, key,
                user_limit, flood, used, retain_age, retain_count)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
            """)
        dropChannel = database.prepare("DELETE FROM channels WHERE id = ?1")
        dropLists = database.prepare("DELETE FROM channel_lists WHERE channel = ?1")
        dropMembers = database.prepare("DELETE FROM members WHERE channel = ?1")
        noteDropped = database.prepare("INSERT OR REPLACE INTO dropped (channel, position) VALUES (?1, ?2)")
        noteChannel = database.prepare("UPDATE meta SET channel = max(channel, ?1)")
        // Setting an entry again keeps its place in the list.
        addListEntry = database.prepare(
            """
            INSERT INTO channel_lists (channel, mode, time, mask, setter) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (channel, mode, mask) DO UPDATE SET setter = excluded.setter, time = excluded.time
            """)
        removeListEntry = database.prepare(
            "DELETE FROM channel_lists WHERE channel = ?1 AND mode = ?2 AND mask = ?3")
        saveMember = database.prepare(
            "INSERT OR REPLACE INTO members (channel, uid, ranks, present, joined) VALUES (?1, ?2, ?3, ?4, ?5)")
        removeMember = database.prepare("DELETE FROM members WHERE channel = ?1 AND uid = ?2")
        saveIdentity = database.prepare(
            "INSERT OR REPLACE INTO identities (uid, epoch, created, seen, nick, name) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        setMetadata = database.prepare(
            "INSERT OR REPLACE INTO metadata (kind, owner, key, value) VALUES (?1, ?2, ?3, ?4)")
        removeMetadata = database.prepare("DELETE FROM metadata WHERE kind = ?1 AND owner = ?2 AND key = ?3")
        dropMetadata = database.prepare("DELETE FROM metadata WHERE kind = ?1 AND owner = ?2")
        images = ImageStatements(database)
        saveServerBan = database.prepare(
            """
            INSERT OR REPLACE INTO server_bans (kind, time, expires, mask, reason, setter)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """)
        removeServerBan = database.prepare("DELETE FROM server_bans WHERE kind = ?1 AND mask = ?2")
        saveDelivered = database.prepare("INSERT OR REPLACE INTO delivered (uid, position, time) VALUES (?1, ?2, ?3)")
        saveReadMark = database.prepare("INSERT OR REPLACE INTO read_marks (uid, a, b, time) VALUES (?1, ?2, ?3, ?4)")
        removeReadMark = database.prepare("DELETE FROM read_marks WHERE uid = ?1 AND a = ?2 AND b = ?3")
        noteMissed = database.prepare("INSERT OR IGNORE INTO missed (uid, position, time) VALUES (?1, ?2, ?3)")
        forgetMissed = database.prepare("DELETE FROM missed WHERE uid = ?1")
        accounts = AccountStatements(database)
        erasing = EraseStatements(database)
    }

    /// `position`: the newest record at that moment; a dropped channel and an erased person have
    /// none above it.
    func apply(_ change: Change, position: Int64) throws(SQLiteFailure) {
        switch change {
        case .saveChannel(let state): try save(state)
        case .dropChannel(let id):
            try dropChannel.run(id)
            try dropLists.run(id)
            try dropMembers.run(id)
            try dropMetadata.run(MetadataOwner.channel(id).kind, id)
            try noteDropped.run(id, position)
            try noteChannel.run(id)
        case .addListEntry(let channel, let mode, let entry):
            addListEntry.bind([channel, Int64(mode), entry.time])
            addListEntry.bind(4, entry.mask)
            addListEntry.bind(5, entry.setter)
            try addListEntry.run()
        case .removeListEntry(let channel, let mode, let mask):
            removeListEntry.bind([channel, Int64(mode)])
            removeListEntry.bind(3, mask)
            try removeListEntry.run()
        case .saveMember(let member):
            try saveMember.run(
                member.channel, member.uid.number, Int64(member.ranks), member.present ? 1 : 0, member.joined)
        case .removeMember(let channel, let uid): try removeMember.run(channel, uid.number)
        case .saveIdentity(let state):
            saveIdentity.bind([state.uid.number, state.epoch, state.created, state.seen])
            saveIdentity.bind(5, state.nick)
            saveIdentity.bind(6, state.name)
            try saveIdentity.run()
        case .setMetadata(let owner, let key, let value):
            try set(owner, key, value)
        case .saveUpload(let state): try images.save(state)
        case .dropUpload(let id): try images.drop(id)
        case .postImage(let image, let state):
            try images.drop(state.id)
            try images.add(image)
        case .dropPortrait(let uid): try images.dropPortrait(uid)
        case .saveServerBan(let ban):
            saveServerBan.bind([Int64(ban.kind.rawValue), ban.time, ban.expires])
            saveServerBan.bind(4, ban.mask)
            saveServerBan.bind(5, ban.reason)
            saveServerBan.bind(6, ban.setter)
            try saveServerBan.run()
        case .removeServerBan(let kind, let mask):
            removeServerBan.bind([Int64(kind.rawValue)])
            removeServerBan.bind(2, mask)
            try removeServerBan.run()
        case .saveDelivered(let uid, let position, let time): try saveDelivered.run(uid.number, position, time)
        case .saveReadMark(let uid, let mark):
            try saveReadMark.run(uid.number, mark.conversation.a, mark.conversation.b, mark.time)
        case .removeReadMark(let uid, let conversation):
            try removeReadMark.run(uid.number, conversation.a, conversation.b)
        case .noteMissed(let uid, let mark): try noteMissed.run(uid.number, mark.position, mark.time)
        case .forgetMissed(let uid): try forgetMissed.run(uid.number)
        case .account(let change): try accounts.apply(change)
        case .erase(let uid): try erase(uid, position)
        }
    }

    private func erase(_ uid: UID, _ position: Int64) throws(SQLiteFailure) {
        try dropMetadata.run(MetadataOwner.identity(uid).kind, uid.number)
        try forgetMissed.run(uid.number)
        try erasing.begin(uid, position: position)
    }

    private func set(_ owner: MetadataOwner, _ key: ByteString, _ value: ByteString?) throws(SQLiteFailure) {
        guard let value else {
            removeMetadata.bind([owner.kind, owner.number])
            removeMetadata.bind(3, key)
            return try removeMetadata.run()
        }
        setMetadata.bind([owner.kind, owner.number])
        setMetadata.bind(3, key)
        setMetadata.bind(4, value)
        try setMetadata.run()
    }

    private func save(_ state: ChannelState) throws(SQLiteFailure) {
        saveChannel.bind(1, state.id)
        saveChannel.bind(2, state.name)
        saveChannel.bind(3, state.created)
        saveChannel.bind(4, state.founder.number)
        saveChannel.bind(5, state.topic)
        saveChannel.bind(6, state.topicSetter)
        saveChannel.bind(7, state.topicTime)
        saveChannel.bind(8, state.modes)
        saveChannel.bind(9, state.key)
        saveChannel.bind(10, Int64(state.limit))
        saveChannel.bind(11, state.flood)
        saveChannel.bind(12, state.used)
        saveChannel.bind(13, state.retention.age)
        saveChannel.bind(14, state.retention.count)
        try saveChannel.run()
    }
}

extension MetadataOwner {
    /// As the table has it.
    var kind: Int64 {
        switch self {
        case .identity: 1
        case .channel: 2
        }
    }

    var number: Int64 {
        switch self {
        case .identity(let uid): uid.number
        case .channel(let id): id
        }
    }
}
