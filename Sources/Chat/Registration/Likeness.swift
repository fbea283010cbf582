import Bytes
import Wire

/// How many nicks in use look the same.
struct Likeness {
    var all = 0
    /// Those with other than ASCII letters.
    var foreign = 0

    mutating func count(_ nick: ByteView, _ step: Int) {
        all += step
        if !nick.isASCII { foreign += step }
    }

    /// Two ASCII nicks (`rn` and `m`, `l` and `1`) are told apart by everyone who types them: they never stand in each
    /// other's way.
    func hinders(_ nick: ByteView) -> Bool { nick.isASCII ? foreign > 0 : all > 0 }
}

/// Who has which nick, and which nicks may be had.
extension World {
    mutating func takeNick(_ nick: ByteString, by user: UserID) {
        nicks[NameKey(nick)] = user
        count(nick, 1)
    }

    mutating func releaseNick(_ nick: ByteString) {
        nicks[NameKey(nick)] = nil
        count(nick, -1)
    }

    private mutating func count(_ nick: ByteString, _ step: Int) {
        nick.withView { view in
            let look = ports.skeleton(view)
            var likeness = likenesses[look] ?? Likeness()
            likeness.count(view, step)
            likenesses[look] = likeness.all > 0 ? likeness : nil
        }
    }

    /// Whether anybody but `user` has this nick or one that looks like it, be it on the network or as an account.
    /// - Parameter account: whose own the nick may be; nil: that of `user`.
    func isTaken(_ nick: ByteView, besides user: UserID? = nil, account: ByteString? = nil) -> Bool {
        if let owner = nicks[NameKey(nick)] { return owner != user }
        if isService(nick) || isRegistered(nick, besides: account ?? user.map { users[$0].account } ?? "") {
            return true
        }
        let look = ports.skeleton(nick)
        guard var others = likenesses[look] else { return false }
        user.map { users[$0].nick }?.withView { own in
            if ports.skeleton(own) == look { others.count(own, -1) }
        }
        return others.hinders(nick)
    }

    func isTaken(_ nick: ByteString, besides user: UserID? = nil, account: ByteString? = nil) -> Bool {
        nick.withView { isTaken($0, besides: user, account: account) }
    }
}

extension ByteView {
    fileprivate var isASCII: Bool { raw.allSatisfy { $0 < 0x80 } }
}
