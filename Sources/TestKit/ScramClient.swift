import Bytes
import Chat
import Net

/// SCRAM-SHA-256 as a client does it (RFC 5802, RFC 7677), each message in base64 as AUTHENTICATE carries it.
package struct ScramClient {
    /// What makes the password slow to try: salt and iterations come with the server's challenge.
    package typealias Salting = (_ password: [UInt8], _ salt: [UInt8], _ iterations: Int) -> [UInt8]

    package var header = "n,,"
    private let password: String
    private let salted: Salting
    private let nonce = "rOprNGfwEbeRWgbNEkqO"
    private let bare: String

    package init(
        _ name: String, _ password: String,
        salted: @escaping Salting = { Crypto.pbkdf2SHA256($0, salt: $1, iterations: $2) }
    ) {
        self.password = password
        self.salted = salted
        bare = "n=\(name),r=\(nonce)"
    }

    package var first: String { Base64.encode(Array("\(header)\(bare)".utf8)).string }

    /// The second message and what the server must answer it with; nil: the challenge is none.
    package func answer(_ challenge: some StringProtocol) -> (message: String, signature: String)? {
        guard let bytes = ByteString(String(challenge)).withView({ Base64.decode($0) }) else { return nil }
        let server = String(decoding: bytes, as: UTF8.self)
        let fields = server.split(separator: ",")
        guard fields.count == 3, fields[0].hasPrefix("r=\(nonce)"), fields[0].count > nonce.count + 2,
            let salt = ByteString(String(fields[1].dropFirst(2))).withView({ Base64.decode($0) }),
            let iterations = Int(fields[2].dropFirst(2)), iterations >= 4096
        else { return nil }
        let plain = "c=\(Base64.encode(Array(header.utf8))),\(fields[0])"
        let message = Array("\(bare),\(server),\(plain)".utf8)
        let key = salted(Array(password.utf8), salt, iterations)
        let clientKey = Crypto.hmacSHA256(key: key, Array("Client Key".utf8))
        let signature = Crypto.hmacSHA256(key: Crypto.sha256(clientKey), message)
        let proof = Base64.encode(zip(clientKey, signature).map { $0 ^ $1 })
        let serverKey = Crypto.hmacSHA256(key: key, Array("Server Key".utf8))
        let expected = "v=\(Base64.encode(Crypto.hmacSHA256(key: serverKey, message)))"
        return (
            Base64.encode(Array("\(plain),p=\(proof)".utf8)).string, Base64.encode(Array(expected.utf8)).string
        )
    }
}
