import Bytes
import Wire

/// The keys that a connection wants to hear of, and how far a sync in several parts has come.
struct Subscriptions {
    /// In the order they came.
    var keys: [ByteString] = []
    var cursor: SyncCursor?
}

/// METADATA SUB, UNSUB and SUBS. They are the connection's own and may come before registration.
extension World {
    func isSubscribed(_ session: ConnectionID, to key: ByteString) -> Bool {
        subscriptions[session.index]?.keys.contains(key) ?? false
    }

    mutating func subscribe(_ turn: Turn) {
        let limit = settings.limits.metadataSubscriptions
        let slot = turn.session.index
        var accepted: [ByteString] = []
        var added: [ByteString] = []
        var invalid: [ByteView] = []
        var tooMany: ByteString?
        for word in keyWords(turn) {
            guard MetadataKeys.isValid(word, limit: settings.limits.metadataKeyBytes) else {
                invalid.append(word)
                continue
            }
            // The first that does not fit ends it, also where a later one is subscribed to (IRCv3 metadata, SUB).
            let isKnown = isSubscribed(turn.session, to: ByteString(word))
            if subscriptions[slot]?.keys.count ?? 0 >= limit, !isKnown || !added.isEmpty {
                tooMany = ByteString(word)
                break
            }
            accepted.append(ByteString(word))
            if isKnown { continue }
            subscriptions[slot, default: Subscriptions()].keys.append(ByteString(word))
            added.append(ByteString(word))
        }
        tellKeys(turn, .RPL_METADATASUBOK, accepted)
        for word in invalid { _ = metadataKey(turn, word) }
        if let tooMany { refuseSubscription(turn, tooMany, limit) }
        if turn.user != nil, !added.isEmpty { tellCurrent(turn.session, added) }
    }

    private mutating func refuseSubscription(_ turn: Turn, _ key: ByteString, _ limit: Int) {
        let isDraft3 = speaksDraft3(turn.session)
        fail(
            turn, isDraft3 ? "LIMIT_REACHED" : "TOO_MANY_SUBS", "At most \(limit) keys may be subscribed to",
            about: isDraft3 ? [key, "\(limit)"] : [key])
    }

    mutating func unsubscribe(_ turn: Turn) {
        let slot = turn.session.index
        var done: [ByteString] = []
        for word in keyWords(turn) {
            guard let key = metadataKey(turn, word) else { continue }
            done.append(key)
            subscriptions[slot]?.keys.removeAll { $0 == key }
        }
        if subscriptions[slot]?.keys.isEmpty ?? false { subscriptions[slot] = nil }
        tellKeys(turn, .RPL_METADATAUNSUBOK, done)
    }

    mutating func tellSubscriptions(_ turn: Turn) {
        let session = turn.session
        var reference: ByteString = ""
        if capabilities[Int(session.index)].contains(.batch) {
            reference = nextReference()
            tell(session, "BATCH +\(reference) metadata-subs")
        }
        let keys = subscriptions[session.index]?.keys ?? []
        if !keys.isEmpty {
            for line in wrap(keys, width: room(for: session)) {
                tell(session, "772 \(nickShown(to: session)) \(line)", in: reference)
            }
        }
        endMetadata(session, reference)
    }

    private func keyWords(_ turn: Turn) -> [ByteView] {
        (2..<turn.parameterCount).flatMap { turn[$0].parts(0x20) }
    }

    /// A line may have fifteen parameters (RFC 2812, message format).
    private mutating func tellKeys(_ turn: Turn, _ numeric: Numeric, _ keys: [ByteString]) {
        for start in stride(from: 0, to: keys.count, by: 13) {
            let some = Array(keys[start..<min(start + 13, keys.count)])
            for line in wrap(some, width: room(for: turn.session)) { reply(turn, numeric, line) }
        }
    }
}
