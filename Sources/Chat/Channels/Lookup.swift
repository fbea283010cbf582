import Bytes
import Wire

/// Channels as somebody may know of them, and the refusals that several commands share.
extension World {
    /// The channel of this name if the asker may know of it; otherwise 403 was told. For who is not in it, a secret
    /// channel does not exist (Modern IRC, "Secret Channel Mode").
    mutating func knownChannel(_ turn: Turn, _ name: ByteView) -> ChannelID? {
        if let channel = channel(named: name), may(turn.user, know: .existence, of: channel) { return channel }
        refuseChannelName(turn, name)
        return nil
    }

    /// As `knownChannel`, and who asks is in it; otherwise 403 or 442 was told.
    mutating func ownChannel(_ turn: Turn, _ name: ByteView) -> ChannelID? {
        guard let channel = knownChannel(turn, name) else { return nil }
        if isMember(turn.me, of: channel) { return channel }
        refuseNonMember(turn, channel)
        return nil
    }

    mutating func refuseChannelName(_ turn: Turn, _ name: ByteView) {
        var hint: ByteString = ""
        if sessions[turn.session].isPlain {
            hint = name.first == 0x23 ? "; LIST shows them" : ". Channel names begin with #, as in JOIN #lobby"
        }
        reply(turn, .ERR_NOSUCHCHANNEL, "\(shown(name)) :No such channel\(hint)")
    }

    mutating func refuseNonMember(_ turn: Turn, _ channel: ChannelID) {
        let name = channels[channel].name
        let hint: ByteString = sessions[turn.session].isPlain ? "; type JOIN \(name) first" : ""
        reply(turn, .ERR_NOTONCHANNEL, "\(name) :You're not on that channel\(hint)")
    }

    mutating func refuseRank(_ turn: Turn, _ channel: ChannelID, _ why: ByteString = "") {
        let name = channels[channel].name
        let hint: ByteString = sessions[turn.session].isPlain ? "; NAMES \(name) shows who is, with @" : ""
        reply(turn, .ERR_CHANOPRIVSNEEDED, "\(name) :\(why.isEmpty ? "You're not channel operator\(hint)" : why)")
    }

    mutating func refuseNick(_ turn: Turn, _ nick: ByteView) {
        reply(turn, .ERR_NOSUCHNICK, "\(shown(nick)) :No such nick/channel")
    }

    mutating func refuseAbsent(_ turn: Turn, _ user: UserID, _ channel: ChannelID) {
        reply(turn, .ERR_USERNOTINCHANNEL, "\(users[user].nick) \(channels[channel].name) :They aren't on that channel")
    }

    /// Free text as long as `limit` and the line allow. `head` is everything before it in the relayed line.
    func cut(_ text: ByteView, limit: Int, head: ByteString, from user: UserID) -> ByteString {
        // `:source head text CR LF`
        let room = LineLimits.message - users[user].source.count - head.count - 4
        return ByteString(text.prefix(UTF8Check.scalarBoundary(text, atMost: min(limit, room))))
    }
}
