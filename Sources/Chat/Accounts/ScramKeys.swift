package import Bytes

/// What is kept for SCRAM-SHA-256 (RFC 5802, RFC 7677), in the form that RFC 5803 gives it:
/// `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`.
package struct ScramKeys: Sendable {
    /// As many as keep a login below a tenth of a second for a client without hardware support.
    package static let iterations = 65_536

    package let iterations: Int
    package let salt: [UInt8]
    package let storedKey: [UInt8]
    package let serverKey: [UInt8]

    /// - Parameter saltedPassword: PBKDF2 of the password, 32 bytes.
    package init(saltedPassword: [UInt8], salt: [UInt8], iterations: Int = ScramKeys.iterations, _ digest: Digest) {
        self.iterations = iterations
        self.salt = salt
        storedKey = digest.sha256(digest.hmac(saltedPassword, Array("Client Key".utf8)))
        serverKey = digest.hmac(saltedPassword, Array("Server Key".utf8))
    }

    /// nil: not in this form.
    package init?(_ text: ByteString) {
        let parts = text.withView { $0.parts(0x24).map { ByteString($0) } }
        guard parts.count == 3, parts[0] == "SCRAM-SHA-256" else { return nil }
        let cost = parts[1].withView { $0.parts(0x3A).map { ByteString($0) } }
        let keys = parts[2].withView { $0.parts(0x3A).map { ByteString($0) } }
        guard cost.count == 2, keys.count == 2, let iterations = cost[0].withView({ $0.decimal() }),
            let salt = cost[1].withView({ Base64.decode($0) }), let stored = keys[0].withView({ Base64.decode($0) }),
            let server = keys[1].withView({ Base64.decode($0) })
        else { return nil }
        self.iterations = iterations
        self.salt = salt
        storedKey = stored
        serverKey = server
    }

    /// For names that no account has: the same ones each time, and no password fits them.
    init(forNobody name: ByteString, _ mac: ([UInt8]) -> [UInt8]) {
        iterations = ScramKeys.iterations
        salt = Array(mac(Array("scram-salt:".utf8) + name.bytes).prefix(16))
        storedKey = mac(Array("scram-stored:".utf8) + name.bytes)
        serverKey = mac(Array("scram-server:".utf8) + name.bytes)
    }

    package var text: ByteString {
        let cost: ByteString = "\(iterations):\(Base64.encode(salt))"
        return "SCRAM-SHA-256$\(cost)$\(Base64.encode(storedKey)):\(Base64.encode(serverKey))"
    }

    /// Whether the client's proof for this exchange is right.
    package func accepts(proof: [UInt8], for message: [UInt8], _ digest: Digest) -> Bool {
        let signature = digest.hmac(storedKey, message)
        guard proof.count == signature.count else { return false }
        let clientKey = zip(proof, signature).map { $0 ^ $1 }
        let found = ByteString(digest.sha256(clientKey))
        return found.withView { one in ByteString(storedKey).withView { constantTimeEquals(one, $0) } }
    }
}
