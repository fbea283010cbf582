package import Bytes

/// Which messages hold these words? Answered by a `HistoryPage` with the same number, whose records may be of several
/// conversations.
package struct SearchQuestion: Sendable, Equatable {
    package enum Author: Sendable, Equatable {
        case anyone
        /// By the nick that it had then.
        case nick(ByteString)
        case uid(UID)
    }

    /// The failure of a search that would take too much of the reader's time.
    package static let tooMuch = "the search takes too long"

    package var number: Int64
    /// Where to look, and the first position that the asker may read there.
    package var places: [Conversation: Int64]
    /// All direct conversations of this identity too; `none`: of nobody.
    package var direct: UID
    /// Words, all of which a message must have: `"some words"` as they stand, `word*` as a beginning. Empty: any.
    package var text: ByteString
    package var author: Author
    /// Milliseconds since 1970.
    package var times: ClosedRange<Int64>
    /// The oldest of what is found, instead of the newest.
    package var isForward: Bool
    package var limit: Int
    /// Nothing newer than this position.
    package var newest: Int64

    package init(
        number: Int64, places: [Conversation: Int64] = [:], direct: UID = .none, text: ByteString = "",
        author: Author = .anyone, times: ClosedRange<Int64> = 0 ... .max, isForward: Bool = false, limit: Int,
        newest: Int64 = .max
    ) {
        self.number = number
        self.places = places
        self.direct = direct
        self.text = text
        self.author = author
        self.times = times
        self.isForward = isForward
        self.limit = limit
        self.newest = newest
    }

    /// Whether its asker may read what stands there.
    package func allows(_ conversation: Conversation, _ position: Int64) -> Bool {
        if position > newest { return false }
        if let oldest = places[conversation] { return position >= oldest }
        return direct != .none && conversation.isDirect
            && (conversation.a == direct.number || conversation.b == direct.number)
    }
}
