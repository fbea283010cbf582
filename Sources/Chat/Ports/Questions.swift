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
    /// Also joins, parts, topics and so on.
    package var events: Bool
    /// Nothing older than this position (0: everything).
    package var oldest: Int64
    /// Nothing newer than this position: what comes later is delivered live.
    package var newest: Int64

    package init(
        number: Int64, conversation: Conversation, selector: PageSelector, limit: Int, events: Bool = false,
        oldest: Int64 = 0, newest: Int64 = .max
    ) {
        self.number = number
        self.conversation = conversation
        self.selector = selector
        self.limit = limit
        self.events = events
        self.oldest = oldest
        self.newest = newest
    }
}

/// The answer, oldest record first.
package struct HistoryPage: Sendable, Equatable {
    package var number: Int64
    package var records: [LogRecord]
    /// Nothing older is left in the conversation (within `oldest`).
    package var reachesStart: Bool
    /// The reader could not answer; the reason is for the log.
    package var failure: String?

    package init(number: Int64, records: [LogRecord], reachesStart: Bool, failure: String? = nil) {
        self.number = number
        self.records = records
        self.reachesStart = reachesStart
        self.failure = failure
    }
}

/// A slow check of a secret (argon2id), answered by `Event.verified` with the same number.
package struct PasswordQuestion: Sendable {
    package var number: Int64
    package var password: ByteString
    /// The encoded hash (`$argon2id$…`).
    package var hash: ByteString

    package init(number: Int64, password: ByteString, hash: ByteString) {
        self.number = number
        self.password = password
        self.hash = hash
    }
}

/// Who is this uid, and where was it? Asked when a guest returns; the answer carries the same number.
package struct IdentityQuestion: Sendable, Equatable {
    package var number: Int64
    package var uid: UID

    package init(number: Int64, uid: UID) {
        self.number = number
        self.uid = uid
    }
}

package struct IdentityAnswer: Sendable, Equatable {
    package var number: Int64
    /// nil: nothing is kept of this uid (which does not make its token wrong).
    package var state: IdentityState?
    package var members: [MemberState]
    package var failure: String?

    package init(number: Int64, state: IdentityState?, members: [MemberState], failure: String? = nil) {
        self.number = number
        self.state = state
        self.members = members
        self.failure = failure
    }
}
