import Bytes
import Wire

let topicCommand = Command(
    "TOPIC", minimum: 1, source: "Modern IRC, TOPIC",
    help: [
        "TOPIC <#channel> [:text]", "Shows what a channel is about, or sets it; an empty text takes it away.",
        "Example: TOPIC #lobby :all about cats",
    ]
) { world, turn in
    if turn.parameterCount == 1 { world.showTopic(turn) } else { world.changeTopic(turn) }
}

extension World {
    /// LIST tells topics to everyone who may see the channel, and so does this.
    fileprivate mutating func showTopic(_ turn: Turn) {
        guard let channel = knownChannel(turn, turn[0]) else { return }
        if channels[channel].state.topic.isEmpty {
            return reply(turn, .RPL_NOTOPIC, "\(channels[channel].name) :No topic is set")
        }
        tellTopic(channel, to: turn.session)
    }

    fileprivate mutating func changeTopic(_ turn: Turn) {
        guard let channel = ownChannel(turn, turn[0]) else { return }
        let user = turn.me
        let name = channels[channel].name
        if channels[channel].has(UInt8(ascii: "t")), !ranks(user, in: channel).isAtLeastHalfop {
            return refuseRank(turn, channel)
        }
        if refuseWhileStoreFails(turn, name) { return }
        let head: ByteString = "TOPIC \(name) :"
        let topic = cut(freeText(turn, 1), limit: topicLimit(channel), head: head, from: user)
        channels[channel].state.topic = topic
        channels[channel].state.topicSetter = users[user].source
        channels[channel].state.topicTime = now.wall / 1000
        noteListed(channel)
        save(.saveChannel(channels[channel].state))
        var line = outgoing(from: user, "\(head)\(topic)")
        (line.position, line.time) = record(.topic, by: user, in: channel, ":\(topic)")
        relay(line, to: channel)
    }

    /// TOPICLEN, unless 332 and 322 (with seven digits of members) to the longest nick could not hold that.
    private func topicLimit(_ channel: ChannelID) -> Int {
        let head = settings.serverName.count + settings.limits.nickLength + channels[channel].name.count + 19
        return min(settings.limits.topicLength, LineLimits.message - head)
    }

    /// 332 and 333, when there is a topic.
    mutating func tellTopic(_ channel: ChannelID, to session: ConnectionID) {
        let state = channels[channel].state
        if state.topic.isEmpty { return }
        reply(to: session, .RPL_TOPIC, "\(state.name) :\(state.topic)")
        reply(to: session, .RPL_TOPICWHOTIME, "\(state.name) \(state.topicSetter) \(state.topicTime)")
    }
}
