import Bytes
import Wire

let accountCommands: [Command] =
    [registerCommand, verifyCommand, logoutCommand, passwdCommand, resetpassCommand, unregisterCommand]
    + serviceCommands

private let logoutCommand = Command(
    "LOGOUT", source: "docs/PROTOCOL.md, Accounts",
    help: ["LOGOUT", "Ends being logged in: you are a new guest, the account's ranks stay with it.", "Example: LOGOUT"]
) { world, turn in world.logOut(turn.session) }

private let passwdCommand = Command(
    "PASSWD", minimum: 2, cost: 5000, source: "docs/PROTOCOL.md, Accounts",
    help: [
        "PASSWD <old> <new>", "Changes your account's password. Tokens that you have been told are void afterwards.",
        "Example: PASSWD correct-horse-battery four-other-words-now",
    ]
) { world, turn in
    let errand = Errand(turn.session, .command("PASSWD"), .changePassword(ByteString(turn[1])))
    world.changePassword(errand, old: ByteString(turn[0]))
}

private let resetpassCommand = Command(
    "RESETPASS", minimum: 1, access: .opening, cost: 5000, source: "docs/PROTOCOL.md, Accounts",
    help: [
        "RESETPASS <account> | RESETPASS <account> <code> <new password>",
        "For who forgot a password: sends a code to the account's e-mail address, which then sets a new one.",
        "Example: RESETPASS ana",
    ]
) { world, turn in
    if turn.parameterCount == 2 { return world.needMoreParameters(turn) }
    world.resetPassword(
        turn.session, .command("RESETPASS"), (0..<min(3, turn.parameterCount)).map { turn[$0] })
}

private let unregisterCommand = Command(
    "UNREGISTER", minimum: 1, cost: 5000, source: "docs/PROTOCOL.md, Accounts",
    help: [
        "UNREGISTER <password>",
        "Ends your account for good: you are a new guest, and nobody can have the account's name again.",
        "Example: UNREGISTER correct-horse-battery",
    ]
) { world, turn in
    guard var errand = world.ownErrand(Errand(turn.session, .command("UNREGISTER"), .close)) else { return }
    errand.proof = .password(ByteString(world.freeText(turn, 0)))
    if world.refuseThrottled(errand) { return }
    world.look(up: .uid(world.users[turn.me].uid), for: errand)
}

extension World {
    /// An errand about the account that the session is logged in to; nil: it is not, and was told.
    fileprivate mutating func ownErrand(_ errand: Errand) -> Errand? {
        guard let user = sessions[errand.session].user, !users[user].account.isEmpty else {
            refuse(errand, "ACCOUNT_REQUIRED", "You are not logged in")
            return nil
        }
        var errand = errand
        errand.name = users[user].account
        return errand
    }

    // MARK: LOGOUT and UNREGISTER

    mutating func logOut(_ session: ConnectionID) {
        guard let user = sessions[session].user, !users[user].account.isEmpty else {
            return fail(session, "LOGOUT", "ACCOUNT_REQUIRED", "You are not logged in")
        }
        let mask = users[user].source
        if users[user].sessions.count == 1 {
            becomeGuest(user)
        } else {
            becomeAnother(session, Returning(uid: makeUID(), epoch: 0, state: nil, members: [], metadata: Metadata()))
        }
        reply(to: session, .RPL_LOGGEDOUT, "\(mask) :You are now logged out")
    }

    /// An account that nobody verified leaves nothing behind, not even its name.
    mutating func closeAccount(_ errand: Errand) {
        guard let account = errand.answer?.account else { return }
        let change: AccountChange = account.standing == .unverified ? .remove(account.uid) : .close(account.uid)
        store(change, of: account.name, for: errand)
    }

    mutating func accountClosed(_ errand: Errand, _ account: AccountState) {
        note(
            errand, "deleted account \(account.name)", own: "\(account.uid.text) unregistered account \(account.name)")
        if account.standing == .unverified {
            releaseName(account)
            return confirm(errand, "DONE", "The account is gone; it was not verified, so its name is free")
        }
        account.name.withView { accounts.names.give($0, to: .none) }
        forgetArrivals(of: account.uid)
        let end: ByteString = errand.isOperators ? "" : ". You are a guest now"
        confirm(errand, "DONE", "The account is gone; its name stays blocked\(end)")
        if let user = identities[account.uid] { leaveAccount(user) }
        // It never comes back: nothing is kept for it.
        departed.remove(account.uid)
    }

    private mutating func leaveAccount(_ user: UserID) {
        let mask = users[user].source
        becomeGuest(user)
        for session in users[user].sessions {
            reply(to: session, .RPL_LOGGEDOUT, "\(mask) :You are now logged out")
        }
    }

    // MARK: Passwords

    mutating func changePassword(_ errand: Errand, old: ByteString) {
        guard var errand = ownErrand(errand), let user = sessions[errand.session].user else { return }
        errand.proof = .password(old)
        if refuseThrottled(errand) { return }
        look(up: .uid(users[user].uid), for: errand)
    }

    mutating func changePassword(_ errand: Errand, _ new: ByteString) {
        if new.withView({ isAcceptable($0, errand) }) { derive(new, for: errand) }
    }

    /// A password is changed because somebody else may know it: whatever else lets in is void too.
    mutating func setPassword(_ errand: Errand, _ credentials: Credentials) {
        guard let answer = errand.answer, let account = answer.account else { return }
        var state =
            identities[account.uid].map { users[$0].stored(now: now.wall) } ?? answer.state
            ?? IdentityState(
                uid: account.uid, nick: account.name, name: account.name, epoch: 0, created: account.created,
                seen: seconds)
        state.epoch += 1
        var errand = errand
        errand.epoch = state.epoch
        store(
            .setCredentials(account.uid, credentials), of: account.name, and: [.saveIdentity(state)], for: errand)
    }

    mutating func passwordStored(_ errand: Errand, _ account: AccountState) {
        note(
            errand, "set the password of account \(account.name)", own: "account \(account.name) has a new password")
        voidTokens(of: account.uid, before: errand.epoch)
        let next: ByteString =
            if case .reset = errand.aim { ". Log in with it" } else { "; tokens told before are void" }
        confirm(errand, "CHANGED", "The password is changed\(next)")
    }

    /// The identity's row may have been written since with the epoch that it had.
    mutating func voidTokens(of uid: UID, before epoch: Int64) {
        forgetArrivals(of: uid)
        guard let user = identities[uid] else { return }
        users[user].epoch = max(users[user].epoch, epoch)
        keep(user)
    }

    /// `<account>`, or `<account> <code> <new password>`.
    mutating func resetPassword(_ session: ConnectionID, _ voice: Errand.Voice, _ words: [ByteView]) {
        var errand = Errand(session, voice, .sendReset)
        errand.name = ByteString(words[0])
        if words.count == 3 {
            errand.aim = .reset(code: ByteString(words[1]), password: ByteString(words[2]))
        } else if !settings.accounts.hasMail {
            return refuse(errand, "TEMPORARILY_UNAVAILABLE", "This server sends no mail; ask its operators")
        }
        if refuseThrottled(errand) { return }
        if isStoreFailing { return refuse(errand, "TEMPORARILY_UNAVAILABLE", Self.notStoredText) }
        look(up: .account(Names.fold(words[0])), for: errand)
    }

    /// The answer is the same whether there is such an account or not, and whether it has an address.
    mutating func sendReset(_ errand: Errand) {
        guard let account = errand.answer?.account, account.standing == .open, !account.email.isEmpty,
            accounts.mails.count(NameKey(account.name), now: now.steady) < Self.mailsPerHour, !isStoreFailing
        else { return tellReset(errand) }
        accounts.mails.add(NameKey(account.name), now: now.steady)
        let code = secretText("code", length: 8)
        let expires = seconds + settings.accounts.codeLifetime / 1000
        // Refused with its batch it leaves no mail either.
        changeAccount(account.name, .setCode(account.uid, proof(of: code, account.uid), expires: expires))
        sendMail(
            to: account.email, "A new password on \(settings.network)",
            [
                "Somebody, hopefully you, forgot the password of the account \(account.name) on \(settings.network).",
                "To set a new one, type there:", "", "    RESETPASS \(account.name) \(code) <new password>", "",
                "The code is good until \(Times.short(expires * 1000)) UTC. If it was not you, do nothing.",
            ])
        // How long the mail takes must not tell that there is one.
        tellReset(errand)
    }

    private static var mailsPerHour: Int { 3 }

    private mutating func tellReset(_ errand: Errand) {
        confirmIfStored(errand, "SENT", "If the account has an e-mail address, a code is on its way to it")
    }

    mutating func reset(_ errand: Errand, _ code: ByteString, _ password: ByteString) {
        guard let account = errand.answer?.account, account.standing == .open, isRight(code, for: account) else {
            countFailure(errand)
            return refuse(errand, "INVALID_CODE", "This code is not right, or its time is over")
        }
        if password.withView({ isAcceptable($0, errand) }) { derive(password, for: errand) }
    }
}
