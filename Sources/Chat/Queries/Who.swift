import Bytes
import Wire

let whoCommand = Command(
    "WHO", access: .visitor, cost: 2000, source: "Modern IRC, WHO; IRCv3 WHOX",
    help: [
        "WHO [#channel|nick|mask] [o] [%fields[,token]]",
        "Who is in a channel, or everyone who matches; with o only operators. H is here, G is away.",
        "Example: WHO #lobby",
    ]
) { world, turn in
    let mask = turn.parameter(0) ?? .empty
    let query = WhoQuery(turn.parameter(1) ?? .empty)
    if mask.first == 0x23 {
        world.whoChannel(turn, mask, query)
    } else if let user = world.user(named: mask) {
        // Who is named is found, invisible or not (Modern IRC, user mode +i).
        world.who(turn, user, in: world.placeShown(of: user, to: turn.user), query)
    } else {
        world.whoMask(turn, mask, query)
    }
    world.reply(turn, .RPL_ENDOFWHO, "\(world.shown(mask, atMost: 200)) :End of WHO list")
}

/// What a WHO asks for beside its mask: `o`, `%fields`, `%fields,token`, `o%fields`.
struct WhoQuery {
    /// The order of the fields in 354, whatever the order asked for; `r` is last and may have spaces.
    static var order: StaticString { "tcuihsnfdlaor" }

    var operatorsOnly = false
    /// Letters, in order; empty: 352.
    var fields: [UInt8] = []
    var token: ByteString = "0"

    init(_ options: ByteView) {
        let mark = options.firstIndex(of: 0x25)
        operatorsOnly = options.prefix(mark ?? options.count).contains(0x6F)
        guard let mark else { return }
        let wanted = options.dropFirst(mark + 1)
        let comma = wanted.firstIndex(of: 0x2C) ?? wanted.count
        fields = ByteView(Self.order).raw.filter { wanted.prefix(comma).contains($0) }
        let token = wanted.dropFirst(comma + 1)
        if (1...3).contains(token.count), token.decimal() != nil { self.token = ByteString(token) }
    }
}

extension World {
    fileprivate mutating func whoChannel(_ turn: Turn, _ name: ByteView, _ query: WhoQuery) {
        guard let channel = channel(named: name), may(turn.user, know: .members, of: channel) else { return }
        for member in channels[channel].members where mayPlace(member.user, in: channel, turn.user) {
            who(turn, member.user, in: channel, query)
        }
    }

    fileprivate mutating func whoMask(_ turn: Turn, _ mask: ByteView, _ query: WhoQuery) {
        let isEveryone = mask.isEmpty || mask == "*" || mask == "0"
        let limit = turn.user.map { users[$0].isOperator } ?? false ? Int.max : settings.limits.whoMatches
        var count = 0
        for user in users.ids where mayFind(user, turn.user) {
            if query.operatorsOnly, !users[user].isOperator { continue }
            guard isEveryone || whoMatches(mask, user, turn.user) else { continue }
            if count == limit {
                return reply(
                    turn, .ERR_TOOMANYMATCHES, "\(turn.command) :Too many matches; the first \(limit) were told")
            }
            count += 1
            who(turn, user, in: placeShown(of: user, to: turn.user), query)
        }
    }

    /// RFC 2812, WHO: nick, user name, host, real name or server.
    private func whoMatches(_ mask: ByteView, _ user: UserID, _ viewer: UserID?) -> Bool {
        let seen = users[user]
        for text in [seen.nick, seen.username, seen.host, seen.realname, settings.serverName]
        where text.withView({ Mask.matches(mask, $0) }) {
            return true
        }
        guard maySeeAddress(of: user, viewer) else { return false }
        return seen.sessions.contains { sessions[$0].peer.address.withView { Mask.matches(mask, $0) } }
    }

    /// A channel to name with a user that was not asked for by channel: a common one before any other.
    fileprivate func placeShown(of user: UserID, to viewer: UserID?) -> ChannelID? {
        if let viewer, let common = users[user].channels.first(where: { isMember(viewer, of: $0) }) { return common }
        return users[user].channels.first { mayPlace(user, in: $0, viewer) }
    }

    fileprivate mutating func who(_ turn: Turn, _ id: UserID, in channel: ChannelID?, _ query: WhoQuery) {
        let user = users[id]
        if query.operatorsOnly, !user.isOperator { return }
        if !query.fields.isEmpty { return whox(turn, id, in: channel, query) }
        let place = channel.map { channels[$0].name } ?? "*"
        let flags = whoFlags(id, in: channel, turn.session)
        reply(
            turn, .RPL_WHOREPLY,
            "\(place) \(user.username) \(user.host) \(settings.serverName) \(user.nick) \(flags)",
            fitting: "0 \(user.realname)")
    }

    private mutating func whox(_ turn: Turn, _ id: UserID, in channel: ChannelID?, _ query: WhoQuery) {
        var words: [ByteString] = []
        for field in query.fields where field != 0x72 { words.append(whoxField(field, turn, id, in: channel, query)) }
        let head = wrap(words, width: .max)[0]
        if query.fields.last == 0x72 {
            reply(turn, .RPL_WHOSPCRPL, head, fitting: users[id].realname)
        } else {
            reply(turn, .RPL_WHOSPCRPL, head)
        }
    }

    private func whoxField(
        _ field: UInt8, _ turn: Turn, _ id: UserID, in channel: ChannelID?, _ query: WhoQuery
    ) -> ByteString {
        let user = users[id]
        switch field {
        case 0x74: return query.token
        case 0x63: return channel.map { channels[$0].name } ?? "*"
        case 0x75: return user.username
        case 0x69:
            guard maySeeAddress(of: id, turn.user), let first = user.sessions.first else { return "255.255.255.255" }
            return addressWord(sessions[first].peer.address)
        case 0x68: return user.host
        case 0x73: return settings.serverName
        case 0x6E: return user.nick
        case 0x66: return whoFlags(id, in: channel, turn.session)
        case 0x64: return "0"
        case 0x6C: return "\(max(0, now.wall - user.spoke) / 1000)"
        case 0x61: return user.account.isEmpty ? "0" : user.account
        default: return "n/a"
        }
    }

    /// `H` here or `G` gone, `*` operator, ranks in the channel, `B` bot (Modern IRC, RPL_WHOREPLY; IRCv3 bot mode).
    private func whoFlags(_ id: UserID, in channel: ChannelID?, _ session: ConnectionID) -> ByteString {
        let user = users[id]
        let all = capabilities[Int(session.index)].contains(.multiPrefix)
        let ranks = channel.map { self.ranks(id, in: $0).prefixes(all: all) } ?? ""
        let bot: ByteString = user.modes.contains(.bot) ? "B" : ""
        return "\(user.away.isEmpty ? "H" : "G")\(user.isOperator ? "*" : "")\(ranks)\(bot)"
    }
}
