import Bytes
import Wire

let inviteCommand = Command(
    "INVITE", source: "Modern IRC, INVITE",
    help: [
        "INVITE <nick> <#channel>  or  INVITE",
        "Asks somebody into a channel you are in; from its operators it opens the door too. Alone: who invites you.",
        "Example: INVITE bo #lobby",
    ]
) { world, turn in
    switch turn.parameterCount {
    case 0: world.listInvitations(turn)
    case 1: world.needMoreParameters(turn)
    default: world.invite(turn)
    }
}

extension World {
    fileprivate mutating func invite(_ turn: Turn) {
        guard let channel = ownChannel(turn, turn[1]) else { return }
        let name = channels[channel].name
        let isPowerful = ranks(turn.me, in: channel).isAtLeastHalfop
        if channels[channel].has(UInt8(ascii: "i")), !isPowerful { return refuseRank(turn, channel) }
        guard let target = user(named: turn[0]) else { return refuseNick(turn, turn[0]) }
        let nick = users[target].nick
        if isMember(target, of: channel) {
            return reply(turn, .ERR_USERONCHANNEL, "\(nick) \(name) :is already on channel")
        }
        // Only from those who could take the obstacle away does it lift +b, +i, +k, +l and +R.
        if isPowerful { remember(invited: users[target].uid, channel) }
        reply(turn, .RPL_INVITING, "\(nick) \(name)")
        let line = outgoing(from: turn.me, "INVITE \(nick) \(name)")
        for session in users[target].sessions { send(line, to: session) }
        relay(line, to: channel, except: turn.session, needing: .inviteNotify)
        if !users[target].away.isEmpty { reply(turn, .RPL_AWAY, "\(nick) :\(users[target].away)") }
    }

    private mutating func remember(invited uid: UID, _ channel: ChannelID) {
        channels[channel].invited.removeAll { $0 == uid }
        channels[channel].invited.append(uid)
        if channels[channel].invited.count > settings.limits.listEntries { channels[channel].invited.removeFirst() }
    }

    fileprivate mutating func listInvitations(_ turn: Turn) {
        let uid = users[turn.me].uid
        for channel in channels.ids where channels[channel].invited.contains(uid) {
            reply(turn, .RPL_INVITELIST, "\(channels[channel].name)")
        }
        reply(turn, .RPL_ENDOFINVITELIST, ":End of invite list")
    }
}
