package import Bytes
import Wire

/// Records: what the log keeps of what happened, and what happens when it cannot.
extension World {
    /// Appends an event of a channel to the log. Without a record (the store is failing) the event still happens.
    @discardableResult
    mutating func record(
        _ kind: RecordKind, by user: UserID, in channel: ChannelID, tags: ByteString = "", _ text: ByteString,
        counterpart: Int64 = 0, as author: Author? = nil
    ) -> (position: Int64, time: Int64) {
        var time = max(now.wall, channels[channel].lastTime + 1)
        if isStoreFailing { return (0, time) }
        if kind.isMessage {
            time = headTimes.take(from: time, replacing: channels[channel].lastMessage.time, now: now.wall)
        }
        channels[channel].lastTime = time
        let conversation = channels[channel].conversation
        let position = append(kind, by: user, conversation, time, tags, text, counterpart: counterpart, as: author)
        if kind.isMessage { channels[channel].lastMessage = MessageMark(position: position, time: time) }
        return (position, time)
    }

    mutating func append(
        _ kind: RecordKind, by user: UserID, _ conversation: Conversation, _ time: Int64, _ tags: ByteString,
        _ text: ByteString, counterpart: Int64 = 0, as author: Author? = nil
    ) -> Int64 {
        lastPosition += 1
        let own = kind.isMessage ? users[user].displayName : users[user].realname
        effects.records.append(
            LogRecord(
                position: lastPosition, conversation: conversation, time: time, kind: kind, uid: users[user].uid,
                source: author?.source ?? users[user].source, account: users[user].account, name: author?.name ?? own,
                tags: tags, text: text, counterpart: counterpart))
        return lastPosition
    }

    /// A change of kept state: into this batch, or kept until the store accepts writes again.
    mutating func save(_ change: Change) {
        if isStoreFailing { unsaved.append(change) } else { effects.changes.append(change) }
    }

    /// Tells who wants something stored that it cannot be now. True: refused.
    mutating func refuseWhileStoreFails(_ turn: Turn, _ target: ByteString = "*") -> Bool {
        if isStoreFailing { fail(turn, "STORE_FULL", refusalText, about: [target]) }
        return isStoreFailing
    }

    var refusalText: ByteString { "The server cannot store this now; nothing of it was sent. Try again in a while" }

    /// Notes what a connection is told if the store refuses this batch. The index is for the lines that it then does
    /// not get.
    mutating func refusable(_ refusal: Refusal) -> Int32 {
        effects.refusals.append(refusal)
        let index = Int32(effects.refusals.count - 1)
        effects.outbox.mayRefuse(refusal.connection, index)
        return index
    }

    /// `line` if the batch in work is stored, else `otherwise`; both exactly as given.
    mutating func sendRaw(_ session: ConnectionID, _ line: ByteString, otherwise: ByteString) {
        if isStoreFailing { return sendRaw(session, otherwise) }
        let refusal = refusable(Refusal(connection: session, label: labelInWork(session), text: otherwise))
        let start = effects.outbox.mark
        effects.outbox.write(line)
        let written = effects.outbox.endLine(from: start)
        effects.outbox.depend(written, on: refusal)
        deliver(written, to: session, refusal: refusal)
    }

    func labelInWork(_ session: ConnectionID) -> ByteString {
        response.slot == session.index ? response.label : ""
    }

    /// What the author of a refused message is told, in the place of the message's answer.
    package func line(for refusal: Refusal) -> ByteString {
        let tag: ByteString = refusal.label.isEmpty ? "" : "@label=\(refusal.label) "
        if !refusal.text.isEmpty { return "\(tag)\(refusal.text)" }
        let line = StandardReplies.fail("\(refusal.command)", "STORE_FULL", [refusal.target], refusalText)
        return "\(tag):\(settings.serverName) \(line)"
    }

    mutating func storeRefused(_ changes: [Change], _ reason: String) {
        if !isStoreFailing { note(.warning, "the store refuses writes: \(reason)") }
        isStoreFailing = true
        lateChanges = [:]
        lateSends = [:]
        unsaved += takeBackImages(changes)
    }

    mutating func storeRecovered() {
        guard isStoreFailing else { return }
        isStoreFailing = false
        note(.warning, "the store accepts writes again; \(unsaved.count) changes are written now")
        effects.changes += unsaved
        unsaved = []
    }
}
