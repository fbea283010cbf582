package import Bytes

/// Where a page begins or ends.
package enum PageReference: Sendable, Equatable {
    case position(Int64)
    /// Milliseconds since 1970.
    case time(Int64)
}

/// Which part of a conversation is asked for. Bounds are exclusive, as in IRCv3 chathistory.
package enum PageSelector: Sendable, Equatable {
    case latest(after: PageReference?)
    case before(PageReference)
    case after(PageReference)
    case around(PageReference)
    case between(PageReference, PageReference)
}

/// A question to the history reader; the answer carries the same number.
package struct HistoryQuestion: Sendable, Equatable {
    package var number: Int64
    package var conversation: Conversation
    package var selector: PageSelector
    /// At most this many records.
    package var limit: Int
    /// The others are passed over, so that a page is full of these.
    package var kinds: RecordKinds
    /// With `latest`: only this identity's, as far as they are not long ago; `none`: everybody's.
    package var author: UID
    /// Nothing older than this position (0: everything).
    package var oldest: Int64
    /// Nothing newer than this position: what comes later is delivered live.
    package var newest: Int64

    package init(
        number: Int64, conversation: Conversation, selector: PageSelector, limit: Int,
        kinds: RecordKinds = .messages, author: UID = .none,
        oldest: Int64 = 0, newest: Int64 = .max
    ) {
        self.number = number
        self.conversation = conversation
        self.selector = selector
        self.limit = limit
        self.kinds = kinds
        self.author = author
        self.oldest = oldest
        self.newest = newest
    }
}

/// The answer, oldest record first.
package struct HistoryPage: Sendable, Equatable {
    package var number: Int64
    package var records: [LogRecord]
    /// The counterparts of these records, by position.
    package var counterparts: [Int64: LogRecord] = [:]
    /// Nothing else is in the part that was asked for: there is no further page.
    package var isComplete: Bool
    /// The reader could not answer; the reason is for the log.
    package var failure: String?

    package init(number: Int64, records: [LogRecord], isComplete: Bool, failure: String? = nil) {
        self.number = number
        self.records = records
        self.isComplete = isComplete
        self.failure = failure
    }
}

/// A question about all direct conversations of an identity at once.
package struct DirectQuestion: Sendable, Equatable {
    package enum Wanted: Sendable, Equatable {
        /// The newest message of each conversation, where its time lies between these and is neither; as many as asked
        /// for, beginning at the first. Where several have the same time all of them are told.
        case heads(from: Int64, to: Int64)
        /// The newest of what others said to it from this one on.
        case received(since: MessageMark)
        /// Whether anything is kept of the identity: nothing is, where the answer is not complete.
        case existence
    }

    package var number: Int64
    package var uid: UID
    package var wanted: Wanted
    package var limit: Int
    /// Nothing newer than this position.
    package var newest: Int64

    package init(number: Int64, uid: UID, wanted: Wanted, limit: Int, newest: Int64) {
        self.number = number
        self.uid = uid
        self.wanted = wanted
        self.limit = limit
        self.newest = newest
    }
}

/// The answer, oldest record first.
package struct DirectAnswer: Sendable, Equatable {
    package var number: Int64
    package var records: [LogRecord]
    /// The counterparts of these records, by position.
    package var counterparts: [Int64: LogRecord] = [:]
    /// With `heads`, the accounts of those who have one.
    package var accounts: [UID: ByteString] = [:]
    /// Nothing more was wanted than what is here.
    package var isComplete: Bool
    package var failure: String?

    package init(number: Int64, records: [LogRecord], isComplete: Bool, failure: String? = nil) {
        self.number = number
        self.records = records
        self.isComplete = isComplete
        self.failure = failure
    }
}

/// A slow check of a secret (argon2id), answered by `Event.verified` with the same number.
package struct PasswordQuestion: Sendable {
    package var number: Int64
    package var password: ByteString
    /// The encoded hash (`$argon2id$…`).
    package var hash: ByteString
    /// It does not wait behind what everybody may ask for.
    package var isOperators: Bool

    package init(number: Int64, password: ByteString, hash: ByteString, isOperators: Bool = false) {
        self.number = number
        self.password = password
        self.hash = hash
        self.isOperators = isOperators
    }
}

/// Makes what is kept of a password (argon2id, PBKDF2), answered by `Event.derived` with the same number.
package struct DerivationQuestion: Sendable {
    package var number: Int64
    package var password: ByteString
    /// It does not wait behind what everybody may ask for.
    package var isOperators: Bool

    package init(number: Int64, password: ByteString, isOperators: Bool = false) {
        self.number = number
        self.password = password
        self.isOperators = isOperators
    }
}

/// Who is this, and where was it? Asked when somebody returns; the answer carries the same number.
package struct IdentityQuestion: Sendable, Equatable {
    package enum Who: Sendable, Equatable {
        case uid(UID)
        /// In any case; of several the one seen last.
        case nick(ByteString)
        /// The folded name of its account.
        case account(ByteString)
        /// SHA-256 of one of its account's certificates, in hex.
        case certificate(ByteString)
        /// Accounts in order of their folded names, behind this one.
        case accounts(after: ByteString, limit: Int)
    }

    package var number: Int64
    package var who: Who

    package init(number: Int64, who: Who) {
        self.number = number
        self.who = who
    }
}

package struct IdentityAnswer: Sendable, Equatable {
    package var number: Int64
    /// nil: nothing is kept of this uid (which does not make its token wrong).
    package var state: IdentityState?
    package var members: [MemberState]
    package var metadata: Metadata
    package var correspondence = Correspondence()
    /// nil: it has none.
    package var account: AccountState?
    /// What `accounts(after:limit:)` asks for.
    package var accounts: [AccountState] = []
    package var failure: String?

    package init(
        number: Int64, state: IdentityState?, members: [MemberState], metadata: Metadata = Metadata(),
        account: AccountState? = nil,
        failure: String? = nil
    ) {
        self.number = number
        self.state = state
        self.members = members
        self.metadata = metadata
        self.account = account
        self.failure = failure
    }
}

/// What did this identity send under this name (`parley.chat/cid`)?
package struct SentQuestion: Sendable, Equatable {
    package var number: Int64
    package var uid: UID
    package var cid: ByteString
    /// Not before this time.
    package var since: Int64

    package init(number: Int64, uid: UID, cid: ByteString, since: Int64) {
        self.number = number
        self.uid = uid
        self.cid = cid
        self.since = since
    }
}

/// A message by where it is and when it was said.
package struct SentMessage: Sendable, Equatable {
    package var conversation: Conversation
    package var position: Int64
    package var time: Int64

    package init(conversation: Conversation, position: Int64, time: Int64) {
        self.conversation = conversation
        self.position = position
        self.time = time
    }
}

/// The answer: at most one of each conversation.
package struct SentAnswer: Sendable, Equatable {
    package var number: Int64
    package var sent: [SentMessage]
    package var failure: String?

    package init(number: Int64, sent: [SentMessage], failure: String? = nil) {
        self.number = number
        self.sent = sent
        self.failure = failure
    }
}

/// Who got a message of this author, and who has read it?
package struct ReceiptsQuestion: Sendable, Equatable {
    package var number: Int64
    package var conversation: Conversation
    package var position: Int64
    package var author: UID
    /// Nothing older than this position.
    package var oldest: Int64
    package var limit: Int

    package init(
        number: Int64, conversation: Conversation, position: Int64, author: UID, oldest: Int64, limit: Int
    ) {
        self.number = number
        self.conversation = conversation
        self.position = position
        self.author = author
        self.oldest = oldest
        self.limit = limit
    }
}

package struct Receipt: Sendable, Equatable {
    package var uid: UID
    /// Read, and not only delivered.
    package var isRead: Bool
    /// Up to when it has read, or when it was found to be delivered; milliseconds since 1970.
    package var time: Int64

    package init(uid: UID, isRead: Bool, time: Int64) {
        self.uid = uid
        self.isRead = isRead
        self.time = time
    }
}

package struct ReceiptsAnswer: Sendable, Equatable {
    package var number: Int64
    /// Whether the author has a message there.
    package var isFound: Bool
    /// In order of the uids.
    package var receipts: [Receipt]
    package var failure: String?

    package init(number: Int64, isFound: Bool, receipts: [Receipt] = [], failure: String? = nil) {
        self.number = number
        self.isFound = isFound
        self.receipts = receipts
        self.failure = failure
    }
}
