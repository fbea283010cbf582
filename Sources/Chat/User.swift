package import Bytes
import Wire

package enum UserKind {}
package typealias UserID = SlotID<UserKind>

/// Ranks in a channel, highest first in the prefix string `~@%+` (Modern IRC, PREFIX).
package struct Ranks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let voice = Ranks(rawValue: 1)
    package static let halfop = Ranks(rawValue: 2)
    package static let op = Ranks(rawValue: 4)
    package static let owner = Ranks(rawValue: 8)

    /// Mode letter, prefix character and bit, highest first.
    package static let ladder: [(letter: UInt8, prefix: UInt8, rank: Ranks)] = [
        (0x71, 0x7E, .owner), (0x6F, 0x40, .op), (0x68, 0x25, .halfop), (0x76, 0x2B, .voice),
    ]

    package var isOperator: Bool { rawValue >= Ranks.op.rawValue }
    package var isAtLeastHalfop: Bool { rawValue >= Ranks.halfop.rawValue }

    /// The prefix characters: all of them (`multi-prefix`), or the highest alone.
    package func prefixes(all: Bool) -> ByteString {
        var out: [UInt8] = []
        for step in Ranks.ladder where contains(step.rank) {
            out.append(step.prefix)
            if !all { break }
        }
        return ByteString(out)
    }
}

package struct UserModes: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let invisible = UserModes(rawValue: 1)
    package static let oper = UserModes(rawValue: 2)
    package static let wallops = UserModes(rawValue: 4)
    package static let bot = UserModes(rawValue: 8)
    package static let secure = UserModes(rawValue: 16)
    /// No CTCP but ACTION from others.
    package static let noCTCP = UserModes(rawValue: 32)
    /// Direct messages from accounts alone, and from who was accepted.
    package static let accountsOnly = UserModes(rawValue: 64)

    package static let letters: [(letter: UInt8, mode: UserModes)] = [
        (0x42, .bot), (0x52, .accountsOnly), (0x54, .noCTCP), (0x69, .invisible), (0x6F, .oper), (0x77, .wallops),
        (0x5A, .secure),
    ]

    /// Which people set themselves.
    package static let settableLetters = "BRTiw"

    /// nil: a letter is of no such mode.
    package init?(settable letters: String) {
        self = []
        for letter in letters {
            guard UserModes.settableLetters.contains(letter),
                let mode = UserModes.letters.first(where: { $0.letter == letter.asciiValue })?.mode
            else { return nil }
            insert(mode)
        }
    }

    /// `+iw`
    package var text: ByteString {
        ByteString([0x2B] + UserModes.letters.filter { contains($0.mode) }.map(\.letter))
    }
}

/// An identity that is on the network, with one or more sessions.
package struct User: Sendable {
    package internal(set) var uid: UID
    package var nick: ByteString
    package var username: ByteString
    package var host: ByteString
    /// `nick!user@host`, kept ready because every line of the user begins with it.
    package private(set) var source: ByteString
    /// The display name (USER's realname, SETNAME).
    package var realname: ByteString
    /// Empty: a guest.
    package var account: ByteString = ""
    package var sessions: ContiguousArray<ConnectionID> = []
    package var channels: ContiguousArray<ChannelID> = []
    /// How far it has read, in milliseconds since 1970; all its sessions share it.
    package var readMarks: [Conversation: Int64] = [:]
    /// Whatever was said to it up to this position has come.
    package var delivered: Int64 = 0
    /// Where messages were said whose authors want to be told that they came.
    package var unconfirmed: [Conversation] = []
    /// Ranks held in channels it is not in now, by channel id; they come back with a JOIN.
    package var keptRanks: [Int64: Ranks] = [:]
    package var modes: UserModes = []
    /// Who may write in spite of mode `R`, in the order they were accepted.
    package var accepted: [UID] = []
    /// Empty: not away.
    package var away: ByteString = ""
    /// `away` says only that no person is at any of its connections.
    package var isAbsent = false
    /// Wall milliseconds.
    package var signedOn: Int64
    package var spoke: Int64
    package var epoch: Int64 = 0
    /// Wall seconds.
    package var created: Int64
    /// A row exists, so that leaving is worth a note in it.
    package var isKept = false
    package var metadata = Metadata()
    /// Operator's class; empty: none.
    package var operatorKind: ByteString = ""

    package init(
        uid: UID, nick: ByteString, username: ByteString, host: ByteString, realname: ByteString, now: Int64
    ) {
        self.uid = uid
        self.nick = nick
        self.username = username
        self.host = host
        self.realname = realname
        signedOn = now
        spoke = now
        created = now / 1000
        source = "\(nick)!\(username)@\(host)"
    }

    package mutating func rename(_ nick: ByteString) {
        self.nick = nick
        source = "\(nick)!\(username)@\(host)"
    }

    package var isOperator: Bool { modes.contains(.oper) }

    /// What the user's messages are stored under, beside the nick.
    package var displayName: ByteString { metadata[MetadataKeys.displayName] ?? realname }

    package func stored(now: Int64) -> IdentityState {
        IdentityState(uid: uid, nick: nick, name: realname, epoch: epoch, created: created, seen: now / 1000)
    }
}

/// Who had a nick before: WHOWAS.
package struct Former: Sendable {
    package var nick: ByteString
    package var username: ByteString
    package var host: ByteString
    package var realname: ByteString
    /// Wall milliseconds.
    package var left: Int64
}
