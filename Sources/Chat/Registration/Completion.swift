import Bytes
import Wire

/// From a connection to somebody on the network.
extension World {
    mutating func connected(_ id: ConnectionID, _ peer: Peer) {
        sessions.insert(Session(id: id, peer: peer, now: now.steady, burst: settings.flood.burst), at: id)
        statistics.connections += 1
        while capabilities.count <= Int(id.index) { capabilities.append([]) }
        capabilities[Int(id.index)] = []
        if refuseBannedAddress(id) { return }
        openings[id.index] = Opening()
        deadlines.add(now.steady + settings.limits.greetDelay, .greet, id)
        deadlines.add(now.steady + settings.limits.registrationTimeout, .registration, id)
    }

    /// One NOTICE for whoever has not said anything yet: a client speaks at once, a person waits to be told.
    mutating func greet(_ id: ConnectionID) {
        guard sessions[id].manner == .undecided, sessions[id].stage == .opening, !sessions[id].isGreeted else { return }
        sessions[id].isGreeted = true
        tell(
            id,
            "NOTICE * :This is \(settings.network) (\(settings.serverName)). Type NICK yourname, then JOIN \(settings.welcomeChannel), then talk. HELP tells more."
        )
    }

    /// Ends a person's registration: with the nick that was asked for, or as a guest with a made one.
    /// False when it cannot be now (the nick is taken, the server wants a password); the person was told.
    mutating func completePlain(_ id: ConnectionID) -> Bool {
        guard var opening = openings[id.index] else { return false }
        if opening.nick.isEmpty { opening.nick = returningNick(opening) ?? generatedNick() }
        if refuseTakenNick(id, opening, ". Type NICK anothername") { return false }
        sessions[id].manner = .plain
        sessions[id].isGreeted = true
        return register(id, opening)
    }

    /// Ends a client's registration once NICK and USER came, CAP negotiation is over and no answer is awaited.
    mutating func completeClient(_ id: ConnectionID) {
        guard sessions[id].stage == .opening, sessions[id].manner == .client, let opening = openings[id.index],
            !opening.nick.isEmpty, opening.isUserGiven, !opening.isNegotiating, !sessions[id].isWaiting
        else { return }
        if refuseTakenNick(id, opening, "") { return }
        _ = register(id, opening)
    }

    /// A nick may belong to an account that logged in after NICK, so that this is asked last.
    private mutating func refuseTakenNick(_ id: ConnectionID, _ opening: Opening, _ hint: StaticString) -> Bool {
        let own = opening.returning.flatMap { identities[$0.uid] }
        guard isTaken(opening.nick, besides: own, account: opening.returning?.account) else { return false }
        openings[id.index]?.refusedNick = opening.nick
        // It is not addressed by what is not its own.
        openings[id.index]?.nick = ""
        reply(to: id, .ERR_NICKNAMEINUSE, "\(opening.nick) :Nickname is already in use\(hint)")
        return true
    }

    private mutating func register(_ id: ConnectionID, _ opening: Opening) -> Bool {
        let isConsole = sessions[id].peer.isConsole
        if !settings.password.isEmpty, !opening.hasPassword, !isConsole {
            reply(to: id, .ERR_PASSWDMISMATCH, ":Password incorrect")
            close(id, reason: "Bad password", error: "This server wants PASS <password> first")
            return false
        }
        if !isConsole, refuseByOperators(id, opening) { return false }
        if let why = opening.returning.flatMap({ crowded($0.uid, id) }) {
            close(id, reason: "Too many sessions", error: why)
            return false
        }
        abortSasl(id)
        openings[id.index] = nil
        sessions[id].stage = .registered
        if let returning = opening.returning {
            comeBack(id, returning, opening)
        } else {
            let user = makeUser(id, uid: makeUID(), opening)
            keepEarlyMetadata(user, opening, id)
            welcome(id, user)
            tellToken(id, user)
            if isConsole { makeConsoleOperator(user) }
        }
        deadlines.add(now.steady + settings.limits.pingInterval, .ping, id)
        return true
    }

    /// A new user of the network with its first session.
    mutating func makeUser(
        _ id: ConnectionID, uid: UID, _ opening: Opening, _ metadata: Metadata = Metadata()
    ) -> UserID {
        let peer = sessions[id].peer
        let name = opening.username.isEmpty ? opening.nick.withView { Names.sanitizeUser($0) } : opening.username
        let user = users.insert(
            User(
                uid: uid, nick: opening.nick, username: name, host: peer.host,
                realname: opening.realname.isEmpty ? opening.nick : opening.realname, now: now.wall))
        users[user].metadata = metadata
        takeNick(opening.nick, by: user)
        identities[uid] = user
        departed.remove(uid)
        attach(id, to: user)
        setModes(user, settings.userModes.union(peer.isTLS ? .secure : []))
        statistics.mostUsers = max(statistics.mostUsers, users.count)
        announceOnline(user)
        startAway(user, id, opening)
        return user
    }

    mutating func makeUID() -> UID {
        while true {
            let number = Int64(random.next() >> 4)
            let uid = UID(number: number)
            if number != 0, identities[uid] == nil { return uid }
        }
    }

    /// `guest-` and five letters that nobody has.
    mutating func generatedNick() -> ByteString {
        while true {
            let letters = (0..<5).map { _ in UInt8.random(in: 0x61...0x7A, using: &random) }
            let nick: ByteString = "\(settings.guestPrefix)\(ByteString(letters))"
            if !isTaken(nick) { return nick }
        }
    }

    private func returningNick(_ opening: Opening) -> ByteString? {
        guard let returning = opening.returning else { return nil }
        if let online = identities[returning.uid] { return users[online].nick }
        return formerNick(of: returning)
    }

    /// What a new session is told: a client everything (Modern IRC, connection registration), a person what it needs.
    mutating func welcome(_ id: ConnectionID, _ user: UserID) {
        reply(to: id, .RPL_WELCOME, ":Welcome to \(settings.network), \(users[user].nick)")
        if !sessions[id].isPlain { welcomeClient(id, user) }
        sendOwnMetadata(id, user)
        sendMotd(id)
        if !sessions[id].isPlain { tellModes(id, user) }
    }

    /// The rest of the burst, also for a plain session that turns out to be a client (a USER that comes late).
    mutating func welcomeClient(_ id: ConnectionID, _ user: UserID) {
        reply(to: id, .RPL_YOURHOST, ":Your host is \(settings.serverName), running version \(settings.version)")
        reply(to: id, .RPL_CREATED, ":This server was started \(Times.serverTime(settings.started))")
        reply(
            to: id, .RPL_MYINFO,
            "\(settings.serverName) \(settings.version) \(userModeLetters) \(channelModeLetters) \(channelModeLettersWithParameter)"
        )
        sendISupport(id)
        sendLusers(id)
    }

    mutating func tellModes(_ id: ConnectionID, _ user: UserID) {
        if users[user].modes.isEmpty { return }
        sendRaw(id, ":\(users[user].nick) MODE \(users[user].nick) :\(users[user].modes.text)")
    }

    /// The guest's way back, told once.
    private mutating func tellToken(_ id: ConnectionID, _ user: UserID) {
        guard settings.showGuestToken, users[user].account.isEmpty else { return }
        notice(
            id,
            "You are guest \(users[user].uid.text). To come back as yourself from anywhere, connect with PASS guest:\(token(of: user)) or type IDENTITY RESUME and the part after guest:"
        )
    }
}
