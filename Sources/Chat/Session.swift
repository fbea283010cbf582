package import Bytes
import Wire

/// One connection: how it speaks and how far it has come. What it *is* on the network is its user.
package struct Session: Sendable {
    package enum Manner: Sendable {
        /// Nothing was said yet that tells.
        case undecided
        /// A person who types: no CAP, no USER.
        case plain
        /// An IRC client.
        case client
    }

    package enum Stage: Sendable {
        case opening
        case registered
        /// Nothing more is read; what is owed still leaves.
        case closing
    }

    package let id: ConnectionID
    /// A gateway's until it says for whom it connects (WEBIRC).
    package internal(set) var peer: Peer
    package var manner = Manner.undecided
    package var stage = Stage.opening
    package var user: UserID?
    /// The channel that typed text goes to (plain sessions).
    package var talkingIn: ChannelID?
    package var isGreeted = false
    package var wantsAcks = false
    /// It said `AWAY *`: it is there without its person (IRCv3 pre-away).
    package var isAbsent = false
    /// Input waits for the answer to a question (identity, password).
    package var isWaiting = false
    /// The input ended meanwhile; the session ends with the answer.
    package var isInputOver = false
    /// A picture comes from it.
    package var sendsImage = false
    /// More of a picture came than is on the disk by far.
    package var isWindowFull = false
    /// QUIT was said while pictures were being sent; nil: it was not.
    package var leaving: ByteString?
    package var allowance: Allowance
    /// Steady milliseconds until which the connection is not read; 0: it is read.
    package var throttledUntil: Int64 = 0
    /// Steady milliseconds.
    package let connected: Int64
    /// Steady milliseconds of the last line.
    package var heard: Int64
    package var isPinged = false
    /// The last position when the PING was sent that is not answered yet; 0: none is.
    package var pingedPosition: Int64 = 0
    /// The last position when a person's last line came.
    package var typedPosition: Int64 = 0
    /// Steady milliseconds when a PING will ask what has come; 0: none will.
    package var confirmsAt: Int64 = 0

    package init(id: ConnectionID, peer: Peer, now: Int64, burst: Int) {
        self.id = id
        self.peer = peer
        allowance = Allowance(burst: burst, now: now)
        connected = now
        heard = now
    }

    package var isPlain: Bool { manner == .plain }
}

/// Flood control: thousandths of a message that may be sent at once, as of a steady time.
package struct Allowance: Sendable {
    private var left: Int64
    private(set) var refilled: Int64

    init(burst: Int, now: Int64) {
        left = Int64(burst) * 1000
        refilled = now
    }

    /// Milliseconds until what was taken is earned back; 0: there was enough.
    mutating func take(_ cost: Int64, burst: Int, rate: Double, now: Int64) -> Int64 {
        left = min(Int64(burst) * 1000, left + Int64(Double(now - refilled) * rate)) - cost
        refilled = now
        return left < 0 ? max(1, Int64(Double(-left) / rate)) : 0
    }
}

/// What a connection says of itself before it is somebody; dropped when registration ends.
package struct Opening: Sendable {
    package var nick: ByteString = ""
    package var username: ByteString = ""
    package var realname: ByteString = ""
    /// CAP LS or REQ came and CAP END did not: registration waits.
    package var isNegotiating = false
    package var capVersion: Int32 = 301
    /// The connection password of the configuration was given.
    package var hasPassword = false
    package var isUserGiven = false
    /// PING came after NICK: a program that waits for the answer before it says USER. No time ends its entry.
    package var isSynchronizing = false
    /// A gateway said for whom it connects.
    package var isForwarded = false
    /// A nick that was asked for and is somebody else's.
    package var refusedNick: ByteString = ""
    package var returning: Returning?
    /// Said by AWAY before registration; nil: nothing was said, empty: here.
    package var away: ByteString?
    /// Set by METADATA before registration.
    package var metadata = Metadata()

    package init() {}
}

/// An identity that proved to be itself, before it is a user again.
package struct Returning: Sendable {
    package var uid: UID
    package var epoch: Int64
    package var state: IdentityState?
    package var members: [MemberState]
    package var metadata: Metadata
    package var correspondence = Correspondence()
    /// Empty: a guest.
    package var account: ByteString = ""
}
