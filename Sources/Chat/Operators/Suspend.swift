import Bytes
import Wire

let suspensionCommands: [Command] = [
    Command(
        "SUSPEND", minimum: 1, access: .operators, privilege: .accounts, source: "docs/PROTOCOL.md, Operators",
        help: [
            "SUSPEND <account> [:reason]",
            "Nobody can log in to the account until UNSUSPEND; who is logged in is disconnected.",
            "Example: SUSPEND ana :stolen password",
        ]
    ) { world, turn in world.suspend(turn) },
    Command(
        "UNSUSPEND", minimum: 1, access: .operators, privilege: .accounts, source: "docs/PROTOCOL.md, Operators",
        help: ["UNSUSPEND <account>", "Lets log in to the account again.", "Example: UNSUSPEND ana"]
    ) { world, turn in
        guard let name = world.knownAccount(turn) else { return }
        world.changeAccount(name, .suspend(name: name, reason: ""))
        world.noteOperator(turn, "lifted the suspension of account \(name)")
        world.notice(turn.session, "The account \(name) is not suspended")
    },
]

extension World {
    /// The folded name of an account; nil: there is none, or nothing can be stored, and the operator was told.
    fileprivate mutating func knownAccount(_ turn: Turn) -> ByteString? {
        if refuseWhileStoreFails(turn) { return nil }
        if accounts.names.contains(turn[0]) { return Names.fold(turn[0]) }
        fail(turn, "NO_SUCH_ACCOUNT", "There is no such account", about: [shown(turn[0])])
        return nil
    }

    fileprivate mutating func suspend(_ turn: Turn) {
        guard let name = knownAccount(turn) else { return }
        let own = users[turn.me].account
        if name.withView({ one in own.withView { one.equalsIgnoringCase($0) } }) {
            return fail(turn, "OWN_ACCOUNT", "That account is yours; nothing was done", about: [name])
        }
        let given = freeText(turn, 1)
        let cut = given.prefix(UTF8Check.scalarBoundary(given, atMost: 200)).trimmed
        let reason: ByteString = cut.isEmpty ? "no reason given" : ByteString(cut)
        changeAccount(name, .suspend(name: name, reason: reason))
        noteOperator(turn, "suspended account \(name): \(reason)")
        let count = disconnect(account: name, reason)
        notice(turn.session, "The account \(name) is suspended; \(count) connections closed")
    }

    private mutating func disconnect(account: ByteString, _ reason: ByteString) -> Int {
        let concerned = users.ids.filter { user in
            users[user].account.withView { own in account.withView { own.equalsIgnoringCase($0) } }
        }
        let sessions = concerned.flatMap { users[$0].sessions }
        let said: ByteString = "Account suspended: \(reason)"
        for session in sessions { close(session, reason: said, error: "Closing link: \(said)") }
        // Who proved to be it and has not finished coming in.
        for (slot, opening) in openings where opening.returning != nil {
            guard let own = opening.returning?.account,
                own.withView({ one in account.withView { one.equalsIgnoringCase($0) } })
            else { continue }
            openings[slot]?.returning = nil
        }
        return sessions.count
    }
}
