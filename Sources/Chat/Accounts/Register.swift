package import Bytes
import Wire

let registerCommand = Command(
    "REGISTER", minimum: 3, access: .opening, cost: 5000, source: "IRCv3 account-registration",
    help: [
        "REGISTER <account|*> <email|*> <password>",
        "Makes an account of who you are: the same channels, ranks and history. * as account is your nick, * as email",
        "is none. Later, PASS <account>:<password> before NICK brings you back from anywhere.",
        "Example: REGISTER * * correct-horse-battery",
    ]
) { world, turn in
    if world.sessions[turn.session].stage == .opening, !world.mayRegisterEarly(turn) { return }
    let password = ByteString(world.freeText(turn, 2))
    world.register(Errand(turn.session, .command("REGISTER"), .nothing), turn[0], email: turn[1], password)
}

let verifyCommand = Command(
    "VERIFY", minimum: 2, access: .opening, cost: 2000, source: "IRCv3 account-registration",
    help: [
        "VERIFY <account> <code>", "Ends the registration of an account with the code that was sent by mail.",
        "Example: VERIFY ana 7k2m9q4x",
    ]
) { world, turn in
    if world.sessions[turn.session].stage == .opening, !world.mayRegisterEarly(turn) { return }
    world.verify(Errand(turn.session, .command("VERIFY"), .verify(code: ByteString(turn[1]))), turn[0])
}

extension World {
    /// Before registration a client may where the capability says `before-connect`; nothing of what keeps people out is
    /// passed by it. A person who gave a nick is a guest first.
    fileprivate mutating func mayRegisterEarly(_ turn: Turn) -> Bool {
        let opening = openings[turn.session.index] ?? Opening()
        if sessions[turn.session].manner != .client { return opening.nick.isEmpty || completePlain(turn.session) }
        var code: StaticString = "TEMPORARILY_UNAVAILABLE"
        var why: ByteString = ""
        if !settings.accounts.beforeConnect {
            code = "COMPLETE_CONNECTION_REQUIRED"
            why = "Finish connecting first"
        } else if !settings.password.isEmpty, !opening.hasPassword {
            why = "This server wants PASS <password> first"
        } else if lockdown == .new {
            why = "This server lets nobody new in at the moment"
        } else {
            return true
        }
        fail(turn, code, why, about: [shown(turn[0])])
        return false
    }

    // MARK: REGISTER

    /// Checks everything that can be checked at once.
    mutating func register(_ errand: Errand, _ given: ByteView, email: ByteView, _ password: ByteString) {
        var errand = errand
        let session = errand.session
        let opening = openings[session.index]
        let nick = sessions[session].user.map { users[$0].nick } ?? opening?.nick ?? ""
        let wanted = nick.isEmpty ? opening?.refusedNick ?? "" : nick
        let isNick = given == "*" || nick.withView { given.equalsIgnoringCase($0) }
        errand.name = given == "*" ? wanted : ByteString(given)
        if errand.name.isEmpty {
            errand.name = "*"
            return refuse(errand, "NEED_NICK", "Choose a nick first, with NICK")
        }
        let name = errand.name
        if !password.withView({ isAcceptable($0, errand) }) || refuseRegistration(errand) { return }
        if !isNick, !settings.accounts.customNames {
            return refuse(errand, "ACCOUNT_NAME_MUST_BE_NICK", "An account has the name of your nick")
        }
        let user = sessions[session].user
        guard mayBeAccount(name, besides: user, errand), isAcceptable(email: email, errand) else { return }
        accounts.registrations.add(customer(sessions[session].peer.address), now: now.steady)
        beginRegistration(
            errand, user.map { users[$0].uid } ?? makeUID(), email: email,
            isVerified: email == "*" || !settings.accounts.hasMail, password)
    }

    /// Keeps the name and has the password hashed.
    mutating func beginRegistration(
        _ errand: Errand, _ uid: UID, email: ByteView, isVerified: Bool, _ password: ByteString
    ) {
        if isStoreFailing { return refuse(errand, "TEMPORARILY_UNAVAILABLE", Self.notStoredText) }
        var errand = errand
        let name = errand.name
        let look = name.withView { ports.skeleton($0) }
        name.withView { accounts.names.insert($0, look: look) }
        errand.aim = .register(
            AccountState(
                uid: uid, name: name, look: look, credentials: Credentials(hash: "", scram: ""),
                email: email == "*" ? "" : ByteString(email), created: seconds,
                standing: isVerified ? .open : .unverified))
        accounts.registering.insert(uid)
        derive(password, for: errand)
    }

    /// What hinders a registration whatever its name is.
    private mutating func refuseRegistration(_ errand: Errand) -> Bool {
        let session = errand.session
        let account = sessions[session].user.map { users[$0].account } ?? openings[session.index]?.returning?.account
        if let account, !account.isEmpty {
            refuse(errand, "ALREADY_AUTHENTICATED", "You are logged in as \(account) already")
            return true
        }
        let peer = sessions[session].peer
        let count = accounts.registrations.count(customer(peer.address), now: now.steady)
        if !settings.accounts.isOpen {
            refuse(errand, "TEMPORARILY_UNAVAILABLE", "This server registers no accounts")
        } else if openings[session.index]?.returning != nil {
            refuse(errand, "TEMPORARILY_UNAVAILABLE", "Finish connecting as the guest that you are first")
        } else if let user = sessions[session].user, accounts.registering.contains(users[user].uid) {
            refuse(errand, "TEMPORARILY_UNAVAILABLE", "You are registering an account just now")
        } else if count >= settings.accounts.registrationsPerHour {
            refuse(errand, "TEMPORARILY_UNAVAILABLE", "Too many accounts from your address; try again in an hour")
        } else {
            return false
        }
        return true
    }

    mutating func mayBeAccount(_ name: ByteString, besides user: UserID?, _ errand: Errand) -> Bool {
        let isFine = name.withView { name in
            Names.isValidNick(name, limit: settings.limits.nickLength) && !isReservedNick(name) && !isService(name)
                && !name.equalsIgnoringCase("guest") && UID(name) == nil && reservation(of: name) == nil
        }
        if !isFine {
            refuse(
                errand, "BAD_ACCOUNT_NAME",
                "An account's name is one that a nick can have; this one is reserved or none")
            return false
        }
        // The nick that somebody else has now is not taken from under them.
        if isTaken(name, besides: user) || name.withView({ isRegistered($0, besides: "") }) {
            refuse(errand, "ACCOUNT_EXISTS", "This name, or one that looks like it, belongs to somebody else")
            return false
        }
        return true
    }

    /// Of any length and script; empty and short ones are refused.
    mutating func isAcceptable(_ password: ByteView, _ errand: Errand) -> Bool {
        if password.count >= max(1, settings.accounts.passwordLength) { return true }
        refuse(
            errand, "WEAK_PASSWORD", "A password has at least \(settings.accounts.passwordLength) bytes")
        return false
    }

    mutating func isAcceptable(email: ByteView, _ errand: Errand) -> Bool {
        if email == "*", !settings.accounts.needsEmail { return true }
        if email != "*", Email.isValid(email) { return true }
        let why: ByteString =
            email == "*" ? "This server wants an e-mail address" : "No mail can be sent to this address"
        refuse(errand, "INVALID_EMAIL", why)
        return false
    }

    /// The password is hashed: the account is kept, with the proof of a code if its address is to be proved.
    mutating func register(_ errand: Errand, _ account: AccountState) {
        var account = account
        var errand = errand
        forgetEarlier(account.uid)
        if account.standing == .unverified {
            errand.code = secretText("code", length: 8)
            account.code = proof(of: errand.code, account.uid)
            account.codeExpires = seconds + settings.accounts.codeLifetime / 1000
        }
        errand.aim = .register(account)
        store(.add(account), of: account.name, for: errand)
    }

    mutating func accountStored(_ errand: Errand, _ account: AccountState) {
        accounts.registering.remove(account.uid)
        if account.standing == .unverified {
            accounts.unverified.append(
                AccountName(name: account.name, look: account.look, uid: account.uid, expires: account.codeExpires))
            if isHere(errand) { sendCode(errand, account) }
            return
        }
        account.name.withView { accounts.names.give($0, to: account.uid) }
        note(
            errand, "added account \(account.name) (\(account.uid.text))",
            own: "\(account.uid.text) registered account \(account.name)")
        if errand.isOperators {
            confirm(errand, "ADDED", "The account \(account.name) is \(account.uid.text)")
        } else {
            registered(errand, account)
        }
    }

    private mutating func sendCode(_ errand: Errand, _ account: AccountState) {
        sendMail(
            to: account.email, "Your account on \(settings.network)",
            [
                "Somebody, hopefully you, registers the account \(account.name) on \(settings.network).",
                "To prove that this address is yours, type there:", "",
                "    VERIFY \(account.name) \(errand.code)", "",
                "The code is good until \(Times.short(account.codeExpires * 1000)) UTC. If it was not you, do nothing.",
            ], for: errand)
    }

    /// Another account that this identity asked for and never verified.
    private mutating func forgetEarlier(_ uid: UID) {
        guard let at = accounts.unverified.firstIndex(where: { $0.uid == uid }) else { return }
        let earlier = accounts.unverified.remove(at: at)
        earlier.name.withView { accounts.names.remove($0, look: earlier.look) }
        changeAccount(earlier.name, .remove(uid))
    }

    mutating func registrationMailed(_ errand: Errand, _ account: AccountState, isSent: Bool) {
        guard isSent else {
            releaseName(account)
            changeAccount(account.name, .remove(account.uid))
            return refuse(errand, "TEMPORARILY_UNAVAILABLE", "The mail with your code could not be sent; try again")
        }
        let text: ByteString = "A code is on its way to \(account.email). Type VERIFY \(account.name) <code>"
        if case .command = errand.voice {
            tell(errand.session, "REGISTER VERIFICATION_REQUIRED \(account.name) :\(text)")
        } else {
            serviceNotice(errand.session, text)
        }
    }

    mutating func releaseName(_ account: AccountState) {
        account.name.withView { accounts.names.remove($0, look: account.look) }
        accounts.unverified.removeAll { $0.uid == account.uid }
    }

    /// The identity is the account's from now on, in all its sessions.
    private mutating func registered(_ errand: Errand, _ account: AccountState) {
        let session = errand.session
        if isHere(errand) {
            if case .command(let command) = errand.voice {
                let text: ByteString = "Account created; you are logged in as \(account.name)"
                tell(session, "\(command) SUCCESS \(account.name) :\(text)")
            } else {
                serviceNotice(session, "Account created; you are now logged in as \(account.name)")
            }
            tellLoggedIn(session, account.name)
        }
        if let user = identities[account.uid] {
            setAccount(user, account.name)
            keep(user)
        } else if isHere(errand) {
            openings[session.index]?.returning = Returning(
                uid: account.uid, epoch: 0, state: nil, members: [], metadata: Metadata(), account: account.name)
            completeClient(session)
        }
    }

    // MARK: VERIFY

    mutating func verify(_ errand: Errand, _ name: ByteView) {
        var errand = errand
        errand.name = ByteString(name)
        if refuseThrottled(errand) { return }
        if let user = sessions[errand.session].user, !users[user].account.isEmpty {
            return refuse(errand, "ALREADY_AUTHENTICATED", "You are logged in as \(users[user].account) already")
        }
        look(up: .account(Names.fold(name)), for: errand)
    }

    mutating func verify(_ errand: Errand, _ code: ByteString) {
        guard let account = errand.answer?.account, account.standing == .unverified, isRight(code, for: account)
        else {
            countFailure(errand)
            return refuse(errand, "INVALID_CODE", "This code is not right, or its time is over")
        }
        var errand = errand
        errand.name = account.name
        store(.verify(account.uid), of: account.name, for: errand)
    }

    mutating func accountVerified(_ errand: Errand, _ account: AccountState) {
        accounts.unverified.removeAll { $0.uid == account.uid }
        account.name.withView { accounts.names.give($0, to: account.uid) }
        note(.info, "account \(account.name) is verified")
        guard isHere(errand), var answer = errand.answer else { return }
        if case .command(let command) = errand.voice {
            tell(errand.session, "\(command) SUCCESS \(account.name) :Account verified")
        }
        answer.account?.standing = .open
        admit(errand, account.uid, answer)
    }

    /// What is kept of a code: its MAC, so that the database tells nobody.
    func proof(of code: ByteString, _ uid: UID) -> ByteString {
        Base32.encode(ports.mac(Array("code:".utf8) + uid.text.bytes + [0x2E] + code.bytes))
    }

    func isRight(_ code: ByteString, for account: AccountState) -> Bool {
        let given = code.withView { proof(of: Names.fold($0.trimmed), account.uid) }
        let isSame = given.withView { one in account.code.withView { constantTimeEquals(one, $0) } }
        return isSame && account.codeExpires > seconds
    }
}

/// What an address must have so that mail can be sent to it (RFC 5321, 4.1.2, without quoted forms).
package enum Email {
    package static func isValid(_ text: ByteView) -> Bool {
        let parts = text.parts(0x40)
        guard text.count <= 254, parts.count == 2, parts[0].count + parts[1].count + 1 == text.count,
            parts[0].count <= 64, text.first != 0x2D, parts[1].first != 0x2E, parts[1].last != 0x2E
        else { return false }
        let separators = Array("<>()[]\\,;:\"".utf8)
        return text.raw.allSatisfy { $0 > 0x20 && $0 != 0x7F && !separators.contains($0) }
    }
}
