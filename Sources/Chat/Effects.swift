package import Bytes
import Wire

/// What World wants done. Everything here waits, in order, behind the records of its batch, but for `resumes`.
package struct Effects: ~Copyable {
    package var outbox = Outbox()
    package var records: [LogRecord] = []
    package var changes: [Change] = []
    /// Changes that somebody waits for; told by `Event.stored`.
    package var awaited: [AwaitedChanges] = []
    /// By index of the refusal that a dependent line names: who is told when the store refuses the batch.
    package var refusals: [Refusal] = []
    package var pages: [HistoryQuestion] = []
    package var searches: [SearchQuestion] = []
    package var directs: [DirectQuestion] = []
    package var sents: [SentQuestion] = []
    package var receipts: [ReceiptsQuestion] = []
    package var identities: [IdentityQuestion] = []
    package var passwords: [PasswordQuestion] = []
    package var derivations: [DerivationQuestion] = []
    package var mails: [Mail] = []
    package var imageQuestions: [ImageQuestion] = []
    package var images: [ImageOrder] = []
    /// Connections whose input goes on (see `World.isInputBlocked`); not behind the records.
    package var resumes: [ConnectionID] = []
    /// Connections of gateways and the addresses they are for; not behind the records.
    package var moves: [(connection: ConnectionID, address: ByteString)] = []
    package var notes: [Note] = []
    package var wantsReload = false

    package init() {}

    /// Whether something must be committed before the outbox may leave.
    package var mustCommit: Bool { !records.isEmpty || !changes.isEmpty }

    package mutating func clear() {
        outbox.clear()
        records.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        awaited.removeAll(keepingCapacity: true)
        refusals.removeAll(keepingCapacity: true)
        pages.removeAll(keepingCapacity: true)
        searches.removeAll(keepingCapacity: true)
        directs.removeAll(keepingCapacity: true)
        sents.removeAll(keepingCapacity: true)
        receipts.removeAll(keepingCapacity: true)
        identities.removeAll(keepingCapacity: true)
        passwords.removeAll(keepingCapacity: true)
        derivations.removeAll(keepingCapacity: true)
        mails.removeAll(keepingCapacity: true)
        imageQuestions.removeAll(keepingCapacity: true)
        images.removeAll(keepingCapacity: true)
        resumes.removeAll(keepingCapacity: true)
        moves.removeAll(keepingCapacity: true)
        notes.removeAll(keepingCapacity: true)
        wantsReload = false
    }
}

extension Effects {
    /// The store refused the batch: what may not happen without it is taken out. Returns the changes that are tried
    /// again later; whoever waits for one is told instead.
    package mutating func takeBack() -> [Change] {
        images = images.map(\.refused)
        mails.removeAll { !$0.isAwaited }
        var changes = changes
        for waiting in awaited.reversed() { changes.removeSubrange(waiting.changes) }
        return changes
    }
}

/// Which of a batch's changes are stored before anything is told of them.
package struct AwaitedChanges: Sendable {
    package var number: Int64
    package var changes: Range<Int>
}

/// Something that is told only if the batch is stored. Otherwise the connection gets, with the label that the command
/// had, `FAIL <command> STORE_FULL <target>` or `text`.
package struct Refusal: Sendable {
    package var connection: ConnectionID
    package var command: StaticString = ""
    package var target: ByteString = ""
    package var label: ByteString
    /// What is said instead, with its source; empty: FAIL.
    package var text: ByteString = ""
}

/// A line for the operator's log; never holds what people said, nor a secret.
package struct Note: Sendable {
    package enum Level: Sendable { case debug, info, warning }
    package var level: Level
    package var text: ByteString

    package init(_ level: Level, _ text: ByteString) {
        self.level = level
        self.text = text
    }
}
