import Bytes
import Wire

/// How an errand goes from the store to the hasher, to the journal and to the post, and comes back.
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
        effects.derivations.append(
            DerivationQuestion(number: wait(for: errand), password: password, isOperators: errand.isOperators))
    }

    /// Without an errand nobody waits for it.
    mutating func sendMail(
        to address: ByteString, _ subject: ByteString, _ text: [ByteString], for errand: Errand? = nil
    ) {
        let number = errand.map { wait(for: $0) } ?? 0
        effects.mails.append(Mail(number: number, to: address, subject: subject, text: text))
    }

    /// Nothing is done and nothing told of it before these are stored: then `accomplish` goes on.
    mutating func store(_ changes: [Change], for errand: Errand) {
        if isStoreFailing { return notStored(errand) }
        let first = effects.changes.count
        effects.changes += changes
        effects.awaited.append(
            AwaitedChanges(number: wait(for: errand), changes: first..<effects.changes.count))
    }

    /// What was read of the account must still be true.
    mutating func store(
        _ change: AccountChange, of name: ByteString, and others: [Change] = [], for errand: Errand
    ) {
        var errand = errand
        if errand.asked > 0, accounts.hasChanged(name, since: errand.asked) {
            return refuse(errand, "TEMPORARILY_UNAVAILABLE", Self.changedText)
        }
        if !isStoreFailing { noteChange(of: name) }
        // Its own change is none that others made meanwhile.
        errand.asked = lastQuestion + 1
        store([.account(change)] + others, for: errand)
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
        guard returns(errand) else { return abandon(errand) }
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
        guard returns(errand) else { return abandon(errand) }
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
        guard returns(errand) else { return abandon(errand) }
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
        let isBack = returns(errand)
        if case .register(let account) = errand.aim { registrationMailed(errand, account, isSent: isSent) }
        if isBack { finish(errand) }
    }

    /// What is stored is done, also when whoever wanted it is gone.
    mutating func stored(_ number: Int64, _ isStored: Bool) {
        guard let errand = takeErrand(number) else { return }
        let isBack = returns(errand)
        if isStored { accomplish(errand) } else { notStored(errand) }
        if isBack { finish(errand) }
    }

    private mutating func takeErrand(_ number: Int64) -> Errand? {
        guard case .errand(let errand)? = pending.removeValue(forKey: number) else { return nil }
        return errand
    }

    /// False: whoever wanted it is gone.
    private mutating func returns(_ errand: Errand) -> Bool {
        guard isHere(errand) else { return false }
        stopWaiting(errand.session)
        if !errand.label.isEmpty { beginResponse(errand.session, label: errand.label) }
        return true
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

    /// It comes to nothing: what it held is free.
    private mutating func abandon(_ errand: Errand) {
        if case .register(let account) = errand.aim {
            accounts.registering.remove(account.uid)
            releaseName(account)
        }
    }

    private mutating func notStored(_ errand: Errand) {
        abandon(errand)
        let code: StaticString =
            switch errand.aim {
            case .voidTokens, .setMetadata: "STORE_FULL"
            default: "TEMPORARILY_UNAVAILABLE"
            }
        refuse(errand, code, Self.notStoredText)
    }

    // MARK: What is done at which point

    /// What was looked up and proved is done now.
    private mutating func carryOut(_ errand: Errand) {
        if errand.isOperators, errand.aim.needsAccount, errand.answer?.account?.standing ?? .closed == .closed {
            return refuse(errand, "NO_SUCH_ACCOUNT", "There is no such account")
        }
        switch errand.aim {
        case .nothing, .register, .voidTokens, .setMetadata: break
        case .logIn: logIn(errand)
        case .beginScram(let opening): beginScram(errand, opening)
        case .verify(let code): verify(errand, code)
        case .changePassword(let new): changePassword(errand, new)
        case .close: closeAccount(errand)
        case .sendReset: sendReset(errand)
        case .reset(let code, let password): reset(errand, code, password)
        case .listCertificates: listCertificates(errand)
        case .addCertificate(let fingerprint): addCertificate(errand, fingerprint)
        case .claimCertificate(let fingerprint, let uid): claimCertificate(errand, fingerprint, uid)
        case .removeCertificate(let fingerprint): removeCertificate(errand, fingerprint)
        case .suspend(let reason): suspend(errand, reason)
        case .listAccounts(let mask): listAccounts(errand, mask)
        case .erase(let uid): erase(errand, uid == .none ? errand.answer?.account?.uid : uid)
        }
    }

    private mutating func take(_ credentials: Credentials, _ errand: Errand) {
        switch errand.aim {
        case .register(var account):
            account.credentials = credentials
            register(errand, account)
        case .changePassword, .reset: setPassword(errand, credentials)
        default: break
        }
    }

    /// What was stored is done now.
    private mutating func accomplish(_ errand: Errand) {
        if case .setMetadata(let change) = errand.aim { return metadataStored(errand, change) }
        if case .register(let account) = errand.aim { return accountStored(errand, account) }
        if case .voidTokens = errand.aim { return tokensVoided(errand) }
        if case .claimCertificate(let fingerprint, _) = errand.aim { return certificateAdded(errand, fingerprint) }
        guard let account = errand.answer?.account else { return }
        switch errand.aim {
        case .verify: accountVerified(errand, account)
        case .changePassword, .reset: passwordStored(errand, account)
        case .close: accountClosed(errand, account)
        case .removeCertificate(let fingerprint): certificateRemoved(errand, fingerprint)
        case .suspend(let reason): suspended(errand, account, reason)
        default: break
        }
    }
}

extension Errand.Aim {
    /// It is about one account, which must be there.
    fileprivate var needsAccount: Bool {
        switch self {
        case .changePassword, .close, .listCertificates, .addCertificate, .removeCertificate, .suspend: true
        default: false
        }
    }
}
