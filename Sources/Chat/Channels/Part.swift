import Bytes
import Wire

let partCommand = Command(
    "PART", minimum: 1, source: "Modern IRC, PART",
    help: [
        "PART <#channel>[,<#channel>…] [reason]", "Leaves channels. They live on, with their history.",
        "Example: PART #lobby :see you",
    ]
) { world, turn in
    let reason = turn.parameter(1) ?? .empty
    for name in turn[0].parts(0x2C) {
        guard let channel = world.channel(named: name) else {
            world.reply(turn, .ERR_NOSUCHCHANNEL, "\(world.firstWord(ByteString(name.prefix(64)))) :No such channel")
            continue
        }
        guard world.isMember(turn.me, of: channel) else {
            world.reply(turn, .ERR_NOTONCHANNEL, "\(world.channels[channel].name) :You're not on that channel")
            continue
        }
        world.part(turn.me, channel, reason)
    }
}

extension World {
    mutating func part(_ user: UserID, _ channel: ChannelID, _ reason: ByteView) {
        let text = ByteString(reason.prefix(UTF8Check.scalarBoundary(reason, atMost: settings.limits.kickLength)))
        let tail: ByteString = text.isEmpty ? "" : " :\(text)"
        let parted = record(.part, by: user, in: channel, text.isEmpty ? "" : ":\(text)")
        var line = outgoing(from: user, "PART \(channels[channel].name)\(tail)")
        line.position = parted.position
        line.time = parted.time
        relay(line, to: channel)
        let ranks = channels[channel].ranks(of: user) ?? []
        removeMember(user, from: channel)
        forgetPlace(user, in: channel, ranks: ranks)
    }

    /// `JOIN 0` (RFC 2812, JOIN).
    mutating func partAll(_ turn: Turn) {
        for channel in users[turn.me].channels { part(turn.me, channel, ByteView("Left all channels")) }
    }
}
