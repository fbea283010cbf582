import Bytes
import Wire

let registrationCommands: [Command] = [
    nickCommand, userCommand, passCommand, capCommand, authenticateCommand, pingCommand, pongCommand, quitCommand,
    webircCommand,
]

private let userCommand = Command(
    "USER", minimum: 4, access: .opening, source: "Modern IRC, USER",
    help: [
        "USER <username> 0 * :<real name>", "What an IRC client sends of itself. By hand NICK is enough.",
        "Example: USER ana 0 * :Ana",
    ]
) { world, turn in
    if world.sessions[turn.session].manner == .client, turn.user != nil || world.isUserGiven(turn.session) {
        return world.reply(turn, .ERR_ALREADYREGISTERED, ":You may not reregister")
    }
    // Modern IRC, USER: an empty one is as good as a missing one.
    if turn[0].isEmpty || turn[3].isEmpty { return world.needMoreParameters(turn) }
    let name = Names.sanitizeUser(turn[0])
    let realname = ByteString(
        turn[3].prefix(UTF8Check.scalarBoundary(turn[3], atMost: world.settings.limits.realnameLength)))
    if let user = turn.user {
        // A plain session that is an IRC client after all: the rest of the burst follows.
        world.sessions[turn.session].manner = .client
        world.users[user].realname = realname
        world.welcomeClient(turn.session, user)
        world.tellModes(turn.session, user)
        return
    }
    world.sessions[turn.session].manner = .client
    world.openings[turn.session.index]?.isUserGiven = true
    world.openings[turn.session.index]?.username = name
    world.openings[turn.session.index]?.realname = realname
    world.completeClient(turn.session)
}

private let passCommand = Command(
    "PASS", minimum: 1, access: .opening, source: "Modern IRC, PASS",
    help: [
        "PASS guest:<token> | PASS <account>:<password>",
        "Before anything else: brings your guest identity back, or logs in. Also the server's password, if it has one.",
        "Example: PASS guest:u0123456789ab.0.abc",
    ]
) { world, turn in
    if turn.user != nil { return world.reply(turn, .ERR_ALREADYREGISTERED, ":You may not reregister") }
    if turn[0].hasPrefix("guest:") {
        return world.resume(Errand(turn.session, .pass, .logIn), token: turn[0].dropFirst(6))
    }
    let isRight = world.settings.password.withView { constantTimeEquals($0, turn[0]) }
    if !world.settings.password.isEmpty, isRight {
        world.openings[turn.session.index]?.hasPassword = true
    } else if let colon = turn[0].firstIndex(of: 0x3A), colon > 0 {
        world.logIn(
            Errand(turn.session, .pass, .logIn), turn[0].prefix(colon),
            password: ByteString(turn[0].dropFirst(colon + 1)))
    }
}

private let pingCommand = Command(
    "PING", access: .opening, cost: 200, source: "Modern IRC, PING",
    help: ["PING <text>", "The server answers PONG with the text.", "Example: PING hello"]
) { world, turn in
    guard let text = turn.parameter(0), !text.isEmpty else {
        return world.reply(turn, .ERR_NOORIGIN, ":No origin specified")
    }
    if let nick = world.openings[turn.session.index]?.nick, !nick.isEmpty {
        world.openings[turn.session.index]?.isSynchronizing = true
    }
    let room = LineLimits.message - 2 - 2 * world.settings.serverName.count - 9
    let kept = text.prefix(UTF8Check.scalarBoundary(text, atMost: room))
    world.tell(turn.session, "PONG \(world.settings.serverName) :\(kept)")
}

private let pongCommand = Command(
    "PONG", access: .opening, cost: 0, source: "Modern IRC, PONG",
    help: [
        "PONG <text>", "The answer to a PING of the server; clients send it by themselves.",
        "Example: PONG parley.local",
    ]
) { world, turn in world.ponged(turn.session) }

private let quitCommand = Command(
    "QUIT", access: .anytime, cost: 0, source: "Modern IRC, QUIT",
    help: [
        "QUIT [reason]", "Leaves. Your guest identity stays yours: IDENTITY TOKEN tells how to come back.",
        "Example: QUIT :good night",
    ]
) { world, turn in
    let limit = world.settings.limits.kickLength
    let given = world.isMutedByServer(turn.session) ? .empty : world.freeText(turn, 0)
    let reason = ByteString(given.prefix(UTF8Check.scalarBoundary(given, atMost: limit)))
    let said: ByteString = reason.isEmpty ? "Quit" : "Quit: \(reason)"
    if world.leavesLater(turn.session, said) { return }
    // A label stands on one line.
    if let user = turn.user, !world.sessions[turn.session].isPlain, world.labelInWork(turn.session).isEmpty {
        world.sendRaw(turn.session, ":\(world.users[user].source) QUIT :\(said)")
    }
    world.close(turn.session, reason: said, error: said)
}

extension World {
    fileprivate func isUserGiven(_ session: ConnectionID) -> Bool { openings[session.index]?.isUserGiven ?? false }
}
