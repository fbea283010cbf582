import Bytes
import Wire

let identityCommands: [Command] = [identityCommand] + accountCommands

private let identityCommand = Command(
    "IDENTITY", access: .opening, source: "docs/PROTOCOL.md, Guests",
    help: [
        "IDENTITY | IDENTITY TOKEN | IDENTITY RESUME <token> | IDENTITY REVOKE",
        "Shows who you are; tells your token; brings an identity back with its token; makes all earlier tokens void.",
        "Example: IDENTITY TOKEN",
    ]
) { world, turn in
    let sub = turn.parameter(0) ?? .empty
    if sub.equalsIgnoringCase("RESUME") {
        guard let token = turn.parameter(1), !token.isEmpty else { return world.needMoreParameters(turn) }
        return world.resume(Errand(turn.session, .resume, .logIn), token: token)
    }
    if turn.user == nil {
        if world.sessions[turn.session].manner == .client {
            return world.reply(turn, .ERR_NOTREGISTERED, ":You have not registered")
        }
        guard world.completePlain(turn.session) else { return }
    }
    guard let user = world.sessions[turn.session].user else { return }
    if sub.isEmpty {
        world.tellIdentity(turn.session)
    } else if sub.equalsIgnoringCase("TOKEN") {
        world.tellIdentityToken(turn.session, user)
    } else if sub.equalsIgnoringCase("REVOKE") {
        world.voidTokens(turn)
    } else {
        world.fail(
            turn, "INVALID_PARAMS", "Known are TOKEN, RESUME <token> and REVOKE",
            about: [world.shown(sub, atMost: 32)])
    }
}

extension World {
    mutating func tellIdentity(_ session: ConnectionID) {
        guard let user = sessions[session].user else { return }
        let account: ByteString = users[user].account.isEmpty ? "*" : users[user].account
        let count = users[user].sessions.count
        tell(
            session,
            "NOTE IDENTITY \(users[user].uid.text) \(account) \(count) :You are \(users[user].nick), \(account == "*" ? "a guest" : "an account"), with \(count) session\(count == 1 ? "" : "s")"
        )
    }

    fileprivate mutating func voidTokens(_ turn: Turn) {
        var errand = Errand(turn.session, .command("IDENTITY"), .voidTokens)
        errand.name = users[turn.me].uid.text
        errand.epoch = users[turn.me].epoch + 1
        var state = users[turn.me].stored(now: now.wall)
        state.epoch = errand.epoch
        store([.saveIdentity(state)], for: errand)
    }

    mutating func tokensVoided(_ errand: Errand) {
        guard let uid = errand.name.withView({ UID($0) }) else { return }
        voidTokens(of: uid, before: errand.epoch)
        if isHere(errand), let user = sessions[errand.session].user { tellIdentityToken(errand.session, user) }
    }

    fileprivate mutating func tellIdentityToken(_ session: ConnectionID, _ user: UserID) {
        tell(
            session,
            "NOTE IDENTITY TOKEN \(token(of: user)) :Keep it secret. PASS guest:<token> or IDENTITY RESUME <token> brings you back"
        )
    }

    /// Writes the identity's row: something of it is worth keeping now.
    mutating func keep(_ user: UserID) {
        users[user].isKept = true
        save(.saveIdentity(users[user].stored(now: now.wall)))
    }
}
