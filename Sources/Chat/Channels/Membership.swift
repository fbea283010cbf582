import Bytes
import Wire

/// Who is in a channel: coming in, being shown it, going.
extension World {
    /// Puts a user into a channel that it may enter, tells everyone, and shows it to the user's sessions.
    /// `since`: the first position it may read, where it has been before.
    mutating func enter(_ user: UserID, _ channel: ChannelID, since: Int64? = nil) {
        let (id, uid) = (channels[channel].state.id, users[user].uid)
        var ranks = users[user].keptRanks.removeValue(forKey: id) ?? []
        // The founder's rank belongs to the uid and comes back with it.
        if channels[channel].state.founder == uid { ranks.insert(.op) }
        let hadHistory = channels[channel].lastTime != 0
        let before = lastPosition
        let joined = since ?? before + 1
        channels[channel].members.append(Member(user: user, ranks: ranks, joined: joined))
        channels[channel].audience.append(contentsOf: users[user].sessions)
        channels[channel].invited.removeAll { $0 == uid }
        users[user].channels.append(channel)
        noteListed(channel)
        let entered = record(.join, by: user, in: channel, "")
        announceJoin(user, channel, entered)
        announceMetadata(of: user, enteringTo: channel)
        if !users[user].isKept { keep(user) }
        save(
            .saveMember(
                MemberState(
                    channel: id, uid: uid, ranks: ranks.rawValue, present: true, joined: joined)))
        for session in users[user].sessions {
            sessions[session].talkingIn = channel
            tellTopic(channel, to: session)
            tellReadMark(of: channel, to: session)
            sendImplicitNames(of: channel, to: session)
            syncEntered(channel, to: session)
            if hadHistory { replay(channel, to: session, upTo: before) }
        }
    }

    private mutating func announceJoin(_ user: UserID, _ channel: ChannelID, _ entered: (position: Int64, time: Int64))
    {
        let name = channels[channel].name
        var line = outgoing(from: user, "JOIN \(name)")
        line.position = entered.position
        line.time = entered.time
        let account: ByteString = users[user].account.isEmpty ? "*" : users[user].account
        line.extendedBody = "JOIN \(name) \(account) :\(users[user].realname)"
        relay(line, to: channel)
        if !users[user].away.isEmpty {
            let away = outgoing(from: user, "AWAY :\(users[user].away)")
            relayToOthers(away, user, channel, needing: .awayNotify)
        }
        let ranks = channels[channel].ranks(of: user) ?? []
        if channels[channel].members.count > 1 { announceRanks(user, "+", ranks, channel, toOwn: false) }
    }

    /// Ranks that came back with their owner, or are lost with the account: the others see it done by the server.
    mutating func announceRanks(
        _ user: UserID, _ sign: StaticString, _ ranks: Ranks, _ channel: ChannelID, toOwn: Bool = true
    ) {
        if ranks.isEmpty { return }
        let letters = Ranks.ladder.filter { ranks.contains($0.rank) }.map(\.letter)
        var parameters: ByteString = ""
        for _ in letters { parameters = "\(parameters) \(users[user].nick)" }
        let line = Outgoing(
            source: settings.serverName, time: now.wall,
            body: "MODE \(channels[channel].name) \(sign)\(ByteString(letters))\(parameters)")
        if toOwn { relay(line, to: channel) } else { relayToOthers(line, user, channel) }
    }

    /// To a channel's sessions but those of `user`.
    mutating func relayToOthers(_ line: Outgoing, _ user: UserID, _ channel: ChannelID, needing: Capabilities = []) {
        let own = users[user].sessions
        var forms = Forms(interest: line.interest)
        let audience = ContiguousArray(channels[channel].audience.lazy.filter { !own.contains($0) })
        relay(line, to: audience, &forms, needing: needing)
    }

    /// What a further session of a user is shown of a channel that the user is in.
    mutating func showChannel(_ channel: ChannelID, to session: ConnectionID) {
        showEntrance(of: channel, to: session)
        sessions[session].talkingIn = channel
        if channels[channel].lastTime != 0 { replay(channel, to: session, upTo: lastPosition) }
    }

    /// As if the session's user came in now: JOIN, topic and names.
    mutating func showEntrance(of channel: ChannelID, to session: ConnectionID) {
        guard let user = sessions[session].user else { return }
        let name = channels[channel].name
        let account: ByteString = users[user].account.isEmpty ? "*" : users[user].account
        var line = outgoing(from: user, "JOIN \(name)")
        line.extendedBody = "JOIN \(name) \(account) :\(users[user].realname)"
        send(line, to: session)
        tellTopic(channel, to: session)
        tellReadMark(of: channel, to: session)
        sendImplicitNames(of: channel, to: session)
        syncEntered(channel, to: session)
    }

    /// Takes a user out of the channel's tables; telling is the caller's. The place stays kept unless the caller says
    /// otherwise by `forget`.
    mutating func removeMember(_ user: UserID, from channel: ChannelID) {
        if let at = channels[channel].memberIndex(user) {
            channels[channel].members.swapAt(at, channels[channel].members.count - 1)
            channels[channel].members.removeLast()
        }
        channels[channel].paces[user] = nil
        for session in users[user].sessions {
            if let at = channels[channel].audience.firstIndex(of: session) {
                channels[channel].audience.swapAt(at, channels[channel].audience.count - 1)
                channels[channel].audience.removeLast()
            }
            if sessions[session].talkingIn == channel { sessions[session].talkingIn = nil }
        }
        users[user].channels.removeAll { $0 == channel }
        noteListed(channel)
        for session in users[user].sessions where sessions[session].talkingIn == nil {
            sessions[session].talkingIn = users[user].channels.last
        }
        if channels[channel].members.isEmpty {
            channels[channel].state.used = now.wall / 1000
            save(.saveChannel(channels[channel].state))
        }
    }

    /// After PART or KICK the return does not join. `ranks` are what it comes back with: who is kicked loses them.
    mutating func forgetPlace(_ user: UserID, in channel: ChannelID, ranks: Ranks) {
        let id = channels[channel].state.id
        if ranks.isEmpty {
            save(.removeMember(channel: id, uid: users[user].uid))
        } else {
            users[user].keptRanks[id] = ranks
            save(
                .saveMember(
                    MemberState(channel: id, uid: users[user].uid, ranks: ranks.rawValue, present: false, joined: 0)))
        }
    }

    /// A new channel with its founder not yet in it.
    mutating func makeChannel(_ name: ByteView, founder: UserID) -> ChannelID {
        lastChannelNumber += 1
        var state = ChannelState(
            id: lastChannelNumber, name: ByteString(name), created: now.wall / 1000, founder: users[founder].uid)
        state.modes = "nt"
        let channel = channels.insert(Channel(StoredState.Channel(state: state)))
        channelNames[NameKey(name)] = channel
        save(.saveChannel(state))
        return channel
    }
}
