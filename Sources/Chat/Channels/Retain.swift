import Bytes
import Wire

let retentionCommand = Command(
    "RETENTION", minimum: 1, source: "docs/PROTOCOL.md, Channels",
    help: [
        "RETENTION <#channel> [age|* [count|*]]",
        "How long a channel's history is kept, and how many of its newest messages: tells it, or sets it.",
        "* is no limit of its own; what the server keeps is the most. For channel operators.",
        "Older messages are deleted for good within minutes.", "Example: RETENTION #lobby 30d 10000",
    ]
) { world, turn in world.retention(turn) }

extension World {
    fileprivate mutating func retention(_ turn: Turn) {
        guard let channel = ownChannel(turn, turn[0]) else { return }
        guard turn.parameterCount > 1 else { return tellRetention(turn, channel) }
        guard ranks(turn.me, in: channel).isOperator else { return refuseRank(turn, channel) }
        var retention = channels[channel].state.retention
        guard let age = limit(turn[1], by: { Times.duration($0).map { $0 / 1000 } }) else {
            return refuseRetention(turn, channel, turn[1])
        }
        retention.age = age
        if let word = turn.parameter(2) {
            guard let count = limit(word, by: { $0.decimal().map(Int64.init) }) else {
                return refuseRetention(turn, channel, word)
            }
            retention.count = count
        }
        if refuseWhileStoreFails(turn, channels[channel].name) { return }
        channels[channel].state.retention = retention
        save(.saveChannel(channels[channel].state))
        note(.info, "\(users[turn.me].nick) keeps \(channels[channel].name) \(described(retention))")
        tellRetention(turn, channel)
    }

    /// 0 is no limit; nil: it is none.
    private func limit(_ word: ByteView, by parse: (ByteView) -> Int64?) -> Int64? {
        if word == "*" { return 0 }
        guard let number = parse(word), number > 0 else { return nil }
        return number
    }

    private mutating func refuseRetention(_ turn: Turn, _ channel: ChannelID, _ word: ByteView) {
        fail(
            turn, "INVALID_PARAMS", "An age is 12h or 30d, a count a number of messages, and * no limit",
            about: [channels[channel].name, shown(word, atMost: 32)])
    }

    /// What holds for the channel, the server's limits included.
    private mutating func tellRetention(_ turn: Turn, _ channel: ChannelID) {
        let present = channels[channel].state.retention.limited(by: settings.retention)
        let age: ByteString = present.age > 0 ? "\(present.age)s" : "*"
        let count: ByteString = present.count > 0 ? "\(present.count)" : "*"
        tell(
            turn.session,
            StandardReplies.note(
                "RETENTION", "KEPT", [channels[channel].name, age, count], "History is kept \(described(present))"))
    }

    private func described(_ retention: Retention) -> ByteString {
        var words: [ByteString] = []
        if retention.age > 0 { words.append("for \(retention.age) seconds") }
        if retention.count > 0 { words.append("up to \(retention.count) messages") }
        return words.isEmpty ? "for ever" : words.dropFirst().reduce(words[0]) { "\($0), \($1)" }
    }

    /// Its newest message, as far as it is kept.
    func newestKept(_ channel: ChannelID) -> MessageMark? {
        let newest = channels[channel].lastMessage
        let age = channels[channel].state.retention.limited(by: settings.retention).age
        return newest.position > 0 && (age == 0 || newest.time >= now.wall - age * 1000) ? newest : nil
    }
}
