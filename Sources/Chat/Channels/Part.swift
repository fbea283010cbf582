import Bytes
import Wire

let partCommand = Command(
    "PART", minimum: 1, source: "Modern IRC, PART",
    help: [
        "PART <#channel>[,<#channel>…] [reason]", "Leaves channels. They live on, with their history.",
        "Example: PART #lobby :see you",
    ]
) { world, turn in
    let reason = world.isMutedByServer(turn.session) ? .empty : world.freeText(turn, 1)
    for name in turn[0].parts(0x2C) {
        guard let channel = world.ownChannel(turn, name) else { continue }
        world.part(turn.me, channel, reason)
    }
    if turn[0].parts(0x2C).isEmpty { world.needMoreParameters(turn) }
}

extension World {
    mutating func part(_ user: UserID, _ channel: ChannelID, _ reason: ByteView) {
        let head: ByteString = "PART \(channels[channel].name)"
        let text = cut(reason, limit: settings.limits.kickLength, head: "\(head) :", from: user)
        let tail: ByteString = text.isEmpty ? "" : ":\(text)"
        var line = outgoing(from: user, text.isEmpty ? head : "\(head) \(tail)")
        (line.position, line.time) = record(.part, by: user, in: channel, tail)
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
