import Bytes
import Wire

/// SHUN: who is muted may stay and read. Nothing is swallowed in silence: each refused command is told.
extension World {
    /// The commands that others hear something of, and the number of parameters from which on they do.
    private static let speech: [NameKey: Int] = Dictionary(
        uniqueKeysWithValues: [
            ("PRIVMSG", 0), ("NOTICE", 0), ("TAGMSG", 0), ("BATCH", 0), ("TOPIC", 2), ("INVITE", 1), ("KNOCK", 1),
            ("AWAY", 1), ("SETNAME", 1), ("KICK", 3), ("DROP", 2), ("RENAME", 2), ("REDACT", 3), ("EDIT", 0),
            ("RELAYMSG", 0),
        ].map { (NameKey(ByteView($0)), $1) })

    func isMutedByServer(_ session: ConnectionID) -> Bool { mute(of: session) != nil }

    private func mute(of session: ConnectionID) -> ServerBan? {
        guard serverBans.hasMutes, let visitor = visitor(session) else { return nil }
        return serverBans.first(.shun, for: visitor, now: seconds)
    }

    mutating func refuseMuted(_ turn: Turn) -> Bool {
        guard let least = Self.speech[NameKey(ByteView(turn.command))], turn.parameterCount >= least,
            let ban = mute(of: turn.session)
        else { return false }
        fail(turn, "MUTED", "You are muted on this server \(until(ban)) (\(ban.reason)); nobody got this")
        return true
    }
}
