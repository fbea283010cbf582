package import Bytes
import CArgon2
import CSystem
import Chat
import Net

/// Passwords as they are kept: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash` (RFC 9106; the cost is OWASP's first choice).
package enum PasswordHash {
    /// KiB: 19 MiB, about 33 ms a check.
    static let memory: UInt32 = 19 * 1024
    static let passes: UInt32 = 2
    /// Before a password that is kept in clear in the configuration.
    package static let plainPrefix = "plain:"
    /// Bytes. A hash costs the same for any length; this keeps a line of input a line.
    package static let longestPassword = 1024

    /// With a random salt of 16 bytes. nil: no memory.
    package static func make(_ password: [UInt8]) -> String? {
        var salt = [UInt8](repeating: 0, count: 16)
        guard getrandom(&salt, salt.count, 0) == salt.count else { return nil }
        let length = argon2_encodedlen(passes, memory, 1, UInt32(salt.count), 32, Argon2_id)
        var encoded = [CChar](repeating: 0, count: length)
        let code = argon2id_hash_encoded(
            passes, memory, 1, password, password.count, salt, salt.count, 32, &encoded, encoded.count)
        guard code == ARGON2_OK.rawValue else { return nil }
        return String(decoding: encoded.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// What is kept of an account's password; nil: no memory.
    static func credentials(_ password: [UInt8]) -> Credentials? {
        guard let hash = make(password) else { return nil }
        let salt = Crypto.randomBytes(16)
        let salted = Crypto.pbkdf2SHA256(password, salt: salt, iterations: ScramKeys.iterations)
        let digest = Digest(sha256: { Crypto.sha256($0) }, hmac: { Crypto.hmacSHA256(key: $0, $1) })
        let keys = ScramKeys(saltedPassword: salted, salt: salt, digest)
        return Credentials(hash: ByteString(hash), scram: keys.text)
    }

    /// Takes as long as the hash's own cost says. `plain:` is compared in a time that depends on the lengths alone.
    package static func matches(_ password: ByteView, _ hash: ByteString) -> Bool {
        hash.withView { view in
            if view.hasPrefix(plainView) { return constantTimeEquals(view.dropFirst(plainView.count), password) }
            guard isWellFormed(hash.string) else { return false }
            return hash.string.withCString { argon2id_verify($0, password.raw.baseAddress, password.count) }
                == ARGON2_OK.rawValue
        }
    }

    /// In argon2's own form, with a cost that cannot stop the server: at most 1 GiB, 16 passes, 16 lanes.
    package static func isWellFormed(_ text: String) -> Bool {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].isEmpty, parts[1] == "argon2id", parts[2] == "v=19" else { return false }
        let costs = parts[3].split(separator: ",", omittingEmptySubsequences: false)
        guard costs.count == 3,
            let memory = number(costs[0], "m="), let passes = number(costs[1], "t="), let lanes = number(costs[2], "p=")
        else { return false }
        return (8...1 << 20).contains(memory) && (1...16).contains(passes) && (1...16).contains(lanes)
            && isBase64(parts[4], atLeast: 11) && isBase64(parts[5], atLeast: 22)
    }

    private static var plainView: ByteView { ByteView("plain:") }

    private static func number(_ text: Substring, _ prefix: String) -> Int? {
        text.hasPrefix(prefix) ? Int(text.dropFirst(prefix.count)) : nil
    }

    /// Without padding, as argon2 writes it.
    private static func isBase64(_ text: Substring, atLeast shortest: Int) -> Bool {
        text.utf8.count >= shortest && text.utf8.count <= 128
            && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2B || $0 == 0x2F }
    }
}
