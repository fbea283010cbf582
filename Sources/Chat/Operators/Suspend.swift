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
    ) { world, turn in world.manage(turn, turn[0], .suspend(reason: "")) },
]

extension World {
    fileprivate mutating func suspend(_ turn: Turn) {
        if isOwnAccount(turn, turn[0]) { return }
        let given = freeText(turn, 1)
        let cut = given.prefix(UTF8Check.scalarBoundary(given, atMost: 200)).trimmed
        manage(turn, turn[0], .suspend(reason: cut.isEmpty ? "no reason given" : ByteString(cut)))
    }

    mutating func suspend(_ errand: Errand, _ reason: ByteString) {
        guard let name = errand.answer?.account?.name else { return }
        store(.suspend(name: name.withView { Names.fold($0) }, reason: reason), of: name, for: errand)
    }

    mutating func suspended(_ errand: Errand, _ account: AccountState, _ reason: ByteString) {
        if reason.isEmpty {
            note(errand, "lifted the suspension of account \(account.name)", own: "")
            return confirm(errand, "DONE", "The account \(account.name) is not suspended")
        }
        note(errand, "suspended account \(account.name): \(reason)", own: "")
        let count = disconnect(account, "Account suspended: \(reason)")
        confirm(errand, "DONE", "The account \(account.name) is suspended; \(count) connections closed")
    }

    private mutating func disconnect(_ account: AccountState, _ said: ByteString) -> Int {
        forgetArrivals(of: account.uid)
        // Of an account that is not verified the identity is a guest's.
        guard let user = identities[account.uid], !users[user].account.isEmpty else { return 0 }
        let sessions = users[user].sessions
        for session in sessions { close(session, reason: said, error: "Closing link: \(said)") }
        return sessions.count
    }
}
