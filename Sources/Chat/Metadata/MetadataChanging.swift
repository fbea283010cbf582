import Bytes
import Wire

/// How fast somebody changes metadata: every change may go to everyone who shares a channel.
struct MetadataPace {
    var left: Int
    /// Steady milliseconds.
    var refilled: Int64
}

/// METADATA SET and CLEAR, and who is told of a change.
extension World {
    mutating func setMetadata(_ turn: Turn, _ target: MetadataTarget) {
        guard let key = metadataKey(turn, turn[2]) else { return }
        let value = turn.parameterCount > 3 ? freeText(turn, 3) : nil
        guard mayChange(turn, target, key, isRemoval: value == nil) else { return }
        if let value, refuseValue(turn, target, key, value) { return }
        let name = metadataName(target)
        let before = metadata(of: target)[key]
        if before == nil, value == nil, !speaksDraft3(turn.session) {
            return fail(turn, "KEY_NOT_SET", "This key is not set", about: [name, key])
        }
        guard keepsPace(turn, target, key) else { return }
        if turn.user != nil, refuseWhileStoreFails(turn, name) { return }
        let new = value.map { ByteString($0) }
        if new != before { change(target, key, new, by: turn) }
        tell(
            turn.session,
            new.map { keyValue(turn.session, name, key, $0) } ?? keyNotSet(turn.session, name, key))
    }

    mutating func clearMetadata(_ turn: Turn, _ target: MetadataTarget) {
        guard mayChange(turn, target, "*", isRemoval: true), keepsPace(turn, target, "*") else { return }
        let name = metadataName(target)
        if turn.user != nil, refuseWhileStoreFails(turn, name) { return }
        let reference = beginMetadata(turn.session, about: name)
        for entry in metadata(of: target).entries where maySee(entry.key, of: target, turn.user) {
            change(target, entry.key, nil, by: turn)
            tell(turn.session, keyNotSet(turn.session, name, entry.key), in: reference)
        }
        endMetadata(turn.session, reference)
    }

    /// One's own, and a channel's by its operators. Server operators with the privilege take away what should not be
    /// shown.
    private mutating func mayChange(
        _ turn: Turn, _ target: MetadataTarget, _ key: ByteString, isRemoval: Bool
    ) -> Bool {
        let isOwn: Bool
        switch target {
        case .newcomer: isOwn = true
        case .user(let user): isOwn = user == turn.user
        case .channel(let channel):
            let isPrivate = MetadataKeys.isPrivate(key)
            isOwn = !isPrivate && ranks(turn.me, in: channel).isOperator
        }
        if isOwn { return true }
        if isRemoval, let user = turn.user, isPrivileged(user, .metadata) {
            noteOperator(turn, "removed metadata \(key) of \(metadataName(target))")
            return true
        }
        refuseMetadata(turn, target, key, "You may not change this")
        return false
    }

    private mutating func refuseValue(
        _ turn: Turn, _ target: MetadataTarget, _ key: ByteString, _ value: ByteView
    ) -> Bool {
        let limits = settings.limits
        var complaint = MetadataKeys.complaint(key, ByteString(value))
        if value.count > limits.metadataValueBytes {
            complaint = "A value has at most \(limits.metadataValueBytes) bytes"
        }
        if let complaint {
            let isDraft3 = speaksDraft3(turn.session)
            fail(turn, isDraft3 ? "INVALID_VALUE" : "VALUE_INVALID", complaint, about: isDraft3 ? [key] : [])
            return true
        }
        let present = metadata(of: target)
        guard present[key] == nil, present.count >= limits.metadataKeys else { return false }
        fail(turn, "LIMIT_REACHED", "At most \(limits.metadataKeys) keys may be set", about: [metadataName(target)])
        return true
    }

    private mutating func keepsPace(_ turn: Turn, _ target: MetadataTarget, _ key: ByteString) -> Bool {
        guard let user = turn.user, !users[user].isOperator else { return true }
        let limits = settings.limits
        var pace = metadataPaces[user] ?? MetadataPace(left: limits.metadataBurst, refilled: now.steady)
        let earned = Int((now.steady - pace.refilled) / limits.metadataInterval)
        pace.left = min(limits.metadataBurst, pace.left + earned)
        pace.refilled += Int64(earned) * limits.metadataInterval
        if pace.left == limits.metadataBurst { pace.refilled = now.steady }
        guard pace.left > 0 else {
            let wait = (limits.metadataInterval - (now.steady - pace.refilled) + 999) / 1000
            fail(
                turn, "RATE_LIMITED", "Too many changes; try again in \(wait) seconds",
                about: [metadataName(target), key, "\(wait)"])
            return false
        }
        pace.left -= 1
        metadataPaces[user] = pace
        return true
    }

    // MARK: Carrying it out

    mutating func change(_ target: MetadataTarget, _ key: ByteString, _ value: ByteString?, by turn: Turn) {
        switch target {
        case .newcomer(let session): openings[session.index]?.metadata[key] = value
        case .user(let user):
            if key == MetadataKeys.avatar, ByteView(turn.command) != "IMG", hasPortrait(user) { dropPortrait(of: user) }
            users[user].metadata[key] = value
            if !users[user].isKept { keep(user) }
            save(.setMetadata(.identity(users[user].uid), key: key, value: value))
            announce(target, key, value, by: turn.me, except: turn.session)
        case .channel(let channel):
            channels[channel].metadata[key] = value
            save(.setMetadata(.channel(channels[channel].state.id), key: key, value: value))
            announce(target, key, value, by: turn.me, except: turn.session)
        }
    }

    /// What was set before registration becomes the user's: in the store, and told to who is here of the identity.
    mutating func keepEarlyMetadata(_ user: UserID, _ opening: Opening, _ session: ConnectionID) {
        if opening.metadata.isEmpty || isStoreFailing { return }
        if !users[user].isKept { keep(user) }
        for entry in opening.metadata.entries {
            let present = users[user].metadata
            guard present[entry.key] != nil || present.count < settings.limits.metadataKeys else { continue }
            users[user].metadata[entry.key] = entry.value
            save(.setMetadata(.identity(users[user].uid), key: entry.key, value: entry.value))
            announce(.user(user), entry.key, entry.value, by: user, except: session)
        }
    }

    /// Tells a change to who subscribed to the key and is concerned: a channel's members; of a user its own sessions,
    /// who shares a channel and who watches it.
    private mutating func announce(
        _ target: MetadataTarget, _ key: ByteString, _ value: ByteString?, by user: UserID, except: ConnectionID
    ) {
        if subscriptions.isEmpty { return }
        let audience: ContiguousArray<ConnectionID>
        switch target {
        case .newcomer: return
        case .user(let user):
            audience = MetadataKeys.isPrivate(key) ? users[user].sessions : neighboursAndWatchers(of: user, needing: [])
        case .channel(let channel): audience = channels[channel].audience
        }
        let name = metadataName(target)
        let line = outgoing(from: user, metadataMessage(name, key, value))
        for session in audience where session != except && isSubscribed(session, to: key) {
            tellChange(line, name, key, value, to: session)
        }
    }

    private mutating func tellChange(
        _ line: Outgoing, _ name: ByteString, _ key: ByteString, _ value: ByteString?, to session: ConnectionID
    ) {
        if !speaksDraft3(session) { return send(line, to: session) }
        tell(session, value.map { keyValue(session, name, key, $0) } ?? keyNotSet(session, name, key))
    }

    /// `METADATA <target> <key> <visibility> :<value>`; without a value the key is gone.
    func metadataMessage(_ name: ByteString, _ key: ByteString, _ value: ByteString?) -> ByteString {
        let head: ByteString = "METADATA \(name) \(key) \(MetadataKeys.visibility(of: key))"
        return value.map { "\(head) :\($0)" } ?? head
    }
}
