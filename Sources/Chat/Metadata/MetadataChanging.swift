import Bytes
import Wire

/// How fast somebody changes metadata: every change may go to everyone who shares a channel.
struct MetadataPace {
    var left: Int
    /// Steady milliseconds.
    var refilled: Int64
}

/// What METADATA SET or CLEAR changes.
struct MetadataChange {
    struct Entry {
        var key: ByteString
        /// nil removes it.
        var value: ByteString?
    }

    var target: MetadataTarget
    var entries: [Entry]
    /// Answered as a list.
    var isList: Bool
    /// Whose it was when it was asked for, and by whom.
    var owner: MetadataOwner?
    var author: UserID?

    init(target: MetadataTarget, entries: [Entry], isList: Bool) {
        self.target = target
        self.entries = entries
        self.isList = isList
    }
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
        let new = value.map { ByteString($0) }
        let entries = [MetadataChange.Entry(key: key, value: new)]
        if new == before { return tell(entries, of: name, to: turn.session, isList: false) }
        change(MetadataChange(target: target, entries: entries, isList: false), turn)
    }

    mutating func clearMetadata(_ turn: Turn, _ target: MetadataTarget) {
        guard mayChange(turn, target, "*", isRemoval: true), keepsPace(turn, target, "*") else { return }
        let keys = metadata(of: target).entries.map(\.key).filter { maySee($0, of: target, turn.user) }
        let entries = keys.map { MetadataChange.Entry(key: $0, value: nil) }
        if keys.isEmpty { return tell([], of: metadataName(target), to: turn.session, isList: true) }
        change(MetadataChange(target: target, entries: entries, isList: true), turn)
    }

    private mutating func tell(
        _ entries: [MetadataChange.Entry], of name: ByteString, to session: ConnectionID, isList: Bool
    ) {
        let lines = entries.map { entry in
            entry.value.map { keyValue(session, name, entry.key, $0) } ?? keyNotSet(session, name, entry.key)
        }
        if !isList { return lines.forEach { tell(session, $0) } }
        let reference = beginMetadata(session, about: name)
        for line in lines { tell(session, line, in: reference) }
        endMetadata(session, reference)
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

    /// Nobody hears of it before it is stored. A newcomer has nothing that is kept yet.
    private mutating func change(_ change: MetadataChange, _ turn: Turn) {
        let name = metadataName(change.target)
        guard let owner = owner(of: change.target) else {
            for entry in change.entries { openings[turn.session.index]?.metadata[entry.key] = entry.value }
            return tell(change.entries, of: name, to: turn.session, isList: change.isList)
        }
        var changes = change.entries.map { Change.setMetadata(owner, key: $0.key, value: $0.value) }
        if case .user(let user) = change.target, !users[user].isKept {
            changes.insert(.saveIdentity(users[user].stored(now: now.wall)), at: 0)
        }
        var change = change
        change.owner = owner
        change.author = turn.me
        var errand = Errand(turn.session, .command("METADATA"), .setMetadata(change))
        errand.name = name
        store(changes, for: errand)
    }

    mutating func metadataStored(_ errand: Errand, _ change: MetadataChange) {
        // Gone, or somebody else by now.
        guard let author = change.author, owner(of: change.target) == change.owner else { return }
        for entry in change.entries {
            show(change.target, entry.key, entry.value, by: author, except: errand.session)
        }
        if case .user(let user) = change.target { users[user].isKept = true }
        if isHere(errand) { tell(change.entries, of: errand.name, to: errand.session, isList: change.isList) }
    }

    /// nil: it is not there, or nothing of it is kept yet.
    private func owner(of target: MetadataTarget) -> MetadataOwner? {
        switch target {
        case .newcomer: nil
        case .user(let user): users.contains(user) ? .identity(users[user].uid) : nil
        case .channel(let channel): channels.contains(channel) ? .channel(channels[channel].state.id) : nil
        }
    }

    /// A picture's message tells whether it is stored, so that its author's avatar does not wait.
    mutating func changeAvatar(_ turn: Turn, _ value: ByteString?) {
        let user = turn.me
        if !users[user].isKept { keep(user) }
        save(.setMetadata(.identity(users[user].uid), key: MetadataKeys.avatar, value: value))
        set(.user(user), MetadataKeys.avatar, value)
        announce(.user(user), MetadataKeys.avatar, value, by: user, except: turn.session)
    }

    private mutating func show(
        _ target: MetadataTarget, _ key: ByteString, _ value: ByteString?, by user: UserID, except: ConnectionID
    ) {
        if case .user(let user) = target, key == MetadataKeys.avatar, hasPortrait(user) { dropPortrait(of: user) }
        set(target, key, value)
        announce(target, key, value, by: user, except: except)
    }

    private mutating func set(_ target: MetadataTarget, _ key: ByteString, _ value: ByteString?) {
        switch target {
        case .newcomer: break
        case .user(let user): users[user].metadata[key] = value
        case .channel(let channel): channels[channel].metadata[key] = value
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
        let body = metadataMessage(name, key, value)
        // Who set it may be gone by now.
        let line =
            users.contains(user)
            ? outgoing(from: user, body) : Outgoing(source: settings.serverName, time: now.wall, body: body)
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
