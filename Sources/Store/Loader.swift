import Chat

/// Reads at the start what the World and the journal need, by seeks and without passing over history.
struct Loader {
    var state = StoredState()
    let tail = Tail()
    let merge: MergeState
    var dropped: [DroppedChannel] = []
    var erased: [ErasedPerson] = []
    var indexed: Int64 = 0

    init(_ database: borrowing Database) throws(SQLiteFailure) {
        merge = try MergeState(database.prepare(MergeState.select))
        try loadDropped(database)
        try loadErased(database)
        try loadTail(database)
        try loadChannels(database)
        try loadLists(database)
        try loadMetadata(database)
        try loadServerBans(database)
        try loadDeparted(database)
        try loadAccountNames(database)
        try loadUploads(database)
        let marks = database.prepare("SELECT position, time, channel, indexed FROM meta")
        guard try marks.step() else { throw .finding("meta is empty") }
        state.lastPosition = max(state.lastPosition, marks.integer(0))
        state.lastTime = max(state.lastTime, marks.integer(1))
        state.lastChannelID = max(state.channels.last?.state.id ?? 0, marks.integer(2))
        indexed = marks.integer(3)
    }

    private mutating func loadDropped(_ database: borrowing Database) throws(SQLiteFailure) {
        let rows = database.prepare("SELECT channel, position FROM dropped ORDER BY channel")
        while try rows.step() { dropped.append(DroppedChannel(id: rows.integer(0), position: rows.integer(1))) }
    }

    private mutating func loadErased(_ database: borrowing Database) throws(SQLiteFailure) {
        let rows = database.prepare("SELECT uid, position, a, b, event, last FROM erased")
        while try rows.step() {
            erased.append(
                ErasedPerson(
                    uid: rows.integer(0), position: rows.integer(1), cursor: (2..<6).map { rows.integer($0) }))
        }
    }

    private mutating func loadTail(_ database: borrowing Database) throws(SQLiteFailure) {
        let rows = database.prepare(
            "SELECT position, time, kind, a, b, uid FROM log WHERE position > ?1 ORDER BY position")
        rows.bind(1, merge.merged)
        while try rows.step() {
            let entry = TailEntry(
                position: rows.integer(0), time: rows.integer(1), kind: UInt8(clamping: rows.integer(2)),
                uid: UID(number: rows.integer(5)))
            let conversation = Conversation(a: rows.integer(3), b: rows.integer(4))
            if entry.position > merge.moved(conversation) { tail.restore(conversation, entry) }
            state.lastPosition = entry.position
            state.lastTime = max(state.lastTime, entry.time)
        }
    }

    private mutating func loadChannels(_ database: borrowing Database) throws(SQLiteFailure) {
        let rows = database.prepare(
            """
            SELECT id, name, created, founder, topic, topic_setter, topic_time, modes, key, user_limit, flood, used,
                retain_age, retain_count
            FROM channels ORDER BY id
            """)
        let newest = database.prepare(
            "SELECT position, time FROM messages WHERE a = ?1 AND b = 0 AND event = ?2 ORDER BY position DESC LIMIT 1")
        while try rows.step() {
            var channel = StoredState.Channel(state: Self.channel(rows))
            let conversation = Conversation.channel(channel.state.id)
            if let message = tail.newest(conversation, .messages) {
                channel.lastMessage = MessageMark(position: message.position, time: message.time)
            }
            channel.lastTime = tail.newest(conversation)?.time ?? 0
            for shelf in Shelf.allCases {
                newest.bind([channel.state.id, shelf.rawValue])
                if try newest.step() {
                    channel.lastTime = max(channel.lastTime, newest.integer(1))
                    if shelf == .messages, channel.lastMessage.position == 0 {
                        channel.lastMessage = MessageMark(position: newest.integer(0), time: newest.integer(1))
                    }
                }
                newest.reset()
            }
            state.channels.append(channel)
        }
    }

    private static func channel(_ rows: borrowing Statement) -> ChannelState {
        var state = ChannelState(
            id: rows.integer(0), name: rows.bytes(1), created: rows.integer(2), founder: UID(number: rows.integer(3)))
        state.topic = rows.bytes(4)
        state.topicSetter = rows.bytes(5)
        state.topicTime = rows.integer(6)
        state.modes = rows.bytes(7)
        state.key = rows.bytes(8)
        state.limit = Int32(truncatingIfNeeded: rows.integer(9))
        state.flood = rows.bytes(10)
        state.used = rows.integer(11)
        state.retention = Retention(age: rows.integer(12), count: rows.integer(13))
        return state
    }

    /// Both are in order of the channel's id, so one pass fits them together.
    private mutating func loadLists(_ database: borrowing Database) throws(SQLiteFailure) {
        let rows = database.prepare(
            "SELECT channel, mode, mask, setter, time FROM channel_lists ORDER BY channel, id")
        var index = 0
        while try rows.step() {
            while index < state.channels.count, state.channels[index].state.id < rows.integer(0) { index += 1 }
            guard index < state.channels.count, state.channels[index].state.id == rows.integer(0) else { continue }
            let entry = ListEntry(mask: rows.bytes(2), setter: rows.bytes(3), time: rows.integer(4))
            state.channels[index].lists[UInt8(truncatingIfNeeded: rows.integer(1)), default: []].append(entry)
        }
    }

    /// Both are in order of the channel's id.
    private mutating func loadMetadata(_ database: borrowing Database) throws(SQLiteFailure) {
        let rows = database.prepare("SELECT owner, key, value FROM metadata WHERE kind = 2 ORDER BY owner, key")
        var index = 0
        while try rows.step() {
            while index < state.channels.count, state.channels[index].state.id < rows.integer(0) { index += 1 }
            guard index < state.channels.count, state.channels[index].state.id == rows.integer(0) else { continue }
            state.channels[index].metadata[rows.bytes(1)] = rows.bytes(2)
        }
    }

    /// Who was here last, by an index; as many as World remembers.
    private mutating func loadDeparted(_ database: borrowing Database) throws(SQLiteFailure) {
        let rows = database.prepare("SELECT uid, nick, seen FROM identities ORDER BY seen DESC LIMIT ?1")
        rows.bind(1, Int64(Limits.departed))
        while try rows.step() {
            state.departed.append(
                DepartedState(uid: UID(number: rows.integer(0)), nick: rows.bytes(1), seen: rows.integer(2)))
        }
        state.departed.reverse()
    }

    /// One pass over an index that holds nothing else.
    private mutating func loadAccountNames(_ database: borrowing Database) throws(SQLiteFailure) {
        let rows = database.prepare(
            "SELECT name, look, uid, code_expires, standing FROM accounts INDEXED BY account_names")
        while try rows.step() {
            let isUnverified = rows.integer(4) == Int64(AccountState.Standing.unverified.rawValue)
            let isClosed = rows.integer(4) == Int64(AccountState.Standing.closed.rawValue)
            state.accountNames.append(
                AccountName(
                    name: rows.bytes(0), look: rows.bytes(1), uid: UID(number: isClosed ? 0 : rows.integer(2)),
                    expires: isUnverified ? rows.integer(3) : 0))
        }
    }

    /// A kind that is not known (written by a later release) bans nobody, and stays.
    private mutating func loadServerBans(_ database: borrowing Database) throws(SQLiteFailure) {
        let rows = database.prepare("SELECT kind, mask, reason, setter, time, expires FROM server_bans ORDER BY id")
        while try rows.step() {
            guard let kind = UInt8(exactly: rows.integer(0)).flatMap(ServerBan.Kind.init) else { continue }
            state.serverBans.append(
                ServerBan(
                    kind: kind, mask: rows.bytes(1), reason: rows.bytes(2), setter: rows.bytes(3),
                    time: rows.integer(4), expires: rows.integer(5)))
        }
    }

    /// What came of them is in their files.
    private mutating func loadUploads(_ database: borrowing Database) throws(SQLiteFailure) {
        let rows = database.prepare("SELECT \(ImageStatements.uploadColumns) FROM uploads ORDER BY id")
        while try rows.step() {
            guard let type = UInt8(exactly: rows.integer(5)).flatMap(ImageType.init) else { continue }
            var state = UploadState(
                id: rows.integer(0), uid: UID(number: rows.integer(1)),
                conversation: Conversation(a: rows.integer(2), b: rows.integer(3)), target: rows.bytes(4), type: type)
            state.size = rows.integer(6)
            state.hash = rows.bytes(7)
            state.name = rows.bytes(8)
            state.reference = rows.bytes(9)
            state.caption = rows.bytes(10)
            state.tags = rows.bytes(11)
            self.state.uploads.append(state)
        }
    }
}
