import Bytes
import Wire

/// Somebody to whom direct messages go: here, or to be kept for its return.
struct Correspondent {
    var uid: UID
    /// How it is called now: its nick, or `=<uid>`.
    var name: ByteString
    /// nil: it is not here.
    var user: UserID?
}

/// Identities that are not here, by the nick each had last. Bounded: the first that left is forgotten first.
struct Departed {
    private struct Place {
        var uid: UID
        /// Wall milliseconds.
        var left: Int64
    }

    private var places: [NameKey: Place] = [:]
    private var nicks: [UID: ByteString] = [:]
    /// In the order they left; some may be back since.
    private var order: [(uid: UID, left: Int64)] = []

    mutating func add(_ uid: UID, _ nick: ByteString, left: Int64) {
        remove(uid)
        if let before = places[NameKey(nick)] { nicks[before.uid] = nil }
        places[NameKey(nick)] = Place(uid: uid, left: left)
        nicks[uid] = nick
        order.append((uid, left))
        if order.count > 2 * Limits.departed { shorten() }
    }

    mutating func remove(_ uid: UID) {
        guard let nick = nicks.removeValue(forKey: uid) else { return }
        places[NameKey(nick)] = nil
    }

    /// Who had this nick last and left at `earliest` or later.
    func find(_ nick: ByteView, since earliest: Int64) -> (uid: UID, nick: ByteString)? {
        guard let place = places[NameKey(nick)], place.left >= earliest, let nick = nicks[place.uid] else { return nil }
        return (place.uid, nick)
    }

    func contains(_ uid: UID) -> Bool { nicks[uid] != nil }

    func nick(of uid: UID, since earliest: Int64) -> ByteString? {
        nicks[uid].flatMap { nick in nick.withView { find($0, since: earliest) } }?.nick
    }

    private mutating func shorten() {
        order.removeAll { entry in
            nicks[entry.uid].map { places[NameKey($0)]?.left != entry.left } ?? true
        }
        let surplus = order.count - Limits.departed
        if surplus <= 0 { return }
        for entry in order.prefix(surplus) { remove(entry.uid) }
        order.removeFirst(surplus)
    }
}

extension World {
    /// A nick, the name of an account, or `=<uid>`; the nick of a guest who left counts while nobody has taken it. nil:
    /// nobody is called so.
    func correspondent(_ target: ByteView) -> Correspondent? {
        if target.first == 0x3D { return UID(target.dropFirst()).map { correspondent($0) } }
        if let user = user(named: target) {
            return Correspondent(uid: users[user].uid, name: users[user].nick, user: user)
        }
        if let owner = accounts.names.owner(of: target) {
            let known = correspondent(owner)
            return known.user != nil ? known : Correspondent(uid: owner, name: ByteString(target))
        }
        return departed.find(target, since: now.wall - settings.nickMemory).map {
            Correspondent(uid: $0.uid, name: $0.nick)
        }
    }

    func correspondent(_ uid: UID) -> Correspondent {
        if let user = identities[uid] { return Correspondent(uid: uid, name: users[user].nick, user: user) }
        let nick = departed.nick(of: uid, since: now.wall - settings.nickMemory)
        // Found by it only while it is nobody else's.
        let isFound = nick.map { nick in
            nicks[NameKey(nick)] == nil && (nick.withView { accounts.names.owner(of: $0) } ?? uid) == uid
        }
        return Correspondent(uid: uid, name: isFound ?? false ? nick! : "=\(uid.text)")
    }

    /// Somebody is called so for sure: of a uid that is not here the store may have to say it.
    func isKnown(_ correspondent: Correspondent) -> Bool {
        correspondent.user != nil || correspondent.name.bytes.first != 0x3D || departed.contains(correspondent.uid)
    }

    /// Who is here of this name.
    func directTarget(_ target: ByteView) -> UserID? { correspondent(target)?.user }

    /// What finds this identity now. `account`: the name of its account; empty: none is known.
    func name(of uid: UID, account: ByteString = "") -> ByteString {
        if identities[uid] == nil, account.withView({ accounts.names.owner(of: $0) }) == uid { return account }
        return correspondent(uid).name
    }
}

extension LogRecord {
    /// Of a direct conversation, the one who is not this one.
    package func other(than uid: UID) -> UID {
        UID(number: conversation.a == uid.number ? conversation.b : conversation.a)
    }
}
