import Bytes
import Wire

/// The one gate that every way into an identity goes through: PASS, SASL of each kind, NickServ, tokens, certificates
/// and VERIFY.
enum Admission {
    case guest
    case account(ByteString)
    case refused(ByteString)
}

extension World {
    /// Whoever gets here has proved who it is; whether it may come in is decided here and nowhere else.
    private func admission(_ errand: Errand, _ uid: UID, _ account: AccountState?) -> Admission {
        if let why = crowded(uid, errand.session) { return .refused(why) }
        if accounts.wasErased(uid, since: errand.asked) { return .refused("This identity was erased just now") }
        guard let account else { return .guest }
        if accounts.hasChanged(account.name, since: errand.asked) { return .refused(Self.changedText) }
        if !account.suspension.isEmpty { return .refused("This account is suspended: \(account.suspension)") }
        switch account.standing {
        case .open: return .account(account.name)
        case .closed: return .refused("This account was unregistered")
        case .unverified:
            // Until then the identity is the guest's that asked for the account.
            if case .token = errand.proof { return .guest }
            return .refused(
                "This account is not verified yet: VERIFY \(account.name) <code>, with the code sent by mail")
        }
    }

    /// Why this session cannot be one more of the identity; nil: it can. Many may have proved to be it before the first
    /// of them is in, so that it is asked again then.
    func crowded(_ uid: UID, _ session: ConnectionID) -> ByteString? {
        let limit = settings.limits.sessionsPerIdentity
        guard let online = identities[uid], users[online].sessions.count >= limit,
            !users[online].sessions.contains(session)
        else { return nil }
        return "This identity has \(limit) sessions already"
    }

    mutating func logIn(_ errand: Errand) {
        guard let answer = errand.answer else { return }
        let account = answer.account
        var uid = account?.uid
        switch errand.proof {
        case .token(let own, let epoch):
            uid = own
            if epoch != currentEpoch(own, answer) {
                countFailure(errand)
                return refuse(errand, "INVALID_TOKEN", "This token was revoked")
            }
        case .scram(let keys):
            // They were replaced while the client made its proof.
            if account?.credentials.scram != keys {
                return refuse(errand, "INVALID_CREDENTIALS", Self.wrongCredentials)
            }
        case .none:
            // Whose the certificate is must be whom it was shown for, if anybody was named.
            if !errand.name.isEmpty, account.map({ NameKey($0.name) }) != NameKey(errand.name) { uid = nil }
        case .password: break
        }
        guard let uid else {
            countFailure(errand)
            return refuse(errand, "INVALID_CREDENTIALS", Self.wrongCredentials)
        }
        admit(errand, uid, answer)
    }

    private func currentEpoch(_ uid: UID, _ answer: IdentityAnswer) -> Int64 {
        identities[uid].map { users[$0].epoch } ?? answer.state?.epoch ?? 0
    }

    /// Lets somebody in whose proof was right, if the gate does.
    mutating func admit(_ errand: Errand, _ uid: UID, _ answer: IdentityAnswer) {
        var account: ByteString = ""
        switch admission(errand, uid, answer.account) {
        case .refused(let why):
            note(.info, "\(answer.account?.name ?? uid.text) was not let in: \(why)")
            return refuse(errand, "ACCOUNT_UNAVAILABLE", why)
        case .guest: break
        case .account(let name): account = name
        }
        let returning = Returning(
            uid: uid, epoch: currentEpoch(uid, answer), state: answer.state, members: answer.members,
            metadata: answer.metadata,
            correspondence: answer.correspondence,
            account: account)
        welcomeBack(errand, returning)
    }

    /// Each way says in its own words that it succeeded; then the session is who it proved to be.
    private mutating func welcomeBack(_ errand: Errand, _ returning: Returning) {
        let session = errand.session
        let isRegistered = sessions[session].stage == .registered
        if !returning.account.isEmpty { tellLoggedIn(session, returning.account) }
        switch errand.voice {
        case .sasl: saslSucceeded(session)
        case .service: serviceNotice(session, "You are now logged in as \(returning.account)")
        case .pass, .resume, .command: break
        }
        if isRegistered {
            if case .resume = errand.voice { return resumeAs(session, returning) }
            return become(session, returning)
        }
        openings[session.index]?.returning = returning
        switch errand.voice {
        case .resume: completeResumed(session)
        case .pass:
            // A person who says nothing more is complete without a NICK: the identity has one.
            if sessions[session].manner == .undecided {
                deadlines.add(now.steady + settings.limits.plainDelay, .completePlain, session)
            }
            completeClient(session)
        case .sasl, .service, .command: completeClient(session)
        }
    }

    /// 900 (IRCv3 sasl).
    mutating func tellLoggedIn(_ session: ConnectionID, _ account: ByteString) {
        reply(
            to: session, .RPL_LOGGEDIN, "\(maskShown(of: session)) \(account) :You are now logged in as \(account)")
    }

    /// `nick!user@host`, also of who has not registered yet.
    func maskShown(of session: ConnectionID) -> ByteString {
        if let user = sessions[session].user { return users[user].source }
        let username = openings[session.index]?.username ?? ""
        return "\(nickShown(to: session))!\(username.isEmpty ? "*" : username)@\(sessions[session].peer.host)"
    }
}
