import Bytes
import Wire

let nickCommand = Command(
    "NICK", access: .opening, source: "Modern IRC, NICK",
    help: [
        "NICK <name>", "Gives you a name, or another one. Letters of any script, digits and - _ [ ] { } | are fine.",
        "Example: NICK ana",
    ]
) { world, turn in
    guard let wanted = turn.parameter(0), !wanted.isEmpty else {
        return world.reply(turn, .ERR_NONICKNAMEGIVEN, ":No nickname given\(world.hint(turn, ". Try NICK ana"))")
    }
    guard let nick = world.acceptableNick(wanted, turn) else { return }
    if let user = turn.user {
        world.changeNick(user, to: nick)
    } else {
        world.openings[turn.session.index]?.nick = nick
        if world.sessions[turn.session].manner == .client {
            world.completeClient(turn.session)
        } else {
            // A client's USER follows within milliseconds; who sends nothing more is a person.
            world.deadlines.add(world.now.steady + world.settings.limits.plainDelay, .completePlain, turn.session)
        }
    }
}

extension World {
    /// The nick if it may be had; otherwise the refusal was told.
    func isReservedNick(_ nick: ByteView) -> Bool {
        let prefix = settings.guestPrefix.count
        guard prefix > 0, nick.count >= prefix else { return false }
        return settings.guestPrefix.withView { nick.prefix(prefix).equalsIgnoringCase($0) }
    }

    fileprivate mutating func acceptableNick(_ wanted: ByteView, _ turn: Turn) -> ByteString? {
        let isPerson = sessions[turn.session].manner != .client
        if let user = turn.user, users[user].nick.equals(wanted) { return nil }
        let isASCII = wanted.raw.allSatisfy { $0 < 0x80 }
        guard Names.isValidNick(wanted, limit: settings.limits.nickLength), isASCII || settings.allowsUnicodeNicks
        else {
            var why: ByteString = "Erroneous nickname"
            if !isASCII, !settings.allowsUnicodeNicks { why = "\(why): only ASCII letters, digits and []{}\\|^_`-" }
            if wanted.count > settings.limits.nickLength {
                why = "\(why): at most \(settings.limits.nickLength) bytes"
            }
            reply(turn, .ERR_ERRONEUSNICKNAME, "\(shown(wanted)) :\(why)\(isPerson ? ". Try NICK ana" : "")")
            return nil
        }
        if isTaken(wanted, besides: turn.user ?? returningUser(turn), account: returningAccount(turn)),
            !mayLogIn(turn)
        {
            openings[turn.session.index]?.refusedNick = ByteString(wanted)
            let hint: ByteString = isPerson ? ". Type NICK anothername" : ""
            reply(turn, .ERR_NICKNAMEINUSE, "\(wanted) :Nickname is already in use\(hint)")
            return nil
        }
        if isReservedNick(wanted), nicks[NameKey(wanted)] == nil, !isFormer(turn, wanted) {
            reply(
                turn, .ERR_ERRONEUSNICKNAME,
                "\(wanted) :Erroneous nickname: names that begin with \(settings.guestPrefix) are given by the server")
            return nil
        }
        if let ban = reservation(of: wanted), !(turn.user.map { users[$0].isOperator } ?? false) {
            reply(turn, .ERR_ERRONEUSNICKNAME, "\(wanted) :Erroneous nickname: reserved (\(ban.reason))")
            return nil
        }
        return ByteString(wanted)
    }

    /// A parameter shown back must stay one parameter.
    func firstWord(_ text: ByteString) -> ByteString {
        text.withView { view in
            let word = view.firstIndex(of: 0x20).map { view[0..<$0] } ?? view
            return word.isEmpty || word[0] == 0x3A ? "*" : ByteString(word)
        }
    }

    /// A guest that comes back may have the nick that the server gave it.
    private func isFormer(_ turn: Turn, _ wanted: ByteView) -> Bool {
        guard let state = openings[turn.session.index]?.returning?.state else { return false }
        return state.nick.withView { wanted.equalsIgnoringCase($0) }
    }

    /// Whose nick it is may show before registration ends: until then it is not refused.
    private func mayLogIn(_ turn: Turn) -> Bool { openings[turn.session.index]?.isNegotiating ?? false }

    private func returningAccount(_ turn: Turn) -> ByteString? {
        openings[turn.session.index]?.returning?.account
    }

    private func returningUser(_ turn: Turn) -> UserID? {
        openings[turn.session.index]?.returning.flatMap { identities[$0.uid] }
    }

    /// Everyone who shares a channel sees it once; each channel's log has it.
    mutating func changeNick(_ user: UserID, to nick: ByteString) {
        var line = outgoing(from: user, "NICK :\(nick)")
        rememberFormer(user)
        for channel in users[user].channels {
            line.time = max(line.time, record(.nick, by: user, in: channel, ":\(nick)").time)
        }
        var forms = Forms(interest: line.interest)
        let audience = neighbours(of: user)
        relay(line, to: audience, &forms)
        let old = users[user].nick
        releaseNick(old)
        takeNick(nick, by: user)
        users[user].rename(nick)
        announceNickChange(user, from: old)
        if users[user].isKept { save(.saveIdentity(users[user].stored(now: now.wall))) }
    }
}
