import Bytes
import Wire

/// Where a sync that was too long for one answer goes on: after this holder.
struct SyncCursor {
    /// As METADATA SYNC names it.
    var target: ByteString
    var after: Holder
}

/// Somebody or something that has metadata, in the order that a sync goes: channels, then people.
struct Holder: Comparable {
    var isUser: Bool
    /// The channel's id or the uid.
    var number: Int64

    static func < (a: Holder, b: Holder) -> Bool {
        a.isUser == b.isUser ? a.number < b.number : !a.isUser
    }
}

/// Values told by themselves: with SYNC, a JOIN, a SUB, a MONITOR and registration.
extension World {
    private typealias Value = (name: ByteString, key: ByteString, value: ByteString)
    private typealias Holding = (holder: Holder, target: MetadataTarget)

    // MARK: METADATA SYNC

    mutating func sync(_ turn: Turn, _ target: MetadataTarget) {
        guard mayReadMetadata(turn, target) else { return }
        sync(turn, metadataName(target), holders(in: target))
    }

    /// draft/metadata-3: everything that the client would be told of.
    mutating func syncAll(_ turn: Turn) { sync(turn, "*ALL", holders(around: turn.session)) }

    private mutating func sync(_ turn: Turn, _ name: ByteString, _ holders: [Holding]) {
        // It is as much as many commands.
        charge(turn.session, 4000)
        let session = turn.session
        let keys = subscriptions[session.index]?.keys ?? []
        let cursor = subscriptions[session.index]?.cursor
        let start = cursor?.target == name ? cursor?.after : nil
        let rest = holders.filter { entry in start.map { entry.holder > $0 } ?? true }
            .sorted { $0.holder < $1.holder }
        var values: [Value] = []
        var last: Holder?
        var isComplete = true
        for (holder, target) in rest {
            if values.count >= settings.limits.metadataPage {
                isComplete = false
                break
            }
            values += self.values(of: target, keys, for: session)
            last = holder
        }
        tellValues(values, about: name, to: session)
        subscriptions[session.index]?.cursor = nil
        guard !isComplete, let last else { return }
        subscriptions[session.index]?.cursor = SyncCursor(target: name, after: last)
        tellLater(name, to: session)
    }

    // MARK: By itself

    /// What follows the names of a channel: what it and its members have, or that it is too much for now.
    mutating func syncEntered(_ channel: ChannelID, to session: ConnectionID) {
        guard let keys = subscriptions[session.index]?.keys else { return }
        let values = values(of: holders(in: .channel(channel)), keys, for: session)
        guard let values else { return tellLater(channels[channel].name, to: session) }
        if !values.isEmpty { tellValues(values, about: channels[channel].name, to: session) }
    }

    /// The newcomer's values to the members who want them.
    mutating func announceMetadata(of user: UserID, enteringTo channel: ChannelID) {
        if subscriptions.isEmpty || users[user].metadata.isEmpty { return }
        let own = users[user].sessions
        for session in channels[channel].audience where !own.contains(session) { tellValues(of: user, to: session) }
    }

    /// One line for each key of `user` that the session subscribed to.
    mutating func tellValues(of user: UserID, to session: ConnectionID) {
        guard let keys = subscriptions[session.index]?.keys else { return }
        for value in values(of: .user(user), keys, for: session) { tell(session, line(value, for: session)) }
    }

    /// After SUB: what the new keys are now.
    mutating func tellCurrent(_ session: ConnectionID, _ keys: [ByteString]) {
        if speaksDraft3(session) { return tellLater("*ALL", to: session) }
        guard let user = sessions[session].user else { return }
        if let values = values(of: holders(around: session), keys, for: session) {
            for value in values { tell(session, line(value, for: session)) }
        } else {
            for channel in users[user].channels { tellLater(channels[channel].name, to: session) }
        }
    }

    /// Part of the registration burst of a client that knows of metadata: its own (IRCv3 metadata, "Notifications").
    mutating func sendOwnMetadata(_ session: ConnectionID, _ user: UserID) {
        let mine = capabilities[Int(session.index)]
        guard !mine.isDisjoint(with: [.metadata, .metadata3]), mine.contains(.batch) else { return }
        let nick = users[user].nick
        tellValues(users[user].metadata.entries.map { (nick, $0.key, $0.value) }, about: nick, to: session)
    }

    // MARK: Gathering

    private func holders(in target: MetadataTarget) -> [Holding] {
        switch target {
        case .newcomer: return []
        case .user(let user): return [(Holder(isUser: true, number: users[user].uid.number), target)]
        case .channel(let channel):
            var found: [Holding] = []
            if !channels[channel].metadata.isEmpty {
                found.append((Holder(isUser: false, number: channels[channel].state.id), target))
            }
            for member in channels[channel].members where !users[member.user].metadata.isEmpty {
                found.append((Holder(isUser: true, number: users[member.user].uid.number), .user(member.user)))
            }
            return found
        }
    }

    /// Oneself, one's channels with their members, and whom one watches; each once.
    private func holders(around session: ConnectionID) -> [Holding] {
        guard let user = sessions[session].user else { return [] }
        var found = holders(in: .user(user))
        var seen: Set<Int64> = [users[user].uid.number]
        func add(_ some: [Holding]) {
            for entry in some where !entry.holder.isUser || seen.insert(entry.holder.number).inserted {
                found.append(entry)
            }
        }
        for channel in users[user].channels { add(holders(in: .channel(channel))) }
        for nick in monitors.watched(by: session) {
            if let watched = nicks[NameKey(nick)] { add(holders(in: .user(watched))) }
        }
        return found
    }

    private func values(of target: MetadataTarget, _ keys: [ByteString], for session: ConnectionID) -> [Value] {
        let name = metadataName(target)
        let viewer = sessions[session].user
        return metadata(of: target).entries.compactMap { entry in
            guard keys.contains(entry.key), maySee(entry.key, of: target, viewer) else { return nil }
            return (name, entry.key, entry.value)
        }
    }

    /// nil: more than is told unasked.
    private func values(of holders: [Holding], _ keys: [ByteString], for session: ConnectionID) -> [Value]? {
        var found: [Value] = []
        for (_, target) in holders {
            found += values(of: target, keys, for: session)
            if found.count > settings.limits.metadataUnasked { return nil }
        }
        return found
    }

    // MARK: Telling

    private mutating func tellValues(_ values: [Value], about name: ByteString, to session: ConnectionID) {
        let reference = beginMetadata(session, about: name)
        for value in values { tell(session, line(value, for: session), in: reference) }
        endMetadata(session, reference)
    }

    private func line(_ value: Value, for session: ConnectionID) -> ByteString {
        speaksDraft3(session)
            ? keyValue(session, value.name, value.key, value.value)
            : metadataMessage(value.name, value.key, value.value)
    }

    /// Ask by METADATA SYNC, in so many seconds.
    private mutating func tellLater(_ name: ByteString, to session: ConnectionID) {
        reply(to: session, .RPL_METADATASYNCLATER, "\(name) 1")
    }
}
