import Bytes
import Wire

let killCommand = Command(
    "KILL", minimum: 1, access: .operators, privilege: .kill, source: "Modern IRC, KILL",
    help: ["KILL <nick> [reason]", "Disconnects somebody from the server.", "Example: KILL spammer :advertising"]
) { world, turn in
    if world.settings.serverName.withView({ $0.equalsIgnoringCase(turn[0]) }) {
        return world.reply(turn, .ERR_CANTKILLSERVER, ":You can't kill a server!")
    }
    guard let victim = world.user(named: turn[0]) else {
        return world.reply(turn, .ERR_NOSUCHNICK, "\(world.shown(turn[0])) :No such nick/channel")
    }
    world.kill(turn, victim, world.freeText(turn, 1))
}

extension World {
    /// Room for the operator's nick and both sources beside the reason in KILL, QUIT and ERROR.
    private static var longestReason: Int { 256 }

    fileprivate mutating func kill(_ turn: Turn, _ victim: UserID, _ given: ByteView) {
        let limit = min(Self.longestReason, settings.limits.kickLength)
        let cut = ByteString(given.prefix(UTF8Check.scalarBoundary(given, atMost: limit)))
        let reason: ByteString = cut.isEmpty ? "no reason given" : cut
        let nick = users[victim].nick
        let said: ByteString = "Killed (\(users[turn.me].nick) (\(reason)))"
        noteOperator(turn, "killed \(nick) (\(users[victim].uid.text)): \(reason)")
        let line = outgoing(from: turn.me, "KILL \(nick) :\(reason)")
        for session in users[victim].sessions {
            send(line, to: session)
            close(session, reason: said, error: "Closing link: \(said)")
        }
        // Who kills itself has nobody left to tell.
        if turn.me != victim, sessions[turn.session].isPlain { notice(turn.session, "\(nick) is disconnected") }
    }

    /// Every act of an operator is in the log.
    mutating func noteOperator(_ turn: Turn, _ did: ByteString) {
        note(.info, "operator \(operatorName(turn)) \(did)")
    }

    func operatorName(_ turn: Turn) -> ByteString {
        "\(users[turn.me].nick) (\(users[turn.me].uid.text))"
    }
}
