import Bytes
import Wire

let monitorCommand = Command(
    "MONITOR", minimum: 1, source: "IRCv3 monitor",
    help: [
        "MONITOR + <nick>[,<nick>…]  or  MONITOR - <nick>[,<nick>…]  or  MONITOR L | S | C",
        "Tells you when people come and go. L lists whom you watch, S who of them is here, C watches nobody any more.",
        "Example: MONITOR + ana,bo",
    ]
) { world, turn in
    let modifier = turn[0]
    if modifier == "+" || modifier == "-" {
        guard let list = turn.parameter(1), !list.parts(0x2C).isEmpty else { return world.needMoreParameters(turn) }
        if modifier == "+" { world.watch(turn, list) } else { world.unwatch(turn, list) }
    } else if modifier.equalsIgnoringCase("C") {
        world.monitors.clear(turn.session)
    } else if modifier.equalsIgnoringCase("L") {
        world.listWatched(turn)
    } else if modifier.equalsIgnoringCase("S") {
        world.tellPresence(of: world.monitors.watched(by: turn.session), to: turn.session)
    } else {
        world.fail(
            turn, "INVALID_PARAMS", "Write MONITOR + nick, MONITOR - nick, or MONITOR L, S or C",
            about: [world.shown(modifier, atMost: 32)])
    }
}

/// Who watches which nicks. A list belongs to the connection and is gone with it (IRCv3 monitor).
struct Monitors {
    /// The nicks as the client wrote them.
    private var lists: [ConnectionID: [NameKey: ByteString]] = [:]
    private var watchers: [NameKey: Set<ConnectionID>] = [:]

    func count(of session: ConnectionID) -> Int { lists[session]?.count ?? 0 }

    func watches(_ session: ConnectionID, _ nick: ByteView) -> Bool { lists[session]?[NameKey(nick)] != nil }

    /// Sorted.
    func watched(by session: ConnectionID) -> [ByteString] {
        (lists[session] ?? [:]).values.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    func watchers(of nick: ByteString) -> Set<ConnectionID> {
        watchers.isEmpty ? [] : watchers[NameKey(nick)] ?? []
    }

    mutating func add(_ nick: ByteView, for session: ConnectionID) {
        let key = NameKey(nick)
        lists[session, default: [:]][key] = ByteString(nick)
        watchers[key, default: []].insert(session)
    }

    mutating func remove(_ nick: ByteView, for session: ConnectionID) {
        let key = NameKey(nick)
        guard lists[session]?.removeValue(forKey: key) != nil else { return }
        forget(key, session)
    }

    mutating func clear(_ session: ConnectionID) {
        for key in (lists.removeValue(forKey: session) ?? [:]).keys { forget(key, session) }
    }

    private mutating func forget(_ key: NameKey, _ session: ConnectionID) {
        watchers[key]?.remove(session)
        if watchers[key]?.isEmpty ?? false { watchers[key] = nil }
    }
}

extension World {
    fileprivate mutating func watch(_ turn: Turn, _ list: ByteView) {
        let limit = settings.limits.monitor
        var added: [ByteString] = []
        var refused: [ByteString] = []
        for nick in list.parts(0x2C) where !monitors.watches(turn.session, nick) {
            // A mask is no nick: whom nobody can be called, nobody can follow over a change of nick.
            guard Names.isValidNick(nick, limit: settings.limits.nickLength) else {
                reply(turn, .ERR_ERRONEUSNICKNAME, "\(shown(nick)) :Erroneous nickname")
                continue
            }
            if monitors.count(of: turn.session) < limit {
                monitors.add(nick, for: turn.session)
                added.append(ByteString(nick))
            } else {
                refused.append(ByteString(nick))
            }
        }
        tellPresence(of: added, to: turn.session)
        for nick in added { if let user = nicks[NameKey(nick)] { tellValues(of: user, to: turn.session) } }
        if refused.isEmpty { return }
        let text: ByteString = ":Monitor list is full."
        let room = room(for: turn.session) - text.count - 8
        for line in wrap(refused, width: room, separator: 0x2C) {
            reply(turn, .ERR_MONLISTFULL, "\(limit) \(line) \(text)")
        }
    }

    fileprivate mutating func unwatch(_ turn: Turn, _ list: ByteView) {
        for nick in list.parts(0x2C) { monitors.remove(nick, for: turn.session) }
    }

    fileprivate mutating func listWatched(_ turn: Turn) {
        let nicks = monitors.watched(by: turn.session)
        if !nicks.isEmpty { tellNicks(.RPL_MONLIST, nicks, to: turn.session) }
        reply(turn, .RPL_ENDOFMONLIST, ":End of MONITOR list")
    }

    /// 730 for who is here, 731 for who is not.
    fileprivate mutating func tellPresence(of nicks: [ByteString], to session: ConnectionID) {
        var here: [ByteString] = []
        var gone: [ByteString] = []
        for nick in nicks {
            if let user = self.nicks[NameKey(nick)] { here.append(users[user].source) } else { gone.append(nick) }
        }
        if !here.isEmpty { tellNicks(.RPL_MONONLINE, here, to: session) }
        if !gone.isEmpty { tellNicks(.RPL_MONOFFLINE, gone, to: session) }
    }

    private mutating func tellNicks(_ numeric: Numeric, _ nicks: [ByteString], to session: ConnectionID) {
        for line in wrap(nicks, width: room(for: session) - 1, separator: 0x2C) {
            reply(to: session, numeric, ":\(line)")
        }
    }

    // MARK: What the watchers are told

    mutating func announceOnline(_ user: UserID) {
        for session in monitors.watchers(of: users[user].nick) {
            reply(to: session, .RPL_MONONLINE, ":\(users[user].source)")
            tellValues(of: user, to: session)
        }
    }

    mutating func announceOffline(nick: ByteString) {
        for session in monitors.watchers(of: nick) { reply(to: session, .RPL_MONOFFLINE, ":\(nick)") }
    }

    /// The nick of `user` was `old`. Another spelling of the same one is no coming and going.
    mutating func announceNickChange(_ user: UserID, from old: ByteString) {
        if NameKey(old) == NameKey(users[user].nick) { return }
        announceOffline(nick: old)
        announceOnline(user)
    }

    /// Who is told of changes of this user: `neighbours`, and who watches it and has `needed`; what is no subscription
    /// of its own needs the one to hear of changes too (IRCv3 extended-monitor).
    mutating func neighboursAndWatchers(
        of user: UserID, needing needed: Capabilities = .extendedMonitor
    ) -> ContiguousArray<ConnectionID> {
        var found = neighbours(of: user)
        for session in monitors.watchers(of: users[user].nick)
        where stamps[Int(session.index)] != stamp && capabilities[Int(session.index)].isSuperset(of: needed) {
            found.append(session)
        }
        return found
    }
}
