import Bytes
import Wire

let renameCommand = Command(
    "RENAME", minimum: 2, cost: 5000, source: "IRCv3 draft/channel-rename",
    help: [
        "RENAME <#channel> <#newname> [:reason]",
        "Gives a channel another name; its members, history, modes and lists stay. For channel operators.",
        "Example: RENAME #lobyb #lobby :typo",
    ]
) { world, turn in world.rename(turn) }

extension World {
    fileprivate mutating func rename(_ turn: Turn) {
        guard let channel = ownChannel(turn, turn[0]) else { return }
        let (old, new) = (channels[channel].name, ByteString(turn[1]))
        guard ranks(turn.me, in: channel).isOperator else { return refuseRank(turn, channel) }
        guard Names.isValidChannel(turn[1], limit: settings.limits.channelLength), old != new else {
            let why: ByteString = old == new ? "This is its name" : "This is no channel's name"
            return fail(turn, "CANNOT_RENAME", why, about: [old, shown(turn[1])])
        }
        if let owner = self.channel(named: turn[1]), owner != channel {
            return fail(turn, "CHANNEL_NAME_IN_USE", "The channel name is already taken", about: [old, new])
        }
        if refuseWhileStoreFails(turn, old) { return }
        let head: ByteString = "RENAME \(old) \(new) :"
        let reason = cut(freeText(turn, 2), limit: settings.limits.kickLength, head: head, from: turn.me)
        channelNames[NameKey(old)] = nil
        channelNames[NameKey(new)] = channel
        channels[channel].state.name = new
        noteListed(channel)
        save(.saveChannel(channels[channel].state))
        var line = outgoing(from: turn.me, "\(head)\(reason)")
        (line.position, line.time) = record(.rename, by: turn.me, in: channel, "\(old) \(new) :\(reason)")
        relay(line, to: channel, needing: .channelRename)
        // To a client another case is the same channel: without the capability it is told nothing.
        if NameKey(old) != NameKey(new) { moveOthers(channel, from: old, reason) }
    }

    /// What a client without the capability is told: it left the old name and came in under the new one.
    private mutating func moveOthers(_ channel: ChannelID, from old: ByteString, _ reason: ByteString) {
        for session in channels[channel].audience
        where !capabilities[Int(session.index)].contains(.channelRename) {
            guard let user = sessions[session].user else { continue }
            let head: ByteString = "PART \(old) :"
            let text = reason.withView { cut($0, limit: settings.limits.kickLength, head: head, from: user) }
            send(outgoing(from: user, text.isEmpty ? "PART \(old)" : "\(head)\(text)"), to: session)
            showEntrance(of: channel, to: session)
        }
    }
}
