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

    /// What the author of a refused message is told, in the place of the message's answer.
    package func line(for refusal: Refusal) -> ByteString {
        let line = StandardReplies.fail("\(refusal.command)", "STORE_FULL", [refusal.target], refusalText)
        let tag: ByteString = refusal.label.isEmpty ? "" : "@label=\(refusal.label) "
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
