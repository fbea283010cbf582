package import Bytes
import Wire

package enum ChannelKind {}
package typealias ChannelID = SlotID<ChannelKind>

package struct Member: Sendable {
    package var user: UserID
    package var ranks: Ranks
    /// First position that it may read where `history-visibility` is `joined`.
    package var joined: Int64 = 0
}

/// A channel lives on when it is empty; `state` is what the store knows of it.
package struct Channel: Sendable {
    package var state: ChannelState
    /// Lists by mode letter: `b`, `e`, `I`.
    package var lists: [UInt8: [ListEntry]]
    package var metadata: Metadata
    package var members: ContiguousArray<Member> = []
    /// The members' sessions: who is written to. Kept beside `members` so that a line's way is one flat array.
    package var audience: ContiguousArray<ConnectionID> = []
    /// Who may come in past `+i` and the rest, until they do; the oldest gives way.
    package var invited: [UID] = []
    /// What was said lately, where `+f` counts it.
    var paces: [UserID: Pace] = [:]
    /// Wall milliseconds of the newest record.
    package var lastTime: Int64
    package var lastMessage: MessageMark

    package init(_ stored: StoredState.Channel) {
        state = stored.state
        lists = stored.lists
        metadata = stored.metadata
        lastTime = stored.lastTime
        lastMessage = stored.lastMessage
    }

    package var name: ByteString { state.name }
    package var conversation: Conversation { .channel(state.id) }

    package func has(_ mode: UInt8) -> Bool { state.modes.bytes.contains(mode) }
    package var isSecret: Bool { has(0x73) }

    package func memberIndex(_ user: UserID) -> Int? { members.firstIndex { $0.user == user } }

    package func ranks(of user: UserID) -> Ranks? {
        for member in members where member.user == user { return member.ranks }
        return nil
    }
}
