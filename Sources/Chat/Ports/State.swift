package import Bytes

/// What is kept of a channel besides its log, whole: `Change.saveChannel` replaces the row.
package struct ChannelState: Sendable, Equatable {
    package var id: Int64
    /// As its founder wrote it.
    package var name: ByteString
    /// Seconds since 1970.
    package var created: Int64
    package var founder: UID
    package var topic: ByteString
    /// `nick!user@host` of who set it.
    package var topicSetter: ByteString
    package var topicTime: Int64
    /// Flag letters that are on, `nt`.
    package var modes: ByteString
    /// Empty: none.
    package var key: ByteString
    /// 0: none.
    package var limit: Int32
    /// `+f` parameter; empty: none.
    package var flood: ByteString
    /// Seconds since 1970 when somebody last was in it.
    package var used: Int64
    /// As its operators have set it; the server's counts too.
    package var retention = Retention()

    package init(id: Int64, name: ByteString, created: Int64, founder: UID) {
        self.id = id
        self.name = name
        self.created = created
        self.founder = founder
        topic = ""
        topicSetter = ""
        topicTime = 0
        modes = ""
        key = ""
        limit = 0
        flood = ""
        used = created
    }
}

/// One entry of a channel's list `b`, `e` or `I`.
package struct ListEntry: Sendable, Equatable {
    package var mask: ByteString
    package var setter: ByteString
    /// Seconds since 1970.
    package var time: Int64

    package init(mask: ByteString, setter: ByteString, time: Int64) {
        self.mask = mask
        self.setter = setter
        self.time = time
    }
}

/// A place in a channel that outlives the connection: who left by QUIT comes back to it, with these ranks.
/// The row names the channel by its id, so it survives a rename.
package struct MemberState: Sendable, Equatable {
    package var channel: Int64
    package var uid: UID
    /// Bits of `Rank`.
    package var ranks: UInt8
    /// False: only the ranks are kept (parted), the return does not join.
    package var present: Bool
    /// First position that this member may read where `history-visibility` is `joined`.
    package var joined: Int64

    package init(channel: Int64, uid: UID, ranks: UInt8, present: Bool, joined: Int64) {
        self.channel = channel
        self.uid = uid
        self.ranks = ranks
        self.present = present
        self.joined = joined
    }
}

/// What is kept of an identity; written with the first thing worth keeping.
package struct IdentityState: Sendable, Equatable {
    package var uid: UID
    package var nick: ByteString
    package var name: ByteString
    /// Rises with IDENTITY REVOKE; part of the token's MAC.
    package var epoch: Int64
    /// Seconds since 1970.
    package var created: Int64
    package var seen: Int64

    package init(uid: UID, nick: ByteString, name: ByteString, epoch: Int64, created: Int64, seen: Int64) {
        self.uid = uid
        self.nick = nick
        self.name = name
        self.epoch = epoch
        self.created = created
        self.seen = seen
    }
}

/// A ban of the whole server, set by an operator; `Change.saveServerBan` replaces the row of the same kind and mask.
package struct ServerBan: Sendable, Equatable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// Who may not be here, by `user@host`.
        case kline = 1
        /// Addresses that may not connect.
        case dline
        /// Nicks that nobody may take.
        case resv
        /// Who may be here but not speak, by `user@host`.
        case shun
    }

    package var kind: Kind
    package var mask: ByteString
    package var reason: ByteString
    /// Nick of the operator.
    package var setter: ByteString
    /// Seconds since 1970.
    package var time: Int64
    /// Seconds since 1970; 0: for good.
    package var expires: Int64

    package init(
        kind: Kind, mask: ByteString, reason: ByteString, setter: ByteString, time: Int64, expires: Int64 = 0
    ) {
        self.kind = kind
        self.mask = mask
        self.reason = reason
        self.setter = setter
        self.time = time
        self.expires = expires
    }
}

/// A change of kept state; committed in the same transaction as the records around it.
package enum Change: Sendable, Equatable {
    case saveChannel(ChannelState)
    /// The channel, its lists, members, metadata and history.
    case dropChannel(id: Int64)
    case addListEntry(channel: Int64, mode: UInt8, ListEntry)
    case removeListEntry(channel: Int64, mode: UInt8, mask: ByteString)
    case saveMember(MemberState)
    case removeMember(channel: Int64, uid: UID)
    case saveIdentity(IdentityState)
    /// nil removes the key.
    case setMetadata(MetadataOwner, key: ByteString, value: ByteString?)
    case saveServerBan(ServerBan)
    case saveUpload(UploadState)
    case dropUpload(Int64)
    /// The picture, in the place of its upload. One of these in a refused batch is not tried again.
    case postImage(ImageState, UploadState)
    case dropPortrait(UID)
    case removeServerBan(ServerBan.Kind, mask: ByteString)
    case saveReadMark(UID, ReadMark)
    case removeReadMark(UID, Conversation)
    /// An identity that is gone was sent this message; the first one counts.
    case noteMissed(UID, MessageMark)
    case forgetMissed(UID)
    /// All up to this position has come; found at this time in milliseconds.
    case saveDelivered(UID, position: Int64, time: Int64)
    case account(AccountChange)
    /// The identity with all that is kept of it, and everything it ever said.
    case erase(UID)
}

/// Where a conversation's newest message is, as opposed to its events; zeros: there is none.
package struct MessageMark: Sendable, Equatable {
    package var position: Int64 = 0
    /// Milliseconds since 1970.
    package var time: Int64 = 0

    package init() {}

    package init(position: Int64, time: Int64) {
        self.position = position
        self.time = time
    }
}

/// Everything World needs to know when it starts; identities and their places are asked for when they return.
package struct StoredState: Sendable {
    package struct Channel: Sendable {
        package var state: ChannelState
        /// Keyed by mode letter.
        package var lists: [UInt8: [ListEntry]]
        package var metadata: Metadata
        /// Time of the newest record in milliseconds; 0: none.
        package var lastTime: Int64
        package var lastMessage = MessageMark()

        package init(state: ChannelState) {
            self.state = state
            lists = [:]
            metadata = Metadata()
            lastTime = 0
        }
    }

    package var channels: [Channel] = []
    /// Pictures that were coming in.
    package var uploads: [UploadState] = []
    /// In the order they were set.
    package var serverBans: [ServerBan] = []
    /// The newest ones, oldest first.
    package var departed: [DepartedState] = []
    package var accountNames: [AccountName] = []
    /// The highest position ever committed (also when its record is gone); 0: none.
    package var lastPosition: Int64 = 0
    /// The highest channel id ever used.
    package var lastChannelID: Int64 = 0
    /// Time of the newest record in milliseconds.
    package var lastTime: Int64 = 0

    package init() {}
}

/// What one group commit writes: all of it or nothing.
package struct JournalBatch: Sendable {
    /// Rises by one with each batch.
    package var number: Int64
    package var records: [LogRecord]
    package var changes: [Change]

    package init(number: Int64, records: [LogRecord] = [], changes: [Change] = []) {
        self.number = number
        self.records = records
        self.changes = changes
    }

    package var isEmpty: Bool { records.isEmpty && changes.isEmpty }
}

/// The journal's answer.
package enum JournalOutcome: Sendable, Equatable {
    case committed(batch: Int64)
    /// Nothing of the batch is stored. `reason` is for the log.
    case failed(batch: Int64, reason: String)
    /// After a failure: the store accepts writes again.
    case recovered
}
