import Bytes
import Wire

let whoisCommand = Command(
    "WHOIS", source: "Modern IRC, WHOIS",
    help: ["WHOIS <nick>", "Who somebody is: name, channels, how long silent, away or not.", "Example: WHOIS ana"]
) { world, turn in
    // WHOIS [<server>] <nick>
    guard let nick = turn.parameter(turn.parameterCount > 1 ? 1 : 0), !nick.isEmpty else {
        return world.reply(turn, .ERR_NONICKNAMEGIVEN, ":No nickname given\(world.hint(turn, ". Try WHOIS ana"))")
    }
    if turn.parameterCount > 1, !world.isForHere(turn) { return }
    if let user = world.user(named: nick) {
        world.whois(turn, user)
        world.reply(turn, .RPL_ENDOFWHOIS, "\(world.users[user].nick) :End of /WHOIS list")
    } else {
        let hint = world.hint(turn, ". WHO lists who is here, WHOWAS who was")
        world.reply(turn, .ERR_NOSUCHNICK, "\(world.shown(nick)) :No such nick/channel\(hint)")
        world.reply(turn, .RPL_ENDOFWHOIS, "\(world.shown(nick)) :End of /WHOIS list")
    }
}

extension World {
    fileprivate mutating func whois(_ turn: Turn, _ id: UserID) {
        let user = users[id]
        let nick = user.nick
        if !user.account.isEmpty, user.account.withView({ own in nick.withView { own.equalsIgnoringCase($0) } }) {
            reply(turn, .RPL_WHOISREGNICK, "\(nick) :has identified for this nick")
        }
        reply(turn, .RPL_WHOISUSER, "\(nick) \(user.username) \(user.host) *", fitting: user.realname)
        whoisChannels(turn, id)
        reply(turn, .RPL_WHOISSERVER, "\(nick) \(settings.serverName)", fitting: settings.description)
        if user.isOperator { reply(turn, .RPL_WHOISOPERATOR, "\(nick) :is an IRC operator") }
        let idle = max(0, now.wall - user.spoke) / 1000
        reply(turn, .RPL_WHOISIDLE, "\(nick) \(idle) \(user.signedOn / 1000) :seconds idle, signon time")
        if !user.account.isEmpty { reply(turn, .RPL_WHOISACCOUNT, "\(nick) \(user.account) :is logged in as") }
        if user.modes.contains(.bot) { reply(turn, .RPL_WHOISBOT, "\(nick) :is a bot") }
        whoisIdentity(turn, user)
        whoisMetadata(turn, id)
        if maySeeAddress(of: id, turn.user) { whoisConnections(turn, user) }
        if user.sessions.allSatisfy({ sessions[$0].peer.isTLS }) {
            reply(turn, .RPL_WHOISSECURE, "\(nick) :is using a secure connection")
        }
        if !user.away.isEmpty { reply(turn, .RPL_AWAY, "\(nick) :\(user.away)") }
    }

    private mutating func whoisChannels(_ turn: Turn, _ user: UserID) {
        let all = capabilities[Int(turn.session.index)].contains(.multiPrefix)
        var words: [ByteString] = []
        for channel in users[user].channels where mayPlace(user, in: channel, turn.user) {
            words.append("\(ranks(user, in: channel).prefixes(all: all))\(channels[channel].name)")
        }
        if !words.isEmpty { reply(turn, .RPL_WHOISCHANNELS, users[user].nick, words: words) }
    }

    /// The uid is for people and for clients that know of uids; others would print a line that means nothing to them.
    private mutating func whoisIdentity(_ turn: Turn, _ user: User) {
        let mine = capabilities[Int(turn.session.index)]
        guard sessions[turn.session].isPlain || mine.contains(.uid) else { return }
        reply(turn, .RPL_WHOISSPECIAL, "\(user.nick) :is the identity \(user.uid.text)")
    }

    private mutating func whoisConnections(_ turn: Turn, _ user: User) {
        var told: [ByteString] = []
        for session in user.sessions {
            let address = sessions[session].peer.address
            if told.contains(address) { continue }
            told.append(address)
            reply(
                turn, .RPL_WHOISACTUALLY,
                "\(user.nick) \(user.username)@\(user.host) \(addressWord(address)) :Is actually using host")
        }
        for session in user.sessions where !sessions[session].peer.certificate.isEmpty {
            let certificate = sessions[session].peer.certificate
            reply(turn, .RPL_WHOISCERTFP, "\(user.nick) :has client certificate fingerprint \(certificate)")
        }
        reply(turn, .RPL_WHOISMODES, "\(user.nick) :is using modes \(user.modes.text)")
    }
}
