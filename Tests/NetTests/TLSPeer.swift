import COpenSSL
import Glibc
import Net
import Testing

/// A TLS client over a `Peer`'s socket that never blocks, by OpenSSL.
final class TLSPeer {
    private let peer: Peer
    private let ssl: OpaquePointer
    private(set) var bytes: [UInt8] = []
    private(set) var isConnected = false
    /// close_notify came.
    private(set) var isEnded = false
    private(set) var hasFailed = false

    init(
        _ port: UInt16, version: Int32 = TLS1_3_VERSION, alpn: [String] = [], receiveBuffer: Int32? = nil,
        certificate: TestCertificate? = nil, resuming session: OpaquePointer? = nil
    ) throws {
        peer = try Peer(port, receiveBuffer: receiveBuffer)
        let context = SSL_CTX_new(TLS_client_method())!
        defer { SSL_CTX_free(context) }
        _ = shim_SSL_CTX_set_min_proto_version(context, version)
        _ = shim_SSL_CTX_set_max_proto_version(context, version)
        _ = shim_SSL_CTX_set_mode(
            context, Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
        let offers = alpn.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !offers.isEmpty { SSL_CTX_set_alpn_protos(context, offers, UInt32(offers.count)) }
        if let certificate {
            SSL_CTX_use_certificate_file(context, certificate.certificateFile, SSL_FILETYPE_PEM)
            SSL_CTX_use_PrivateKey_file(context, certificate.keyFile, SSL_FILETYPE_PEM)
        }
        ssl = SSL_new(context)!
        if let session { SSL_set_session(ssl, session) }
        SSL_set_fd(ssl, peer.descriptor)
        SSL_set_connect_state(ssl)
    }

    deinit { SSL_free(ssl) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// To be freed by the caller.
    var session: OpaquePointer? { SSL_get1_session(ssl) }

    var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    var version: String { String(cString: SSL_get_version(ssl)) }

    var selectedALPN: String {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// SHA-256 of the server's certificate.
    var fingerprint: String {
        let certificate = SSL_get1_peer_certificate(ssl)
        defer { X509_free(certificate) }
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        X509_digest(certificate, EVP_sha256(), &digest, &length)
        let digits = Array("0123456789abcdef")
        return String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// Goes on with the handshake or reads what there is.
    @discardableResult
    func poll() -> TLSPeer {
        if !isConnected {
            ERR_clear_error()
            let result = SSL_do_handshake(ssl)
            if result != 1 {
                note(result)
                return self
            }
            isConnected = true
        }
        var room = [UInt8](repeating: 0, count: 65_536)
        while !isEnded, !hasFailed {
            ERR_clear_error()
            let count = SSL_read(ssl, &room, Int32(room.count))
            if count <= 0 {
                note(count)
                return self
            }
            bytes += room[0..<Int(count)]
        }
        return self
    }

    private func note(_ result: Int32) {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
        case SSL_ERROR_ZERO_RETURN: isEnded = true
        default: hasFailed = true
        }
    }

    /// How many bytes the kernel took.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Int {
        ERR_clear_error()
        return Int(SSL_write(ssl, bytes, Int32(bytes.count)))
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// close_notify; the socket stays open.
    func endWriting() { SSL_shutdown(ssl) }

    /// Ends the socket's stream alone.
    func endWritingRudely() { peer.endWriting() }

    func renegotiate() -> Bool { SSL_renegotiate(ssl) == 1 && SSL_do_handshake(ssl) == 1 }
}

/// A certificate in a directory of its own, removed with it.
final class TestCertificate {
    private let directory: String
    var certificateFile: String { directory + "/cert.pem" }
    var keyFile: String { directory + "/key.pem" }

    init() throws {
        var template = Array("/tmp/net-tests-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try renew()
    }

    deinit {
        for file in [certificateFile, keyFile, directory + "/empty.pem"] { unlink(file) }
        rmdir(directory)
    }

    func renew() throws {
        try makeSelfSignedCertificate(
            certificateFile: certificateFile, keyFile: keyFile, commonName: "chat.example",
            alternativeNames: ["localhost", "chat.example", "127.0.0.1", "::1", "evil,DNS:bank.example"])
    }

    func file(_ name: String, _ text: String) -> String {
        let path = directory + "/" + name
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = write(descriptor, text, text.utf8.count)
        close(descriptor)
        return path
    }

    func context() throws -> TLSContext { try TLSContext(certificateFile: certificateFile, keyFile: keyFile) }
}
