import Bytes
import Wire

let joinCommand = Command(
    "JOIN", minimum: 1, source: "Modern IRC, JOIN",
    help: [
        "JOIN <#channel>[,<#channel>…] [key[,key…]]",
        "Enters channels; one that does not exist is made and yours. JOIN 0 leaves all.",
        "Example: JOIN #lobby",
    ]
) { world, turn in
    if turn[0] == "0" { return world.partAll(turn) }
    let keys = turn.parameter(1).map(places) ?? []
    var seen = Set<NameKey>()
    for (i, name) in places(turn[0]).enumerated() where !name.isEmpty && seen.insert(NameKey(name)).inserted {
        world.join(turn, name, key: i < keys.count ? keys[i] : .empty)
    }
    if seen.isEmpty { world.needMoreParameters(turn) }
}

/// The parts of a list by their place, empty ones too: a key belongs to the channel at the same place.
private func places(_ list: ByteView) -> [ByteView] {
    var places: [ByteView] = []
    list.split(0x2C) { places.append($0) }
    return places
}

extension World {
    fileprivate mutating func join(_ turn: Turn, _ name: ByteView, key: ByteView) {
        let user = turn.me
        guard Names.isValidChannel(name, limit: settings.limits.channelLength) else {
            return refuseChannelName(turn, name)
        }
        if let channel = channel(named: name), isMember(user, of: channel) { return talk(turn, in: channel) }
        if lockdown == .accounts, refuseGuest(turn, name) { return }
        if let channel = channel(named: name) {
            guard hasRoom(turn, name), mayEnter(turn, channel, key) else { return }
            return enter(user, channel)
        }
        guard hasRoom(turn, name), !refuseWhileStoreFails(turn, ByteString(name)) else { return }
        enter(user, makeChannel(name, founder: user))
    }

    /// A person who joins a channel again wants to talk there.
    private mutating func talk(_ turn: Turn, in channel: ChannelID) { sessions[turn.session].talkingIn = channel }

    private mutating func hasRoom(_ turn: Turn, _ name: ByteView) -> Bool {
        if users[turn.me].channels.count < settings.limits.channelsPerUser { return true }
        reply(turn, .ERR_TOOMANYCHANNELS, "\(shown(name)) :You have joined too many channels")
        return false
    }

    private mutating func mayEnter(_ turn: Turn, _ channel: ChannelID, _ key: ByteView) -> Bool {
        let user = turn.me
        let state = channels[channel].state
        if state.founder == users[user].uid || channels[channel].invited.contains(users[user].uid) { return true }
        if isBanned(user, from: channel) {
            reply(turn, .ERR_BANNEDFROMCHAN, "\(state.name) :Cannot join channel (+b)")
            return false
        }
        if channels[channel].has(0x69), !isListed(user, 0x49, channel) {
            reply(turn, .ERR_INVITEONLYCHAN, "\(state.name) :Cannot join channel (+i)")
            return false
        }
        if !state.key.isEmpty, !state.key.withView({ constantTimeEquals($0, key) }) {
            reply(turn, .ERR_BADCHANNELKEY, "\(state.name) :Cannot join channel (+k)")
            return false
        }
        if state.limit > 0, channels[channel].members.count >= Int(state.limit) {
            reply(turn, .ERR_CHANNELISFULL, "\(state.name) :Cannot join channel (+l)")
            return false
        }
        if channels[channel].has(0x52), users[user].account.isEmpty {
            reply(turn, .ERR_NEEDREGGEDNICK, "\(state.name) :Cannot join channel (+R): it is for accounts only")
            return false
        }
        return true
    }
}
