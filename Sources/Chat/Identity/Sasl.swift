import Bytes
import Wire

let authenticateCommand = Command(
    "AUTHENTICATE", minimum: 1, access: .opening, source: "IRCv3 SASL",
    help: [
        "AUTHENTICATE <mechanism>",
        "Used by IRC clients. By hand PASS <account>:<password> or PASS guest:<token> does the same.",
        "Example: AUTHENTICATE PLAIN",
    ]
) { world, turn in
    if world.sessions[turn.session].stage == .opening { world.sessions[turn.session].manner = .client }
    world.authenticate(turn)
}

/// SASL under way in one session (IRCv3 SASL 3.2).
struct SaslExchange {
    enum Mechanism: CaseIterable {
        case plain, scram, external, anonymous

        var name: StaticString {
            switch self {
            case .plain: "PLAIN"
            case .scram: "SCRAM-SHA-256"
            case .external: "EXTERNAL"
            case .anonymous: "ANONYMOUS"
            }
        }
    }

    var mechanism: Mechanism
    /// What came of the response so far.
    var data: ByteString = ""
    var scram: ScramExchange?

    /// Bytes of base64 in one AUTHENTICATE; a shorter one ends the response.
    static var chunk: Int { 400 }
    /// Bytes of base64 in one response.
    static var longest: Int { 1200 }
}

extension World {
    /// EXTERNAL needs a connection that can show a certificate.
    func mechanisms(for session: ConnectionID) -> ByteString {
        let all = SaslExchange.Mechanism.allCases.filter { $0 != .external || sessions[session].peer.isTLS }
        return wrap(all.map { ByteString(ByteView($0.name)) }, width: .max, separator: 0x2C)[0]
    }

    fileprivate mutating func authenticate(_ turn: Turn) {
        let session = turn.session
        let word = turn[0]
        if word == "*" {
            accounts.exchanges[session.index] = nil
            return reply(turn, .ERR_SASLABORTED, ":SASL authentication aborted")
        }
        guard var exchange = accounts.exchanges[session.index] else { return beginSasl(turn, word) }
        accounts.exchanges[session.index] = nil
        if word.count > SaslExchange.chunk { return reply(turn, .ERR_SASLTOOLONG, ":SASL message too long") }
        if exchange.data.count + word.count > SaslExchange.longest {
            return failSasl(session, ": the response is longer than \(SaslExchange.longest) bytes")
        }
        if word != "+" { exchange.data = "\(exchange.data)\(word)" }
        if word.count == SaslExchange.chunk {
            accounts.exchanges[session.index] = exchange
            return
        }
        guard let data = exchange.data.withView({ Base64.decode($0) }) else { return failSasl(session, ": not base64") }
        exchange.data = ""
        respond(turn, exchange, data)
    }

    private mutating func beginSasl(_ turn: Turn, _ word: ByteView) {
        let session = turn.session
        let wanted = SaslExchange.Mechanism.allCases.first { word.equalsIgnoringCase($0.name) }
        guard let wanted, wanted != .external || sessions[session].peer.isTLS else {
            reply(turn, .RPL_SASLMECHS, "\(mechanisms(for: session)) :are available SASL mechanisms")
            return failSasl(session)
        }
        accounts.exchanges[session.index] = SaslExchange(mechanism: wanted)
        sendRaw(session, "AUTHENTICATE +")
    }

    private mutating func respond(_ turn: Turn, _ exchange: SaslExchange, _ data: [UInt8]) {
        let session = turn.session
        switch exchange.mechanism {
        case .plain: plain(session, data)
        case .external: external(session, data)
        case .anonymous:
            // Who is somebody already does not become nobody by this.
            if turn.user != nil { return reply(turn, .ERR_SASLALREADY, ":You are somebody already; LOGOUT ends that") }
            openings[session.index]?.returning = nil
            saslSucceeded(session)
        case .scram: scram(session, exchange, data)
        }
    }

    /// authzid NUL authcid NUL password (RFC 4616); a uid as name has its token as password.
    private mutating func plain(_ session: ConnectionID, _ data: [UInt8]) {
        let parts = data.split(separator: 0, omittingEmptySubsequences: false).map { ByteString(Array($0)) }
        guard parts.count == 3, !parts[1].isEmpty, !parts[2].isEmpty,
            parts[0].isEmpty || parts[0].withView({ one in parts[1].withView { one.equalsIgnoringCase($0) } })
        else { return failSasl(session) }
        let errand = Errand(session, .sasl, .logIn)
        parts[1].withView { name in
            guard UID(name) != nil else { return logIn(errand, name, password: parts[2]) }
            parts[2].withView { token in
                guard token.hasPrefix(name) else {
                    countFailure(errand)
                    return refuse(errand, "INVALID_TOKEN", Self.wrongCredentials)
                }
                resume(errand, token: token)
            }
        }
    }

    /// The client certificate, and nothing or the account's name (RFC 4422, appendix A).
    private mutating func external(_ session: ConnectionID, _ data: [UInt8]) {
        let certificate = sessions[session].peer.certificate
        if certificate.isEmpty { return failSasl(session, ": your connection showed no certificate") }
        var errand = Errand(session, .sasl, .logIn)
        errand.name = ByteString(data)
        if refuseThrottled(errand) { return }
        look(up: .certificate(certificate), for: errand)
    }

    mutating func failSasl(_ session: ConnectionID, _ why: ByteString = "") {
        reply(to: session, .ERR_SASLFAIL, ":SASL authentication failed\(why)")
    }

    /// A guest has no account to name in 900: it gets 903 alone.
    mutating func saslSucceeded(_ session: ConnectionID) {
        reply(to: session, .RPL_SASLSUCCESS, ":SASL authentication successful")
    }

    /// Registration ends while it is under way: it goes on without (IRCv3 SASL 3.1).
    mutating func abortSasl(_ session: ConnectionID) {
        guard accounts.exchanges.removeValue(forKey: session.index) != nil else { return }
        reply(to: session, .ERR_SASLABORTED, ":SASL authentication aborted")
    }

    // MARK: Names and passwords

    /// Begins a login by password.
    mutating func logIn(_ errand: Errand, _ name: ByteView, password: ByteString) {
        var errand = errand
        errand.name = ByteString(name)
        errand.proof = .password(password)
        if refuseThrottled(errand) { return }
        look(up: .account(Names.fold(name)), for: errand)
    }
}
