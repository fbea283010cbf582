import Bytes
import Wire

/// Who a connection is, as far as masks are compared with it.
struct Visitor {
    var username: ByteString
    /// What everybody sees.
    var host: ByteString
    var address: ByteString
}

/// The bans of the whole server, by kind, in the order they were set. They are few and are looked through one by one.
struct ServerBans {
    fileprivate struct Entry {
        var ban: ServerBan
        /// Of a mask that names addresses in CIDR notation.
        var network: Network?
        /// Before the `@`; empty for masks without one.
        var username: ByteString = ""
    }

    private var entries: [ServerBan.Kind: [Entry]] = [:]
    /// Asked for every command, so kept ready.
    private(set) var hasMutes = false

    init(_ bans: [ServerBan]) { for ban in bans { set(ban) } }

    /// Replaces the one of the same kind and mask.
    mutating func set(_ ban: ServerBan) {
        remove(ban.kind, ban.mask)
        entries[ban.kind, default: []].append(Self.entry(ban))
        hasMutes = hasMutes || ban.kind == .shun
    }

    /// The mask as it was set; nil: there is none.
    @discardableResult
    mutating func remove(_ kind: ServerBan.Kind, _ mask: ByteString) -> ByteString? {
        guard let at = entries[kind]?.firstIndex(where: { Self.isSame($0, kind, mask) }) else { return nil }
        let removed = entries[kind]?.remove(at: at).ban.mask
        hasMutes = !(entries[.shun] ?? []).isEmpty
        return removed
    }

    func all(_ kind: ServerBan.Kind) -> [ServerBan] { (entries[kind] ?? []).map(\.ban) }

    /// - Parameter now: seconds since 1970; what has expired by then bans nobody.
    func first(_ kind: ServerBan.Kind, for visitor: Visitor, now: Int64) -> ServerBan? {
        first(kind, now: now) { $0.holds(visitor) }
    }

    func first(_ kind: ServerBan.Kind, address: ByteString, now: Int64) -> ServerBan? {
        guard !(entries[kind] ?? []).isEmpty, let own = address.withView({ Network($0) }) else { return nil }
        return first(kind, now: now) { $0.network?.contains(own) ?? false }
    }

    func first(_ kind: ServerBan.Kind, nick: ByteView, now: Int64) -> ServerBan? {
        first(kind, now: now) { $0.ban.mask.withView { Mask.matches($0, nick) } }
    }

    private func first(_ kind: ServerBan.Kind, now: Int64, where matches: (Entry) -> Bool) -> ServerBan? {
        entries[kind]?.first { ($0.ban.expires == 0 || $0.ban.expires > now) && matches($0) }?.ban
    }

    private static func entry(_ ban: ServerBan) -> Entry {
        ban.mask.withView { mask in
            let at = mask.firstIndex(of: 0x40)
            let host = mask.dropFirst(at.map { $0 + 1 } ?? 0)
            let isNetwork = ban.kind == .dline || host.contains(0x2F)
            return Entry(
                ban: ban, network: isNetwork ? Network(host) : nil, username: ByteString(mask.prefix(at ?? 0)))
        }
    }

    private static func isSame(_ entry: Entry, _ kind: ServerBan.Kind, _ mask: ByteString) -> Bool {
        if kind == .dline, let network = entry.network { return mask.withView { Network($0) } == network }
        return entry.ban.mask.withView { own in mask.withView { own.equalsIgnoringCase($0) } }
    }
}

extension ServerBans.Entry {
    func holds(_ visitor: Visitor) -> Bool {
        if let network {
            guard let own = visitor.address.withView({ Network($0) }), network.contains(own) else { return false }
            return username.withView { mask in visitor.username.withView { Mask.matches(mask, $0) } }
        }
        return [visitor.host, visitor.address].contains { host in
            let whole: ByteString = "\(visitor.username)@\(host)"
            return whole.withView { text in ban.mask.withView { Mask.matches($0, text) } }
        }
    }
}

extension World {
    var seconds: Int64 { now.wall / 1000 }

    func visitor(_ session: ConnectionID) -> Visitor? {
        guard let user = sessions[session].user else { return nil }
        return Visitor(
            username: users[user].username, host: users[user].host, address: sessions[session].peer.address)
    }

    func reservation(of nick: ByteView) -> ServerBan? { serverBans.first(.resv, nick: nick, now: seconds) }

    /// Bans whose time is over leave the store too.
    mutating func expireServerBans() {
        for kind in ServerBan.Kind.allCases {
            for ban in serverBans.all(kind) where ban.expires != 0 && ban.expires <= seconds {
                serverBans.remove(kind, ban.mask)
                save(.removeServerBan(kind, mask: ban.mask))
                note(.info, "\(kind.command) \(ban.mask) has expired")
            }
        }
    }

    // MARK: At the door

    /// A D-lined address is told so and closed before anything it sends is read.
    mutating func refuseBannedAddress(_ id: ConnectionID) -> Bool {
        guard let ban = serverBans.first(.dline, address: sessions[id].peer.address, now: seconds) else { return false }
        closeBanned(id, ban)
        return true
    }

    /// Whether bans or a lockdown keep out who wants to register now; it was told.
    mutating func refuseByOperators(_ id: ConnectionID, _ opening: Opening) -> Bool {
        let username =
            opening.username.isEmpty ? opening.nick.withView { Names.sanitizeUser($0) } : opening.username
        let peer = sessions[id].peer
        let visitor = Visitor(username: username, host: peer.host, address: peer.address)
        if let ban = serverBans.first(.kline, for: visitor, now: seconds) {
            closeBanned(id, ban)
            return true
        }
        return refuseNewcomer(id, opening)
    }

    mutating func closeBanned(_ id: ConnectionID, _ ban: ServerBan) {
        reply(to: id, .ERR_YOUREBANNEDCREEP, ":You are banned from this server: \(ban.reason)")
        let said: ByteString = "\(ban.kind.participle): \(ban.reason)"
        close(id, reason: said, error: "Closing link: \(said)")
    }
}
