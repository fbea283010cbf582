import Bytes
import Wire

let acceptCommand = Command(
    "ACCEPT", minimum: 1, source: "docs/PROTOCOL.md, Messages and history",
    help: [
        "ACCEPT <nick>,-<nick>,… | ACCEPT *", "With user mode R guests cannot write to you but those whom you accept.",
        "A nick adds, -nick removes, * lists. Whom you write to is accepted by that. It lasts until you leave.",
        "Example: ACCEPT bo",
    ]
) { world, turn in
    turn[0].split(0x2C) { world.accept(turn, $0) }
}

extension World {
    fileprivate mutating func accept(_ turn: Turn, _ word: ByteView) {
        if word == "*" { return tellAccepted(turn) }
        let isRemoval = word.first == 0x2D
        let name = isRemoval ? word.dropFirst() : word
        guard let other = user(named: name) else {
            return reply(turn, .ERR_NOSUCHNICK, "\(shown(name)) :No such nick/channel")
        }
        let uid = users[other].uid
        let isThere = users[turn.me].accepted.contains(uid)
        if isRemoval {
            if !isThere { return reply(turn, .ERR_ACCEPTNOT, "\(users[other].nick) :is not on your accept list") }
            users[turn.me].accepted.removeAll { $0 == uid }
        } else if isThere {
            reply(turn, .ERR_ACCEPTEXIST, "\(users[other].nick) :is already on your accept list")
        } else if users[turn.me].accepted.count >= settings.limits.accepted {
            reply(turn, .ERR_ACCEPTFULL, ":Accept list is full; ACCEPT -nick makes room")
        } else {
            users[turn.me].accepted.append(uid)
        }
    }

    private mutating func tellAccepted(_ turn: Turn) {
        for uid in users[turn.me].accepted { reply(turn, .RPL_ACCEPTLIST, correspondent(uid).name) }
        reply(turn, .RPL_ENDOFACCEPT, ":End of /ACCEPT list")
    }

    /// Whom one writes to may answer; the first one accepted gives way.
    mutating func acceptAnswers(_ user: UserID, from other: UID) {
        guard users[user].modes.contains(.accountsOnly), !users[user].accepted.contains(other) else { return }
        users[user].accepted.append(other)
        if users[user].accepted.count > settings.limits.accepted { users[user].accepted.removeFirst() }
    }

    /// Guests whom the receiver did not accept, where mode `R` is on.
    func isUnwanted(_ sender: UserID, by receiver: UserID) -> Bool {
        users[receiver].modes.contains(.accountsOnly) && sender != receiver && users[sender].account.isEmpty
            && !users[sender].isOperator && !users[receiver].accepted.contains(users[sender].uid)
    }
}
