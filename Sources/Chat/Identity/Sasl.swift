import Bytes
import Wire

/// SASL for guests (IRCv3 SASL 3.2): PLAIN with the uid as name and the token as password, ANONYMOUS for a new guest.
let authenticateCommand = Command(
    "AUTHENTICATE", minimum: 1, access: .opening, source: "IRCv3 SASL",
    help: [
        "AUTHENTICATE <mechanism>", "Used by IRC clients. By hand PASS guest:<token> does the same.",
        "Example: AUTHENTICATE PLAIN",
    ]
) { world, turn in
    let session = turn.session
    if world.sessions[session].stage == .opening { world.sessions[session].manner = .client }
    guard turn.user == nil, var opening = world.openings[session.index] else {
        return world.reply(turn, .ERR_SASLALREADY, ":You have already authenticated using SASL")
    }
    let word = turn[0]
    if opening.returning != nil {
        return world.reply(turn, .ERR_SASLALREADY, ":You have already authenticated using SASL")
    }
    if word == "*" {
        world.endSasl(session)
        return world.reply(turn, .ERR_SASLABORTED, ":SASL authentication aborted")
    }
    if opening.mechanism.isEmpty {
        guard word.equalsIgnoringCase("PLAIN") || word.equalsIgnoringCase("ANONYMOUS") else {
            world.reply(turn, .RPL_SASLMECHS, "PLAIN,ANONYMOUS :are available SASL mechanisms")
            return world.reply(turn, .ERR_SASLFAIL, ":SASL authentication failed")
        }
        world.openings[session.index]?.mechanism = word.equalsIgnoringCase("PLAIN") ? "PLAIN" : "ANONYMOUS"
        return world.sendRaw(session, "AUTHENTICATE +")
    }
    // A response comes in parts of 400; a shorter one, or `+`, ends it.
    if word.count > 400 || opening.saslData.count > 1200 {
        world.endSasl(session)
        return world.reply(turn, .ERR_SASLTOOLONG, ":SASL message too long")
    }
    if word != "+" { opening.saslData = "\(opening.saslData)\(word)" }
    world.openings[session.index] = opening
    if word.count == 400 { return }
    world.endSasl(session)
    world.finishSasl(turn, opening)
}

extension World {
    fileprivate mutating func endSasl(_ session: ConnectionID) {
        openings[session.index]?.mechanism = ""
        openings[session.index]?.saslData = ""
    }

    fileprivate mutating func finishSasl(_ turn: Turn, _ opening: Opening) {
        let data = opening.saslData.withView { Base64.decode($0) }
        guard let data else { return reply(turn, .ERR_SASLFAIL, ":SASL authentication failed: not base64") }
        if opening.mechanism == "ANONYMOUS" {
            return saslSucceeded(turn.session)
        }
        // authzid NUL authcid NUL password (RFC 4616)
        let parts = data.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).map {
            ByteString(Array($0))
        }
        guard parts.count == 3, !parts[1].isEmpty, parts[0].isEmpty || parts[0] == parts[1] else {
            return reply(turn, .ERR_SASLFAIL, ":SASL authentication failed")
        }
        let isOwn = parts[2].withView { token in parts[1].withView { token.hasPrefix($0) } }
        guard isOwn, parts[1].count == 13 else {
            countFailure(sessions[turn.session].peer.address)
            return reply(turn, .ERR_SASLFAIL, ":SASL authentication failed")
        }
        parts[2].withView { resume(turn.session, token: $0, way: .sasl) }
    }

    /// A guest has no account to name in 900: it gets 903 alone.
    mutating func saslSucceeded(_ session: ConnectionID) {
        reply(to: session, .RPL_SASLSUCCESS, ":SASL authentication successful")
    }
}
