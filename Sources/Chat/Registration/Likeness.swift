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

    /// Whether anybody but `user` has this nick or one that looks like it. Two ASCII nicks (`rn` and `m`, `l` and `1`)
    /// are told apart by everyone who types them: they never stand in each other's way.
    func isTaken(_ nick: ByteView, besides user: UserID? = nil) -> Bool {
        if let owner = nicks[NameKey(nick)] { return owner != user }
        let look = ports.skeleton(nick)
        guard var others = likenesses[look] else { return false }
        user.map { users[$0].nick }?.withView { own in
            if ports.skeleton(own) == look { others.count(own, -1) }
        }
        return nick.isASCII ? others.foreign > 0 : others.all > 0
    }

    func isTaken(_ nick: ByteString, besides user: UserID? = nil) -> Bool {
        nick.withView { isTaken($0, besides: user) }
    }
}

extension ByteView {
    fileprivate var isASCII: Bool { raw.allSatisfy { $0 < 0x80 } }
}
