import Bytes
import Wire

/// The client's first message (RFC 5802, 7): `n,[a=authzid],n=name,r=nonce`.
struct ScramOpening {
    /// With the last comma: the client repeats it in its second message.
    var header: ByteString
    /// Everything behind the header.
    var bare: ByteString
    var name: ByteString
    var nonce: ByteString

    /// nil: it is none, it asks for channel binding, or for somebody else's account.
    init?(_ data: [UInt8]) {
        let fields = data.split(separator: 0x2C, omittingEmptySubsequences: false).map { ByteString(Array($0)) }
        // `n`, `y`: no channel binding. `p=…` is for SCRAM-SHA-256-PLUS, `m=` an extension that must be understood.
        guard fields.count >= 4, fields[0] == "n" || fields[0] == "y",
            let name = Self.value(fields[2], "n").flatMap(Self.unescape), !name.isEmpty,
            let nonce = Self.value(fields[3], "r"), !nonce.isEmpty
        else { return nil }
        if !fields[1].isEmpty {
            guard let other = Self.value(fields[1], "a").flatMap(Self.unescape), other == name else { return nil }
        }
        header = "\(fields[0]),\(fields[1]),"
        bare = ByteString(Array(data.dropFirst(header.count)))
        self.name = name
        self.nonce = nonce
    }

    /// The rest of `k=rest`.
    static func value(_ field: ByteString, _ key: Unicode.Scalar) -> ByteString? {
        guard field.count >= 2, field[0] == UInt8(ascii: key), field[1] == 0x3D else { return nil }
        return field[2..<field.count]
    }

    /// `=2C` and `=3D` in names.
    private static func unescape(_ name: ByteString) -> ByteString? {
        var out: [UInt8] = []
        var rest = name.bytes[...]
        while let byte = rest.popFirst() {
            if byte != 0x3D {
                out.append(byte)
            } else if rest.starts(with: "2C".utf8) || rest.starts(with: "3D".utf8) {
                out.append(rest.first == 0x32 ? 0x2C : 0x3D)
                rest = rest.dropFirst(2)
            } else {
                return nil
            }
        }
        return ByteString(out)
    }
}

/// What the server knows between the client's messages.
struct ScramExchange {
    var opening: ScramOpening
    var keys: ScramKeys
    /// The row's text of `keys`; empty: there is no such account.
    var known: ByteString
    var nonce: ByteString
    /// The server's first message.
    var challenge: ByteString
    /// The proof was right and the client has to say that it believes us.
    var isProved = false
}

extension World {
    /// Two messages of the client and its empty last one.
    mutating func scram(_ session: ConnectionID, _ exchange: SaslExchange, _ data: [UInt8]) {
        guard let scram = exchange.scram else {
            guard let opening = ScramOpening(data) else { return failSasl(session) }
            var errand = Errand(session, .sasl, .beginScram(opening))
            errand.name = opening.name
            if refuseThrottled(errand) { return }
            return look(up: .account(opening.name.withView { Names.fold($0) }), for: errand)
        }
        if !scram.isProved { return prove(session, scram, data) }
        guard data.isEmpty else { return failSasl(session) }
        var errand = Errand(session, .sasl, .logIn)
        errand.name = scram.opening.name
        errand.proof = .scram(scram.known)
        look(up: .account(scram.opening.name.withView { Names.fold($0) }), for: errand)
    }

    /// Who is unknown gets salt and iterations like everybody else: nothing tells which names exist.
    mutating func beginScram(_ errand: Errand, _ opening: ScramOpening) {
        let known = errand.answer?.account?.credentials.scram ?? ""
        let folded = opening.name.withView { Names.fold($0) }
        let keys = ScramKeys(known) ?? ScramKeys(forNobody: folded, ports.mac)
        let nonce: ByteString = "\(opening.nonce)\(secretText("nonce", length: 24))"
        let challenge: ByteString = "r=\(nonce),s=\(Base64.encode(keys.salt)),i=\(keys.iterations)"
        accounts.exchanges[errand.session.index] = SaslExchange(
            mechanism: .scram,
            scram: ScramExchange(opening: opening, keys: keys, known: known, nonce: nonce, challenge: challenge))
        sendSasl(errand.session, challenge)
    }

    /// `c=<header>,r=<nonce>,p=<proof>`
    private mutating func prove(_ session: ConnectionID, _ scram: ScramExchange, _ data: [UInt8]) {
        let fields = data.split(separator: 0x2C, omittingEmptySubsequences: false).map { ByteString(Array($0)) }
        guard fields.count >= 3, fields[0] == "c=\(Base64.encode(scram.opening.header.bytes))",
            fields[1] == "r=\(scram.nonce)",
            let proof = ScramOpening.value(fields[fields.count - 1], "p")?.withView({ Base64.decode($0) })
        else { return failSasl(session) }
        let withoutProof = data.prefix(data.count - fields[fields.count - 1].count - 1)
        let message = scram.opening.bare.bytes + [0x2C] + scram.challenge.bytes + [0x2C] + withoutProof
        guard scram.keys.accepts(proof: proof, for: message, ports.digest), !scram.known.isEmpty else {
            var errand = Errand(session, .sasl, .logIn)
            errand.name = scram.opening.name
            countFailure(errand)
            return refuse(errand, "INVALID_CREDENTIALS", Self.wrongCredentials)
        }
        var proved = scram
        proved.isProved = true
        accounts.exchanges[session.index] = SaslExchange(mechanism: .scram, scram: proved)
        sendSasl(session, "v=\(Base64.encode(ports.digest.hmac(scram.keys.serverKey, message)))")
    }

    /// A message of ours, in parts of 400 bytes of base64.
    private mutating func sendSasl(_ session: ConnectionID, _ message: ByteString) {
        let text = Base64.encode(message.bytes)
        var start = 0
        while text.count - start >= SaslExchange.chunk {
            sendRaw(session, "AUTHENTICATE \(text[start..<start + SaslExchange.chunk])")
            start += SaslExchange.chunk
        }
        let rest = text[start..<text.count]
        sendRaw(session, "AUTHENTICATE \(rest.isEmpty ? "+" : rest)")
    }

    /// Text that nobody can guess: a MAC of what never comes twice.
    mutating func secretText(_ purpose: StaticString, length: Int) -> ByteString {
        lastReference += 1
        let unique: ByteString = "\(purpose):\(ports.seed).\(random.next()).\(lastReference).\(now.wall)"
        return Base32.encode(ports.mac(unique.bytes))[0..<length]
    }
}
