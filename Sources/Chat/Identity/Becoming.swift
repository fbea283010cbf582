import Bytes
import Wire

/// Somebody who is here already turns out to be, or wants to be, somebody else.
extension World {
    /// After a login by a session that has an identity. Who is alone in it keeps nick and channels and goes on as the
    /// account's identity; where that one is here already, or others go on as the old one, the session joins it.
    mutating func become(_ session: ConnectionID, _ returning: Returning) {
        guard let user = sessions[session].user else { return }
        if users[user].uid == returning.uid { return setAccount(user, returning.account) }
        if identities[returning.uid] == nil, users[user].sessions.count == 1 {
            return changeIdentity(user, to: returning)
        }
        let nick = users[user].nick
        becomeAnother(session, returning, nick: nick.withView { isReservedNick($0) } ? "" : nick)
    }

    /// IDENTITY RESUME: the old user quits, the session joins the other's.
    mutating func resumeAs(_ session: ConnectionID, _ returning: Returning) {
        guard let user = sessions[session].user else { return }
        if users[user].uid == returning.uid {
            return notice(session, "You are \(returning.uid.text) already")
        }
        becomeAnother(session, returning)
        tellIdentity(session)
    }

    mutating func becomeAnother(_ session: ConnectionID, _ returning: Returning, nick: ByteString = "") {
        guard let old = sessions[session].user else { return }
        var opening = Opening()
        opening.username = users[old].username
        opening.realname = users[old].realname
        let before = users[old].nick
        let source = users[old].source
        let left = users[old].channels.map { channels[$0].name }
        detach(session, from: old)
        if users[old].sessions.isEmpty { quit(old, reason: "Became another identity") } else { settleAbsence(old) }
        sessions[session].talkingIn = nil
        for name in left { sendRaw(session, ":\(source) PART \(name) :Became another identity") }
        if let online = identities[returning.uid] {
            attach(session, to: online)
            settleAbsence(online, session)
            tellNick(session, from: before)
            for channel in users[online].channels { showChannel(channel, to: session) }
        } else {
            if !isTaken(nick, account: returning.account) { opening.nick = nick }
            let user = restore(session, returning, opening)
            tellNick(session, from: before)
            rejoin(user, returning.members)
            deliverMissed(session, since: returning.correspondence.missedSince)
        }
    }

    private mutating func tellNick(_ session: ConnectionID, from before: ByteString) {
        guard let user = sessions[session].user, users[user].nick != before else { return }
        sendRaw(session, ":\(before) NICK :\(users[user].nick)")
    }

    // MARK: In place

    /// The user goes on under another uid: with the nick and the channels it has, and with those that the identity
    /// left by QUIT.
    private mutating func changeIdentity(_ user: UserID, to returning: Returning) {
        replaceUID(of: user, returning.uid, epoch: returning.epoch)
        users[user].created = returning.state?.created ?? users[user].created
        users[user].metadata = returning.metadata
        users[user].readMarks = [:]
        for mark in returning.correspondence.marks { users[user].readMarks[mark.conversation] = mark.time }
        let places = Dictionary(returning.members.map { ($0.channel, $0) }) { first, _ in first }
        for channel in users[user].channels { takePlace(user, places[channels[channel].state.id], in: channel) }
        setAccount(user, returning.account)
        keep(user)
        rejoin(user, returning.members.filter { member in !isIn(user, member.channel) })
        for session in users[user].sessions {
            deliverMissed(session, since: returning.correspondence.missedSince)
        }
    }

    private func isIn(_ user: UserID, _ channel: Int64) -> Bool {
        users[user].channels.contains { channels[$0].state.id == channel }
    }

    /// In a channel that the user is in under its old uid: the ranks that the new one holds there are added.
    private mutating func takePlace(_ user: UserID, _ place: MemberState?, in channel: ChannelID) {
        guard let at = channels[channel].memberIndex(user) else { return }
        var ranks = channels[channel].members[at].ranks.union(Ranks(rawValue: place?.ranks ?? 0))
        if channels[channel].state.founder == users[user].uid { ranks.insert(.op) }
        let added = ranks.subtracting(channels[channel].members[at].ranks)
        channels[channel].members[at].ranks = ranks
        if let place, place.present {
            channels[channel].members[at].joined = min(place.joined, channels[channel].members[at].joined)
        }
        savePlace(of: user, in: channel)
        announceRanks(user, "+", added, channel)
    }

    /// The account's identity leaves, and who was it stays as a new guest: in its channels, where guests may be,
    /// without the account's ranks. Its nick is given up if it belongs to an account.
    mutating func becomeGuest(_ user: UserID) {
        let nick = users[user].nick
        replaceUID(of: user, makeUID(), epoch: 0)
        users[user].created = seconds
        users[user].isKept = false
        users[user].keptRanks = [:]
        users[user].metadata = Metadata()
        users[user].readMarks = [:]
        setAccount(user, "")
        if nick.withView({ isRegistered($0, besides: "") }) { changeNick(user, to: generatedNick()) }
        for channel in users[user].channels where channels[channel].has(0x52) || isBanned(user, from: channel) {
            leave(user, channel, "Logged out")
        }
        if users[user].channels.isEmpty { return }
        keep(user)
        for channel in users[user].channels { loseRanks(user, in: channel) }
    }

    private mutating func loseRanks(_ user: UserID, in channel: ChannelID) {
        guard let at = channels[channel].memberIndex(user) else { return }
        let ranks = channels[channel].members[at].ranks
        channels[channel].members[at].ranks = []
        channels[channel].members[at].joined = lastPosition + 1
        savePlace(of: user, in: channel)
        announceRanks(user, "-", ranks, channel)
    }

    private mutating func leave(_ user: UserID, _ channel: ChannelID, _ reason: ByteString) {
        var line = outgoing(from: user, "PART \(channels[channel].name) :\(reason)")
        (line.position, line.time) = record(.part, by: user, in: channel, ":\(reason)")
        relay(line, to: channel)
        removeMember(user, from: channel)
    }

    /// What the old uid was is kept as it is when somebody quits.
    private mutating func replaceUID(of user: UserID, _ uid: UID, epoch: Int64) {
        if users[user].isKept { save(.saveIdentity(users[user].stored(now: now.wall))) }
        identities[users[user].uid] = nil
        departed.add(users[user].uid, users[user].nick, left: now.wall)
        departed.remove(uid)
        users[user].uid = uid
        users[user].epoch = epoch
        identities[uid] = user
    }

    private mutating func savePlace(of user: UserID, in channel: ChannelID) {
        guard let at = channels[channel].memberIndex(user) else { return }
        let member = channels[channel].members[at]
        save(
            .saveMember(
                MemberState(
                    channel: channels[channel].state.id, uid: users[user].uid, ranks: member.ranks.rawValue,
                    present: true, joined: member.joined)))
    }

    // MARK: The account

    /// Who shares a channel hears it, the user's own sessions too (IRCv3 account-notify).
    mutating func setAccount(_ user: UserID, _ account: ByteString) {
        if users[user].account == account { return }
        users[user].account = account
        account.withView { accounts.names.give($0, to: users[user].uid) }
        if !account.isEmpty, !users[user].isKept { keep(user) }
        let line = outgoing(from: user, "ACCOUNT \(account.isEmpty ? "*" : account)")
        var forms = Forms(interest: line.interest)
        let audience = neighboursAndWatchers(of: user)
        relay(line, to: audience, &forms, needing: .accountNotify)
    }
}
