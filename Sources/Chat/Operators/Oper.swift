import Bytes
import Wire

let operCommand = Command(
    "OPER", minimum: 2, cost: 5000, source: "Modern IRC, OPER",
    help: ["OPER <name> <password>", "Makes you an operator of this server.", "Example: OPER admin secret"]
) { world, turn in
    let address = world.sessions[turn.session].peer.address
    guard let any = world.settings.operators.first else {
        return world.reply(turn, .ERR_NOOPERHOST, ":No O-lines for your host: this server has no operators")
    }
    if world.isThrottled(address) {
        return world.reply(turn, .ERR_PASSWDMISMATCH, ":Password incorrect: too many tries; wait a minute")
    }
    // An unknown name costs the same hash as a known one, so that the time tells nothing of which names exist.
    let name = ByteString(turn[0])
    let entry = world.settings.operators.first { $0.name == name } ?? any
    let label = world.deferLabel(turn.session)
    let number = world.nextQuestion(.becomingOperator(turn.session, name: name, label: label))
    world.sessions[turn.session].isWaiting = true
    world.effects.passwords.append(
        PasswordQuestion(number: number, password: ByteString(turn[1]), hash: entry.hash, isOperators: true))
}

extension World {
    mutating func verified(_ number: Int64, _ outcome: PasswordOutcome) {
        if isErrand(number) { return passwordVerified(number, outcome) }
        if gatewayVerified(number, outcome) { return }
        guard case .becomingOperator(let session, let name, let label)? = pending.removeValue(forKey: number),
            sessions.contains(session)
        else { return }
        stopWaiting(session)
        guard sessions[session].stage == .registered, let user = sessions[session].user else { return }
        if !label.isEmpty { beginResponse(session, label: label) }
        answerOper(session, user, name, outcome)
        if !label.isEmpty { endResponse(session) }
        endInputIfOver(session)
    }

    /// Whoever may open the server's own socket may do everything; out of sight, as no person is there to be found.
    mutating func makeConsoleOperator(_ user: UserID) {
        setModes(user, users[user].modes.union([.oper, .invisible]))
        users[user].operatorKind = Privilege.fullClass
    }

    private mutating func answerOper(
        _ session: ConnectionID, _ user: UserID, _ name: ByteString, _ outcome: PasswordOutcome
    ) {
        let address = sessions[session].peer.address
        if outcome == .busy {
            return reply(to: session, .RPL_TRYAGAIN, "OPER :Please wait a while and try again.")
        }
        let entry = settings.operators.first { $0.name == name }
        guard outcome == .right, let entry else {
            countFailure(address)
            // What was given as a name may be a password in the wrong place: it is not noted.
            note(.warning, "wrong OPER \(entry == nil ? "name" : "password for \(name)") from \(address)")
            return reply(to: session, .ERR_PASSWDMISMATCH, ":Password incorrect")
        }
        let before = users[user].modes
        setModes(user, before.union(.oper))
        users[user].operatorKind = entry.kind
        note(.info, "\(users[user].nick) (\(users[user].uid.text)) is operator \(name) now, from \(address)")
        reply(to: session, .RPL_YOUREOPER, ":You are now an IRC operator")
        tellModes(user, before: before)
    }
}
