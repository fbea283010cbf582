import Bytes
import Wire

let dropCommand = Command(
    "DROP", minimum: 1, source: "docs/PROTOCOL.md, Channels",
    help: [
        "DROP <#channel> [:reason]",
        "Removes a channel for good: its members are put out, its topic, modes, lists and history are gone.",
        "For its founder and for server operators. There is no way back.", "Example: DROP #oldcats",
    ]
) { world, turn in world.drop(turn) }

extension World {
    fileprivate mutating func drop(_ turn: Turn) {
        let user = turn.me
        guard let channel = channel(named: turn[0]) else { return refuseChannelName(turn, turn[0]) }
        let state = channels[channel].state
        guard state.founder == users[user].uid || isPrivileged(user, .drop) else {
            if !may(user, know: .existence, of: channel) { return refuseChannelName(turn, turn[0]) }
            return refuseRank(turn, channel, "Only the founder of a channel and server operators drop it")
        }
        if refuseWhileStoreFails(turn, state.name) { return }
        let reason = freeText(turn, 1)
        putEveryoneOut(channel, by: user, reason.isEmpty ? ByteView("The channel was dropped") : reason)
        channelNames[NameKey(state.name)] = nil
        channels.remove(channel)
        watch.noteGone(state.id, now: now.steady)
        save(.dropChannel(id: state.id))
        if state.founder == users[user].uid {
            note(.info, "\(users[user].nick) (\(users[user].uid.text)) dropped \(state.name)")
        } else {
            noteOperator(turn, "dropped \(state.name)")
        }
        tell(
            turn.session,
            StandardReplies.note("DROP", "DROPPED", [state.name], "The channel and its history are gone"))
    }

    /// Each member sees its own KICK: all of them to all would be a line for each pair. None of it is recorded, as the
    /// log goes with the channel.
    private mutating func putEveryoneOut(_ channel: ChannelID, by user: UserID, _ reason: ByteView) {
        let name = channels[channel].name
        // From the front, where each is found at once.
        while let member = channels[channel].members.first {
            let head: ByteString = "KICK \(name) \(users[member.user].nick) :"
            let text = cut(reason, limit: settings.limits.kickLength, head: head, from: user)
            let line = outgoing(from: user, "\(head)\(text)")
            for session in users[member.user].sessions { send(line, to: session) }
            removeMember(member.user, from: channel)
        }
    }
}
