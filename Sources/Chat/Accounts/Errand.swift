import Bytes
import Wire

/// Something that somebody wants of an account and that takes the store, the hasher or the post: it goes from one to
/// the other by number and comes back here each time. The session's input waits meanwhile.
struct Errand {
    /// How it was asked for, which is how it is answered.
    enum Voice {
        case pass, sasl
        /// IDENTITY RESUME.
        case resume
        case command(StaticString)
        /// A message to NickServ.
        case service
    }

    enum Aim {
        /// It is not known yet whether anything is.
        case nothing
        case logIn
        case beginScram(ScramOpening)
        case register(AccountState)
        case verify(code: ByteString)
        case changePassword(ByteString)
        case close
        case sendReset
        case reset(code: ByteString, password: ByteString)
        case listCertificates
        case addCertificate(ByteString)
        /// Nobody else has it, if the answer says so.
        case claimCertificate(ByteString)
        case removeCertificate(ByteString)
    }

    /// What must hold besides that the identity is found.
    enum Proof {
        case none
        /// The token's MAC was right; the epoch is compared with the row's.
        case token(UID, epoch: Int64)
        case password(ByteString)
        /// The proof was right for these keys.
        case scram(ByteString)
    }

    var session: ConnectionID
    var voice: Voice
    /// Of a labeled command that waits; empty: none.
    var label: ByteString = ""
    var aim: Aim
    var proof = Proof.none
    /// Which account is meant, as it was given; empty: none was named.
    var name: ByteString = ""
    /// The number of the question that `answer` answers.
    var asked: Int64 = 0
    var answer: IdentityAnswer?

    init(_ session: ConnectionID, _ voice: Voice, _ aim: Aim) {
        self.session = session
        self.voice = voice
        self.aim = aim
    }
}

extension World {
    // MARK: On its way

    mutating func look(up who: IdentityQuestion.Who, for errand: Errand) {
        var errand = errand
        errand.asked = lastQuestion + 1
        effects.identities.append(IdentityQuestion(number: wait(for: errand), who: who))
    }

    /// An unknown name costs the same hash as a known one, so that the time tells nothing of which names exist.
    private static var hashOfNobody: ByteString {
        "$argon2id$v=19$m=19456,t=2,p=1$cGFybGV5LmNoYXQtLS0tLQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    }

    private mutating func check(_ password: ByteString, for errand: Errand) {
        let known = errand.answer?.account?.credentials.hash ?? ""
        effects.passwords.append(
            PasswordQuestion(
                number: wait(for: errand), password: password, hash: known.isEmpty ? Self.hashOfNobody : known))
    }

    mutating func derive(_ password: ByteString, for errand: Errand) {
        effects.derivations.append(DerivationQuestion(number: wait(for: errand), password: password))
    }

    /// Without an errand nobody waits for it.
    mutating func sendMail(
        to address: ByteString, _ subject: ByteString, _ text: [ByteString], for errand: Errand? = nil
    ) {
        let number = errand.map { wait(for: $0) } ?? 0
        effects.mails.append(Mail(number: number, to: address, subject: subject, text: text))
    }

    private mutating func wait(for errand: Errand) -> Int64 {
        var errand = errand
        if errand.label.isEmpty { errand.label = deferLabel(errand.session) }
        sessions[errand.session].isWaiting = true
        return nextQuestion(.errand(errand))
    }

    // MARK: Back again

    mutating func answered(_ answer: IdentityAnswer) {
        switch pending[answer.number] {
        case .seen(let request):
            pending[answer.number] = nil
            return answered(answer, request)
        case .addressingAccount(let letter):
            pending[answer.number] = nil
            return address(letter, to: answer.account)
        default: break
        }
        guard var errand = takeErrand(answer.number) else { return }
        errand.answer = answer
        if let failure = answer.failure {
            note(.warning, "identity not read: \(failure)")
            refuse(errand, "TEMPORARILY_UNAVAILABLE", "The server could not look you up; try again")
        } else if case .password(let password) = errand.proof {
            check(password, for: errand)
        } else {
            carryOut(errand)
        }
        finish(errand)
    }

    func isErrand(_ number: Int64) -> Bool {
        if case .errand? = pending[number] { true } else { false }
    }

    mutating func passwordVerified(_ number: Int64, _ outcome: PasswordOutcome) {
        guard let errand = takeErrand(number) else { return }
        switch outcome {
        case .right: carryOut(errand)
        case .wrong:
            countFailure(errand)
            refuse(errand, "INVALID_CREDENTIALS", Self.wrongCredentials)
        case .busy: refuse(errand, "TEMPORARILY_UNAVAILABLE", Self.busyText)
        }
        finish(errand)
    }

    mutating func derived(_ number: Int64, _ credentials: Credentials?) {
        guard let errand = takeErrand(number) else { return }
        if let credentials {
            take(credentials, errand)
        } else {
            abandon(errand)
            refuse(errand, "TEMPORARILY_UNAVAILABLE", Self.busyText)
        }
        finish(errand)
    }

    mutating func mailed(_ number: Int64, isSent: Bool) {
        if !isSent { note(.warning, "a mail could not be sent") }
        guard let errand = takeErrand(number) else { return }
        if case .register(let account) = errand.aim { registrationMailed(errand, account, isSent: isSent) }
        finish(errand)
    }

    /// nil: whoever wanted it is gone.
    private mutating func takeErrand(_ number: Int64) -> Errand? {
        guard case .errand(let errand)? = pending.removeValue(forKey: number) else { return nil }
        guard sessions.contains(errand.session), sessions[errand.session].stage != .closing else {
            abandon(errand)
            return nil
        }
        stopWaiting(errand.session)
        if !errand.label.isEmpty { beginResponse(errand.session, label: errand.label) }
        return errand
    }

    private mutating func finish(_ errand: Errand) {
        let session = errand.session
        let isWaiting = sessions[session].isWaiting
        if response.slot == session.index {
            response.isDeferred = isWaiting
            endResponse(session)
        }
        if !isWaiting, sessions[session].stage != .closing { endInputIfOver(session) }
    }

    /// What was looked up and proved is done now.
    private mutating func carryOut(_ errand: Errand) {
        switch errand.aim {
        case .logIn: logIn(errand)
        case .beginScram(let opening): beginScram(errand, opening)
        case .nothing, .register: break
        case .verify(let code): verify(errand, code)
        case .changePassword(let new): changePassword(errand, new)
        case .close: closeAccount(errand)
        case .sendReset: sendReset(errand)
        case .reset(let code, let password): reset(errand, code, password)
        case .listCertificates: listCertificates(errand)
        case .addCertificate(let fingerprint): addCertificate(errand, fingerprint)
        case .claimCertificate(let fingerprint): claimCertificate(errand, fingerprint)
        case .removeCertificate(let fingerprint): removeCertificate(errand, fingerprint)
        }
    }

    private mutating func take(_ credentials: Credentials, _ errand: Errand) {
        switch errand.aim {
        case .register(var account):
            account.credentials = credentials
            register(errand, account)
        case .changePassword: setPassword(errand, credentials)
        case .reset: finishReset(errand, credentials)
        default: break
        }
    }

    /// It comes to nothing: what it held is free.
    private mutating func abandon(_ errand: Errand) {
        if case .register(let account) = errand.aim, account.credentials.hash.isEmpty { releaseName(account) }
    }

    // MARK: Answers

    static var wrongCredentials: ByteString { "The account or its password is not right" }
    static var busyText: ByteString { "The server is busy; try again in a while" }

    /// Refuses in the words of the way it was asked for.
    mutating func refuse(_ errand: Errand, _ code: StaticString, _ why: ByteString) {
        let session = errand.session
        switch errand.voice {
        case .pass:
            reply(to: session, .ERR_PASSWDMISMATCH, ":Password incorrect: \(why)")
            close(session, reason: "Bad password", error: why)
        case .sasl: reply(to: session, .ERR_SASLFAIL, ":SASL authentication failed: \(why)")
        case .resume: fail(session, "IDENTITY", "INVALID_TOKEN", why)
        case .command(let command):
            fail(session, "\(command)", code, why, about: errand.name.isEmpty ? [] : [errand.name])
        case .service: serviceNotice(session, why)
        }
    }

    /// Something was done: `NOTE <command> <code> <account> :<text>`, or NickServ says so.
    mutating func confirm(_ errand: Errand, _ code: StaticString, _ text: ByteString) {
        if case .command(let command) = errand.voice {
            let about = errand.name.isEmpty ? [] : [errand.name]
            tell(errand.session, StandardReplies.note("\(command)", code, about, text))
        } else {
            serviceNotice(errand.session, text)
        }
    }

    /// Another wrong password: counts for the address and for the account.
    mutating func countFailure(_ errand: Errand) {
        countFailure(sessions[errand.session].peer.address)
        if !errand.name.isEmpty { accounts.failures.add(NameKey(errand.name), now: now.steady) }
        note(.info, "wrong password or token from \(sessions[errand.session].peer.address)")
    }

    /// Too many failures from this address, or for this account from anywhere: refused unheard.
    mutating func refuseThrottled(_ errand: Errand) -> Bool {
        let limit = settings.limits.failedAttempts
        let isOver =
            isThrottled(sessions[errand.session].peer.address)
            || !errand.name.isEmpty
                && accounts.failures.count(NameKey(errand.name), now: now.steady) >= 3 * limit
        if isOver { refuse(errand, "TEMPORARILY_UNAVAILABLE", "Too many wrong passwords or tokens; wait a minute") }
        return isOver
    }
}
