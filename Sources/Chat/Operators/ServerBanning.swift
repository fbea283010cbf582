import Bytes
import Wire

/// KLINE, DLINE, RESV and SHUN and what takes them back.
extension World {
    /// Room for the rest of the line in 465, ERROR and QUIT.
    private static var longestReason: Int { 200 }
    private static var longestMask: Int { 128 }

    mutating func ban(_ turn: Turn, _ kind: ServerBan.Kind) {
        guard let first = turn.parameter(0), !first.isEmpty else { return statsBans(turn, kind, isAsked: true) }
        let duration = Self.duration(first)
        let place = duration == nil ? 0 : 1
        guard let given = turn.parameter(place), !given.isEmpty else { return needMoreParameters(turn) }
        guard given.count <= Self.longestMask, let mask = kind.mask(given) else {
            return reply(turn, .ERR_BADMASK, "\(shown(given)) :Bad mask: \(kind.wanted)")
        }
        let text = freeText(turn, place + 1)
        let reason = text.prefix(UTF8Check.scalarBoundary(text, atMost: Self.longestReason)).trimmed
        let ban = ServerBan(
            kind: kind, mask: mask, reason: reason.isEmpty ? "no reason given" : ByteString(reason),
            setter: users[turn.me].nick, time: seconds,
            expires: duration.map { seconds + max(1, $0 / 1000) } ?? 0)
        set(turn, ban)
    }

    /// `1h30m` and the like; a bare number counts minutes, as operators of other servers are used to.
    private static func duration(_ text: ByteView) -> Int64? {
        text.decimal(limit: 10_000_000).map { Int64($0) * 60_000 } ?? Times.duration(text)
    }

    private mutating func set(_ turn: Turn, _ ban: ServerBan) {
        let alone = ServerBans([ban])
        // Whoever mistypes `*@*` must be able to take it back.
        if users[turn.me].sessions.contains(where: { isConcerned($0, alone) }) {
            return fail(turn, "OWN_MASK", "That mask is yours too; nothing was done", about: [ban.mask])
        }
        serverBans.set(ban)
        save(.saveServerBan(ban))
        noteOperator(turn, "set \(ban.kind.command) \(ban.mask) \(until(ban)): \(ban.reason)")
        let count = enforce(ban, alone)
        let done: ByteString = ban.kind == .shun ? "" : "; \(count) \(ban.kind.consequence)"
        tellStored(turn.session, "\(ban.kind.command) \(ban.mask) is set \(until(ban))\(done)")
    }

    /// A ban holds at once, whatever the store says.
    private mutating func tellStored(_ session: ConnectionID, _ done: ByteString) {
        let head: ByteString = ":\(settings.serverName) NOTICE \(nickShown(to: session)) :\(done)"
        sendRaw(session, head, otherwise: "\(head); it cannot be stored now, and a restart before it can undoes it")
    }

    private func isConcerned(_ session: ConnectionID, _ bans: ServerBans) -> Bool {
        if bans.first(.dline, address: sessions[session].peer.address, now: seconds) != nil { return true }
        guard let visitor = visitor(session) else { return false }
        return bans.first(.kline, for: visitor, now: seconds) ?? bans.first(.shun, for: visitor, now: seconds) != nil
    }

    /// What is here already and would not be let in any more. Returns how many that were.
    private mutating func enforce(_ ban: ServerBan, _ alone: ServerBans) -> Int {
        if ban.kind == .shun { return 0 }
        if ban.kind == .resv { return renameReserved(ban) }
        let banned = sessions.ids.filter { sessions[$0].stage != .closing && isConcerned($0, alone) }
        for session in banned { closeBanned(session, ban) }
        return banned.count
    }

    /// Operators keep theirs, and the server's own names are no one's choice.
    private mutating func renameReserved(_ ban: ServerBan) -> Int {
        let bearers = users.ids.filter { id in
            !users[id].isOperator
                && users[id].nick.withView { nick in
                    !isReservedNick(nick) && ban.mask.withView { Mask.matches($0, nick) }
                }
        }
        for user in bearers {
            let before = users[user].nick
            changeNick(user, to: generatedNick())
            for session in users[user].sessions {
                notice(session, "The nick \(before) is reserved now: \(ban.reason). Type NICK anothername")
            }
        }
        return bearers.count
    }

    mutating func unban(_ turn: Turn, _ kind: ServerBan.Kind) {
        let given = turn[0]
        guard given.count <= Self.longestMask, let mask = kind.mask(given) else {
            return reply(turn, .ERR_BADMASK, "\(shown(given)) :Bad mask: \(kind.wanted)")
        }
        guard let removed = serverBans.remove(kind, mask) else {
            return fail(turn, "NO_SUCH_BAN", "There is none; \(kind.command) alone lists all", about: [mask])
        }
        save(.removeServerBan(kind, mask: removed))
        noteOperator(turn, "removed \(kind.command) \(removed)")
        tellStored(turn.session, "\(kind.command) \(removed) is removed")
    }

    // MARK: Lists

    /// STATS k, d, q and s; with `isAsked` for a command without parameters, which has no 219 of its own yet.
    mutating func statsBans(_ turn: Turn, _ kind: ServerBan.Kind, isAsked: Bool = false) {
        guard requireOperator(turn, kind.privilege) else { return }
        for ban in serverBans.all(kind) where ban.expires == 0 || ban.expires > seconds {
            let about: ByteString = "\(ban.reason) (\(ban.setter), \(Times.short(ban.time * 1000)), \(until(ban)))"
            reply(turn, kind.numeric, kind.listed(ban.mask), fitting: about)
        }
        if isAsked { reply(turn, .RPL_ENDOFSTATS, "\(kind.letter) :End of /STATS report") }
    }

    func until(_ ban: ServerBan) -> ByteString {
        ban.expires == 0 ? "for good" : "until \(Times.short(ban.expires * 1000)) UTC"
    }
}

extension ServerBan.Kind {
    var command: StaticString {
        switch self {
        case .kline: "KLINE"
        case .dline: "DLINE"
        case .resv: "RESV"
        case .shun: "SHUN"
        }
    }

    var participle: StaticString { self == .dline ? "D-lined" : "K-lined" }

    var consequence: StaticString { self == .resv ? "renamed" : "connections closed" }

    var privilege: Privilege {
        switch self {
        case .kline: .kline
        case .dline: .dline
        case .resv: .resv
        case .shun: .shun
        }
    }

    /// Of STATS.
    var letter: StaticString {
        switch self {
        case .kline: "k"
        case .dline: "d"
        case .resv: "q"
        case .shun: "s"
        }
    }

    /// No server has one for a SHUN of its own; 223 is the one that is used for it.
    var numeric: Numeric {
        switch self {
        case .kline: .RPL_STATSKLINE
        case .dline: .RPL_STATSDLINE
        case .resv: .RPL_STATSQLINE
        case .shun: .RPL_STATSGLINE
        }
    }

    var wanted: StaticString {
        switch self {
        case .kline, .shun: "write user@host, as in *@192.0.2.7 or *@192.0.2.0/24"
        case .dline: "write an address or a network, as in 192.0.2.7 or 2001:db8::/32"
        case .resv: "write a nick, with * and ? for what may vary"
        }
    }

    /// The mask as it is kept; nil: it is none of this kind.
    func mask(_ given: ByteView) -> ByteString? {
        switch self {
        case .dline: return Network(given) == nil ? nil : ByteString(given)
        case .resv:
            let isNick = !given.contains(0x21) && !given.contains(0x40) && given.first != 0x23 && given.first != 0x3A
            return isNick ? ByteString(given) : nil
        case .kline, .shun:
            guard !given.contains(0x21), given.first != 0x3A else { return nil }
            guard let at = given.firstIndex(of: 0x40) else {
                // A host alone has a dot or a colon.
                return given.contains(0x2E) || given.contains(0x3A) ? "*@\(given)" : nil
            }
            let host = given.dropFirst(at + 1)
            guard at > 0, !host.isEmpty, !host.contains(0x40) else { return nil }
            return host.contains(0x2F) && Network(host) == nil ? nil : ByteString(given)
        }
    }

    /// `K <host> * <user>` (RFC 1459, RPL_STATSKLINE), `<letter> <mask>` for the others.
    func listed(_ mask: ByteString) -> ByteString {
        switch self {
        case .kline:
            mask.withView { mask in
                let at = mask.firstIndex(of: 0x40) ?? 0
                return "K \(mask.dropFirst(at + 1)) * \(mask.prefix(at))"
            }
        case .dline: "D \(mask)"
        case .resv: "Q \(mask)"
        case .shun: "S \(mask)"
        }
    }
}
