import Bytes
import Wire

/// Something that somebody wants of an account and that takes the store, the hasher or the post: it goes from one to
/// the other by number and comes back (`ErrandCourse.swift`) each time. The session's input waits meanwhile.
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
        case claimCertificate(ByteString, UID)
        case removeCertificate(ByteString)
        /// IDENTITY REVOKE.
        case voidTokens
        case setMetadata(MetadataChange)
        /// No reason lifts it.
        case suspend(reason: ByteString)
        case listAccounts(mask: ByteString)
        /// `none`: whose the account is that is looked up.
        case erase(UID)
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
    /// The operator who wants it of somebody else's account, for the log; empty: it is one's own.
    var operatorName: ByteString = ""
    /// Sent by mail when its proof is stored.
    var code: ByteString = ""
    /// Of the tokens that are right when it is done.
    var epoch: Int64 = 0
    /// The number of the question that `answer` answers.
    var asked: Int64 = 0
    var answer: IdentityAnswer?

    init(_ session: ConnectionID, _ voice: Voice, _ aim: Aim) {
        self.session = session
        self.voice = voice
        self.aim = aim
    }

    var isOperators: Bool { !operatorName.isEmpty }

    /// What standard replies name.
    fileprivate var about: [ByteString] { name.isEmpty ? [] : [name] }
}

extension World {
    // MARK: Answers

    static var wrongCredentials: ByteString { "The account or its password is not right" }
    static var busyText: ByteString { "The server is busy; try again in a while" }
    static var notStoredText: ByteString {
        "The server cannot store this now; nothing was changed. Try again in a while"
    }
    static var changedText: ByteString { "The account was changed just now; try again" }

    /// Whoever sent it can still be told.
    func isHere(_ errand: Errand) -> Bool {
        sessions.contains(errand.session) && sessions[errand.session].stage != .closing
    }

    /// Refuses in the words of the way it was asked for.
    mutating func refuse(_ errand: Errand, _ code: StaticString, _ why: ByteString) {
        guard isHere(errand) else { return }
        let session = errand.session
        switch errand.voice {
        case .pass:
            reply(to: session, .ERR_PASSWDMISMATCH, ":Password incorrect: \(why)")
            close(session, reason: "Bad password", error: why)
        case .sasl: reply(to: session, .ERR_SASLFAIL, ":SASL authentication failed: \(why)")
        case .resume: fail(session, "IDENTITY", "INVALID_TOKEN", why)
        case .command(let command):
            fail(session, "\(command)", code, why, about: errand.about)
        case .service: serviceNotice(session, why)
        }
    }

    /// Something was done: `NOTE <command> <code> <account> :<text>`, or NickServ says so.
    mutating func confirm(_ errand: Errand, _ code: StaticString, _ text: ByteString) {
        if isHere(errand) { sendRaw(errand.session, confirmation(errand, code, text)) }
    }

    /// The same, unless the batch in work is refused.
    mutating func confirmIfStored(_ errand: Errand, _ code: StaticString, _ text: ByteString) {
        guard isHere(errand) else { return }
        var failure = serviceLine(errand.session, Self.notStoredText)
        if case .command(let command) = errand.voice {
            let fail = StandardReplies.fail(
                "\(command)", "TEMPORARILY_UNAVAILABLE", errand.about, Self.notStoredText)
            failure = ":\(settings.serverName) \(fail)"
        }
        sendRaw(errand.session, confirmation(errand, code, text), otherwise: failure)
    }

    private func confirmation(_ errand: Errand, _ code: StaticString, _ text: ByteString) -> ByteString {
        guard case .command(let command) = errand.voice else { return serviceLine(errand.session, text) }
        return ":\(settings.serverName) \(StandardReplies.note("\(command)", code, errand.about, text))"
    }

    /// What was done is in the log: with the operator who did it to somebody, or as `own`.
    mutating func note(_ errand: Errand, _ did: ByteString, own: ByteString) {
        note(.info, errand.isOperators ? "operator \(errand.operatorName) \(did)" : own)
    }

    // MARK: Wrong passwords

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
