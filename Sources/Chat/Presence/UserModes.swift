import Bytes
import Wire

/// `MODE <nick> [modes]` (Modern IRC, "User mode").
extension World {
    mutating func changeUserModes(_ turn: Turn) {
        let user = turn.me
        guard let target = self.user(named: turn[0]) else {
            return reply(turn, .ERR_NOSUCHNICK, "\(shown(turn[0])) :No such nick/channel")
        }
        guard target == user else {
            return reply(turn, .ERR_USERSDONTMATCH, ":Cant change mode for other users")
        }
        guard let wanted = turn.parameter(1), !wanted.isEmpty else {
            return reply(turn, .RPL_UMODEIS, users[user].modes.text)
        }
        let before = users[user].modes
        applyUserModes(turn, wanted)
        if before.contains(.oper), !users[user].isOperator {
            note(.info, "\(users[user].nick) (\(users[user].uid.text)) is no operator any more")
            users[user].operatorKind = ""
        }
        tellModes(user, before: before)
    }

    private mutating func applyUserModes(_ turn: Turn, _ wanted: ByteView) {
        var modes = users[turn.me].modes
        let isKnown = { (letter: UInt8) in UserModes.letters.contains { $0.letter == letter } }
        for parsed in ModeParser.parse(
            wanted, parameters: { _ in nil }, kinds: { isKnown($0) ? .flag : nil })
        {
            switch parsed {
            case .change(let change):
                // +o comes from OPER alone and is ignored here; Z tells of the connection (RFC 2812, MODE).
                let given: UserModes = change.adding ? [.oper, .secure] : .secure
                guard let mode = UserModes.letters.first(where: { $0.letter == change.letter })?.mode,
                    !given.contains(mode)
                else { continue }
                if change.adding { modes.insert(mode) } else { modes.remove(mode) }
            case .unknown, .listQuery, .missingParameter:
                reply(turn, .ERR_UMODEUNKNOWNFLAG, ":Unknown MODE flag")
            }
        }
        setModes(turn.me, modes)
    }

    /// Every change of a user's modes goes through here: LUSERS counts them.
    mutating func setModes(_ user: UserID, _ modes: UserModes) {
        count(users[user].modes, -1)
        users[user].modes = modes
        count(modes, 1)
    }

    private mutating func count(_ modes: UserModes, _ change: Int) {
        if modes.contains(.invisible) { statistics.invisible += change }
        if modes.contains(.oper) { statistics.operators += change }
    }

    /// All of the user's sessions see what changed.
    mutating func tellModes(_ user: UserID, before: UserModes) {
        let after = users[user].modes
        func letters(_ modes: UserModes) -> ByteString {
            ByteString(UserModes.letters.filter { modes.contains($0.mode) }.map(\.letter))
        }
        let added = letters(after.subtracting(before))
        let removed = letters(before.subtracting(after))
        if added.isEmpty, removed.isEmpty { return }
        let plus: ByteString = added.isEmpty ? "" : "+\(added)"
        let minus: ByteString = removed.isEmpty ? "" : "-\(removed)"
        let line = outgoing(from: user, "MODE \(users[user].nick) :\(plus)\(minus)")
        for session in users[user].sessions { send(line, to: session) }
    }
}
