import Bytes
import Wire

/// Sessions come to a user and go from it; a guest comes back as who it was.
extension World {
    mutating func attach(_ session: ConnectionID, to user: UserID) {
        sessions[session].user = user
        users[user].sessions.append(session)
        for channel in users[user].channels { channels[channel].audience.append(session) }
    }

    mutating func detach(_ session: ConnectionID, from user: UserID) {
        users[user].sessions.removeAll { $0 == session }
        for channel in users[user].channels {
            if let at = channels[channel].audience.firstIndex(of: session) {
                channels[channel].audience.swapAt(at, channels[channel].audience.count - 1)
                channels[channel].audience.removeLast()
            }
        }
        sessions[session].user = nil
    }

    /// The last session is gone: everyone who shares a channel sees one QUIT, each channel's log has it, and the places
    /// stay kept for the return.
    mutating func quit(_ user: UserID, reason: ByteString) {
        var line = outgoing(from: user, "QUIT :\(reason)")
        rememberFormer(user)
        for channel in users[user].channels {
            line.time = max(line.time, record(.quit, by: user, in: channel, ":\(reason)").time)
        }
        let audience = neighbours(of: user)
        var forms = Forms(interest: line.interest)
        relay(line, to: audience, &forms)
        for channel in users[user].channels { removeMember(user, from: channel) }
        // Who leaves is counted no more.
        setModes(user, [])
        announceOffline(nick: users[user].nick)
        if users[user].isKept { save(.saveIdentity(users[user].stored(now: now.wall))) }
        if nicks[NameKey(users[user].nick)] == user { releaseNick(users[user].nick) }
        identities[users[user].uid] = nil
        metadataPaces[user] = nil
        departed.add(users[user].uid, users[user].nick, left: now.wall)
        users.remove(user)
    }

    mutating func rememberFormer(_ user: UserID) {
        let user = users[user]
        former.append(
            Former(
                nick: user.nick, username: user.username, host: user.host, realname: user.realname, left: now.wall))
        if former.count > settings.limits.whowas * 2 { former.removeFirst(former.count - settings.limits.whowas) }
    }

    /// Ends the registration of a session whose token was right: as a further session of a user that is here, or as
    /// the user that comes back.
    mutating func comeBack(_ session: ConnectionID, _ returning: Returning, _ opening: Opening) {
        if let online = identities[returning.uid] {
            if !opening.nick.isEmpty, users[online].nick != opening.nick,
                !isTaken(opening.nick, besides: online),
                !opening.nick.withView({ isReservedNick($0) })
            {
                changeNick(online, to: opening.nick)
            }
            attach(session, to: online)
            startAway(online, session, opening)
            keepEarlyMetadata(online, opening, session)
            welcome(session, online)
            for channel in users[online].channels { showChannel(channel, to: session) }
            return
        }
        let user = restore(session, returning, opening)
        keepEarlyMetadata(user, opening, session)
        welcome(session, user)
        rejoin(user, returning.members)
        deliverMissed(session, since: returning.correspondence.missedSince)
    }

    mutating func restore(_ session: ConnectionID, _ returning: Returning, _ opening: Opening) -> UserID {
        var opening = opening
        // An account's client says at each connect what its owner is called; a guest may have come by other means.
        let saysName = opening.isUserGiven && !returning.account.isEmpty
        if !saysName, let name = returning.state?.name, !name.isEmpty { opening.realname = name }
        let account = returning.account
        let lacksNick = opening.nick.isEmpty || isTaken(opening.nick, account: account)
        if lacksNick {
            opening.nick = formerNick(of: returning) ?? generatedNick()
        }
        let user = makeUser(session, uid: returning.uid, opening, returning.metadata)
        users[user].epoch = returning.epoch
        for mark in returning.correspondence.marks { users[user].readMarks[mark.conversation] = mark.time }
        users[user].account = account
        if let state = returning.state {
            users[user].created = state.created
            users[user].isKept = true
        } else if !account.isEmpty {
            keep(user)
        }
        return user
    }

    /// What it was called last, if it may be called so: by its row, or, of who has none, as long as it is remembered.
    func formerNick(of returning: Returning) -> ByteString? {
        let remembered = departed.nick(of: returning.uid, since: now.wall - settings.nickMemory)
        guard let nick = remembered ?? returning.state?.nick, !nick.isEmpty,
            !isTaken(nick, account: returning.account), nick.withView({ reservation(of: $0) }) == nil
        else { return nil }
        return nick
    }

    /// Back into the channels that were left by QUIT, with the ranks held there; bans and removed channels aside.
    mutating func rejoin(_ user: UserID, _ members: [MemberState]) {
        if members.isEmpty { return }
        for member in members { users[user].keptRanks[member.channel] = Ranks(rawValue: member.ranks) }
        let places = Dictionary(members.filter(\.present).map { ($0.channel, $0.joined) }) { first, _ in first }
        for channel in channels.ids {
            guard let joined = places[channels[channel].state.id], !isBanned(user, from: channel) else { continue }
            enter(user, channel, since: joined)
        }
    }

    /// IDENTITY RESUME before registration: a person is complete at once; a client goes on.
    mutating func completeResumed(_ session: ConnectionID) {
        if sessions[session].manner == .client { completeClient(session) } else { _ = completePlain(session) }
    }
}
