import Bytes
import Wire

/// What there is to know of a channel.
package enum ChannelFact: Sendable, CaseIterable {
    /// That there is one of this name. Who may not know it is answered as if there were none.
    case existence
    case topic
    /// What METADATA tells of it; `mayReadMetadata` hides it from who may not simply come in.
    case metadata
    case modes
    case key
    case bans
    /// Lists `e` and `I`.
    case exceptions
    /// Who is in it; `+i` may hide single users (`mayPlace`).
    case members
    /// What was said and what happened: the replay, HISTORY, CHATHISTORY. Where `history.visibility` is `joined`, only
    /// since the reader came in.
    case history
    /// One's own mark of how far one has read (MARKREAD).
    case readMark
}

/// What somebody is to a channel, each including the ones before. Server operators are nothing more than others are.
package enum Standing: Sendable {
    case anyone
    case member
    /// A member that no ban holds; who has a rank is held by none.
    case reader
    case halfop
}

/// Who may know what: the one table behind every command that shows something of a channel.
extension ChannelFact {
    package var right: (open: Standing, secret: Standing) {
        switch self {
        case .existence: (.anyone, .member)
        case .topic: (.anyone, .member)
        case .metadata: (.anyone, .member)
        case .modes: (.anyone, .member)
        case .bans: (.anyone, .member)
        case .members: (.anyone, .member)
        case .key: (.member, .member)
        case .readMark: (.member, .member)
        case .history: (.reader, .reader)
        case .exceptions: (.halfop, .halfop)
        }
    }
}

extension World {
    /// nil: somebody who is not registered.
    func may(_ viewer: UserID?, know fact: ChannelFact, of channel: ChannelID) -> Bool {
        let needed = channels[channel].isSecret ? fact.right.secret : fact.right.open
        if needed == .anyone { return true }
        guard let viewer, isMember(viewer, of: channel) else { return false }
        switch needed {
        case .anyone, .member: return true
        case .reader: return !ranks(viewer, in: channel).isEmpty || !isBanned(viewer, from: channel)
        case .halfop: return ranks(viewer, in: channel).isAtLeastHalfop
        }
    }
}
