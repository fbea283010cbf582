package import Bytes

/// How far an identity has read in a conversation: a mark that only rises.
package struct ReadMark: Sendable, Equatable {
    package var conversation: Conversation
    /// Milliseconds since 1970.
    package var time: Int64

    package init(conversation: Conversation, time: Int64) {
        self.conversation = conversation
        self.time = time
    }
}

/// What is kept for an identity of what it read and of what was said to it while it was gone.
package struct Correspondence: Sendable, Equatable {
    package var marks: [ReadMark] = []
    /// The first direct message that it missed.
    package var missedSince = MessageMark()

    package init() {}
}

/// An identity that is not here, under the nick that it had last.
package struct DepartedState: Sendable, Equatable {
    package var uid: UID
    package var nick: ByteString
    /// Seconds since 1970.
    package var seen: Int64

    package init(uid: UID, nick: ByteString, seen: Int64) {
        self.uid = uid
        self.nick = nick
        self.seen = seen
    }
}
