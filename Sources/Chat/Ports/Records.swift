package import Bytes

/// An identity's number: 60 random bits, written `u` + 12 base32 characters. 0 is nobody (the server).
package struct UID: Hashable, Sendable {
    package let number: Int64

    package init(number: Int64) { self.number = number }

    package static let none = UID(number: 0)

    package var text: ByteString { "u\(Base32.encode(UInt64(number), width: 12))" }

    package init?(_ text: ByteView) {
        guard text.count == 13, text[0] == 0x75, let number = Base32.decode(text.dropFirst()), number != 0 else {
            return nil
        }
        self.number = Int64(number)
    }
}

/// What a record belongs to: a channel (its id and 0), or a pair of identities (the smaller uid first).
/// The pair is the key itself, so a direct conversation needs no row before its first message.
package struct Conversation: Hashable, Sendable {
    package let a: Int64
    package let b: Int64

    package init(a: Int64, b: Int64) {
        self.a = a
        self.b = b
    }

    package static func channel(_ id: Int64) -> Conversation { Conversation(a: id, b: 0) }

    package static func direct(_ one: UID, _ other: UID) -> Conversation {
        Conversation(a: min(one.number, other.number), b: max(one.number, other.number))
    }

    package var isDirect: Bool { b != 0 }
}

/// What a record is. The numbers are the database's.
package enum RecordKind: UInt8, Sendable {
    case privmsg = 1
    case notice = 2
    case join = 10
    case part = 11
    case quit = 12
    case kick = 13
    case nick = 14
    case topic = 15
    case mode = 16
    case setname = 17
    /// Not a message for history: IRCv3 chathistory has TAGMSG with event-playback alone.
    case tagmsg = 18
    /// The text has both names: `#old #new :reason`.
    case rename = 19
    /// The text of an earlier message was replaced by this record's.
    case edit = 30
    /// Text and tags of an earlier message are gone; the text is the reason.
    case redact = 31

    /// What people said, as opposed to what happened; pages without event-playback hold these alone.
    package var isMessage: Bool { shelf == .messages }

    /// Where a record lies within its conversation, so that a page of one kind passes over no other.
    package var shelf: Shelf { Shelf(kind: Int64(rawValue)) }
}

/// The numbers are the database's.
package enum Shelf: Int64, Sendable, CaseIterable {
    case messages = 0
    case events = 1
    /// Edits and redactions.
    case changes = 2

    package init(kind: Int64) { self = kind < 10 ? .messages : kind < 30 ? .events : .changes }
}

/// Kinds of records, by their numbers.
package struct RecordKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package init(_ kind: RecordKind) { rawValue = 1 << UInt64(kind.rawValue) }

    /// What people said.
    package static let messages: RecordKinds = [RecordKinds(.privmsg), RecordKinds(.notice)]
    package static let changes: RecordKinds = [RecordKinds(.edit), RecordKinds(.redact)]
    package static let all = RecordKinds(rawValue: .max)

    /// Where records of these kinds lie.
    package var shelves: [Shelf] {
        var shelves: [Shelf] = []
        if !isDisjoint(with: .messages) { shelves.append(.messages) }
        if !subtracting([.messages, .changes]).isEmpty { shelves.append(.events) }
        if !isDisjoint(with: .changes) { shelves.append(.changes) }
        return shelves
    }

    package func contains(number: UInt8) -> Bool { number < 64 && rawValue >> UInt64(number) & 1 == 1 }
}

/// One line of the log. Immutable once written but for edits and redactions.
package struct LogRecord: Sendable, Equatable {
    /// Rises by one over the whole log; the msgid is its text form.
    package var position: Int64
    package var conversation: Conversation
    /// Milliseconds since 1970, strictly rising within a conversation.
    package var time: Int64
    package var kind: RecordKind
    package var uid: UID
    /// `nick!user@host` as it was.
    package var source: ByteString
    /// Empty: none.
    package var account: ByteString
    /// Display name as it was.
    package var name: ByteString
    /// Client-only tags that are kept (`+draft/reply=…;+draft/react=…`), escaped as on the wire, without `@`.
    package var tags: ByteString
    /// privmsg, notice: the text. Others: the line's parameters after the channel, as on the wire
    /// (`:reason`, `nick :reason`, `+o ana`). The store keeps an edit's text in the message alone.
    package var text: ByteString
    /// Of an edit or redaction: the position of the message. Of a message: of the one that changed it last; 0: none.
    package var counterpart: Int64
    /// What its author calls it (`parley.chat/cid`); empty: nothing. Not read back.
    package var cid: ByteString = ""

    package init(
        position: Int64, conversation: Conversation, time: Int64, kind: RecordKind, uid: UID, source: ByteString,
        account: ByteString = "", name: ByteString = "", tags: ByteString = "", text: ByteString,
        counterpart: Int64 = 0
    ) {
        self.position = position
        self.conversation = conversation
        self.time = time
        self.kind = kind
        self.uid = uid
        self.source = source
        self.account = account
        self.name = name
        self.tags = tags
        self.text = text
        self.counterpart = counterpart
    }

    /// What was said is gone.
    package var isRedacted: Bool {
        counterpart != 0 && kind.shelf != .changes && text.isEmpty && tags.isEmpty
    }

    /// Becomes what an edit or redaction made of it.
    package mutating func take(_ change: LogRecord) {
        if change.position <= counterpart { return }
        counterpart = change.position
        text = change.kind == .edit ? change.text : ""
        if change.kind == .redact { tags = "" }
    }
}

/// A message id: the position, twelve characters, sortable as text.
package enum MessageID {
    package static func text(_ position: Int64) -> ByteString { Base32.encode(UInt64(position), width: 12) }

    package static func position(_ text: ByteView) -> Int64? {
        guard text.count == 12, let number = Base32.decode(text) else { return nil }
        return Int64(number)
    }
}
