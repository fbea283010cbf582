import Bytes
import COpenSSL
import Glibc

/// One peer's TLS over its socket, or none: plain connections hold an inactive one.
///
/// OpenSSL reads and writes the descriptor itself (SSL_set_fd): memory BIOs cost 1.5 to 2 times as much.
struct TLSSession: ~Copyable {
    /// The peer broke the protocol; `errorText` has OpenSSL's words until the next call.
    static let protocolFailure: Int32 = -1

    private var ssl: OpaquePointer?

    init() { ssl = nil }

    init(_ ssl: OpaquePointer) { self.ssl = ssl }

    deinit { SSL_free(ssl) }

    @inline(__always)
    var isActive: Bool { ssl != nil }

    /// SHA-256 of the peer's certificate, in hex; empty: there is none.
    var certificate: ByteString {
        guard let ssl, let certificate = SSL_get1_peer_certificate(ssl) else { return "" }
        defer { X509_free(certificate) }
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        guard X509_digest(certificate, EVP_sha256(), &digest, &length) == 1, length == 32 else { return "" }
        return Hex.encode(digest)
    }

    /// `.bytes` when it is done.
    func handshake() -> Transfer {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        return result == 1 ? .bytes(0) : failure(result)
    }

    func read(_ room: UnsafeMutableRawBufferPointer) -> Transfer {
        ERR_clear_error()
        let count = SSL_read(ssl, room.baseAddress!, Int32(room.count))
        return count > 0 ? .bytes(Int(count)) : failure(count)
    }

    /// After `.wantsWriting` the same bytes must come first in the next call; they may have moved and more may follow.
    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        ERR_clear_error()
        let count = SSL_write(ssl, bytes.baseAddress!, Int32(clamping: bytes.count))
        if count > 0 { return .bytes(Int(count)) }
        let failure = failure(count)
        if case .wouldBlock = failure { return .wantsWriting }
        return failure
    }

    /// False when the kernel took no more and it must be tried again.
    func sendCloseNotify() -> Bool {
        ERR_clear_error()
        let result = SSL_shutdown(ssl)
        return result >= 0 || SSL_get_error(ssl, result) != SSL_ERROR_WANT_WRITE
    }

    private func failure(_ result: Int32) -> Transfer {
        let systemError = errno
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wouldBlock
        case SSL_ERROR_WANT_WRITE: return .wantsWriting
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL: return systemError == 0 ? .ended : .failed(systemError)
        default: return .failed(TLSSession.protocolFailure)
        }
    }
}

/// The oldest error of this thread in OpenSSL's words, and the end of all of them.
func takeTLSError() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    if code == 0 { return "unknown error" }
    if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
    return "error \(code)"
}
