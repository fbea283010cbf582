import COpenSSL
import CSystem
import Glibc

package enum Crypto {
    /// RFC 2104 with SHA-256: 32 bytes.
    package static func hmacSHA256(key: [UInt8], _ data: [UInt8]) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let result = HMAC(EVP_sha256(), key, Int32(key.count), data, data.count, &out, &length)
        precondition(result != nil && length == 32, "HMAC-SHA256 failed: \(takeTLSError())")
        return out
    }

    package static func sha256(_ data: [UInt8]) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let result = EVP_Digest(data, data.count, &out, &length, EVP_sha256(), nil)
        precondition(result == 1 && length == 32, "SHA-256 failed: \(takeTLSError())")
        return out
    }

    /// For the handshake of WebSockets alone, whose protocol has it: nothing relies on its strength.
    package static func sha1(_ data: [UInt8]) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: 20)
        var length: UInt32 = 0
        let result = EVP_Digest(data, data.count, &out, &length, EVP_sha1(), nil)
        precondition(result == 1 && length == 20, "SHA-1 failed: \(takeTLSError())")
        return out
    }

    /// RFC 8018 with HMAC-SHA256: 32 bytes.
    package static func pbkdf2SHA256(_ password: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: 32)
        let result = password.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                PKCS5_PBKDF2_HMAC(
                    $0.baseAddress, Int32($0.count), salt, Int32(salt.count), Int32(iterations), EVP_sha256(), 32, &out)
            }
        }
        precondition(result == 1, "PBKDF2 failed: \(takeTLSError())")
        return out
    }

    /// From getrandom(2): fit for tokens and seeds. There is nothing to fall back to: a failure ends the process.
    package static func randomBytes(_ n: Int) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: n)
        out.withUnsafeMutableBytes { room in
            var done = 0
            while done < n {
                let count = getrandom(room.baseAddress! + done, n - done, 0)
                precondition(count > 0 || errno == EINTR, "getrandom failed: \(SystemError.text(errno))")
                done += max(0, count)
            }
        }
        return out
    }
}

/// SHA-256 of what comes in pieces.
package final class RunningSHA256 {
    private let context: OpaquePointer

    package init() {
        let made = EVP_MD_CTX_new()
        guard let made, EVP_DigestInit_ex(made, EVP_sha256(), nil) == 1 else {
            preconditionFailure("SHA-256 failed: \(takeTLSError())")
        }
        context = made
    }

    deinit { EVP_MD_CTX_free(context) }

    package func add(_ bytes: UnsafeRawBufferPointer) {
        let result = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(result == 1, "SHA-256 failed: \(takeTLSError())")
    }

    /// Once.
    package func finish() -> [UInt8] {
        var out = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let result = EVP_DigestFinal_ex(context, &out, &length)
        precondition(result == 1 && length == 32, "SHA-256 failed: \(takeTLSError())")
        return out
    }
}
