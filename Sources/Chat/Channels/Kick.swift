import Bytes
import Wire

let kickCommand = Command(
    "KICK", minimum: 2, source: "Modern IRC, KICK",
    help: [
        "KICK <#channel> <nick>[,<nick>…] [:reason]",
        "Puts people out of a channel; for operators of it. To keep somebody out: MODE <#channel> +b <nick>.",
        "Example: KICK #lobby bo :enough of that",
    ]
) { world, turn in
    let channels = turn[0].parts(0x2C)
    let nicks = turn[1].parts(0x2C)
    // One channel, or as many as users (RFC 2812, KICK).
    guard !nicks.isEmpty, channels.count == 1 || channels.count == nicks.count else {
        return world.needMoreParameters(turn)
    }
    let most = world.settings.limits.targets
    for (i, nick) in nicks.enumerated() {
        if i == most {
            return world.reply(
                turn, .ERR_TOOMANYTARGETS, "\(world.shown(nick)) :Too many targets; at most \(most)")
        }
        guard world.kick(turn, channels[channels.count == 1 ? 0 : i], nick) || channels.count > 1 else { return }
    }
}

extension World {
    /// False: the kicker has no say in this channel, so that further nicks would get the same answer.
    fileprivate mutating func kick(_ turn: Turn, _ name: ByteView, _ nick: ByteView) -> Bool {
        guard let channel = ownChannel(turn, name) else { return false }
        let own = ranks(turn.me, in: channel)
        guard own.isAtLeastHalfop else {
            refuseRank(turn, channel)
            return false
        }
        guard let target = user(named: nick) else {
            refuseNick(turn, nick)
            return true
        }
        if !isMember(target, of: channel) {
            refuseAbsent(turn, target, channel)
        } else if own.isBelow(ranks(target, in: channel)) {
            refuseRank(turn, channel, "\(users[target].nick) has a higher rank than you")
        } else {
            let comment = freeText(turn, 2)
            kick(
                target, from: channel, by: turn.me,
                users[turn.me].nick.withView { ByteString(comment.isEmpty ? $0 : comment) })
        }
        return true
    }

    /// The kicked sees it as the others do, loses ranks and place, and does not come back by itself.
    private mutating func kick(_ target: UserID, from channel: ChannelID, by user: UserID, _ comment: ByteString) {
        let nick = users[target].nick
        let head: ByteString = "KICK \(channels[channel].name) \(nick) :"
        let text = comment.withView { cut($0, limit: settings.limits.kickLength, head: head, from: user) }
        var line = outgoing(from: user, "\(head)\(text)")
        (line.position, line.time) = record(.kick, by: user, in: channel, "\(nick) :\(text)")
        relay(line, to: channel)
        removeMember(target, from: channel)
        forgetPlace(target, in: channel, ranks: [])
    }
}
