import COpenSSL
import Glibc

/// A certificate, its key and the rules of our TLS: 1.2 and 1.3, ALPN `irc`, no renegotiation.
///
/// Sessions hold what they need of it, so that a new one replaces it while they live on.
package struct TLSContext: ~Copyable {
    private let context: OpaquePointer

    /// PEM files: the certificate with its chain, and the key.
    package init(certificateFile: String, keyFile: String) throws(NetError) {
        context = try makeContext(certificateFile, keyFile)
    }

    deinit { SSL_CTX_free(context) }

    /// A server's session over a connected socket; nil when there is no memory for it.
    borrowing func session(_ descriptor: Int32, wantsCertificate: Bool) -> TLSSession? {
        guard let ssl = SSL_new(context) else { return nil }
        guard SSL_set_fd(ssl, descriptor) == 1 else {
            SSL_free(ssl)
            return nil
        }
        // It is asked for and need not be shown.
        SSL_set_verify(ssl, wantsCertificate ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        SSL_set_accept_state(ssl)
        return TLSSession(ssl)
    }
}

private func makeContext(_ certificateFile: String, _ keyFile: String) throws(NetError) -> OpaquePointer {
    ERR_clear_error()
    guard let context = SSL_CTX_new(TLS_server_method()) else {
        throw NetError("cannot set up TLS: \(takeTLSError())")
    }
    configure(context)
    if let problem = loadCertificate(context, certificateFile, keyFile) {
        SSL_CTX_free(context)
        throw problem
    }
    return context
}

private func loadCertificate(_ context: OpaquePointer, _ certificateFile: String, _ keyFile: String) -> NetError? {
    if SSL_CTX_use_certificate_chain_file(context, certificateFile) != 1 {
        return unusable("certificate", certificateFile)
    }
    if SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) != 1 {
        let isMismatch = shim_ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH
        return isMismatch ? mismatch(certificateFile, keyFile) : unusable("key", keyFile)
    }
    return SSL_CTX_check_private_key(context) == 1 ? nil : mismatch(certificateFile, keyFile)
}

private func mismatch(_ certificateFile: String, _ keyFile: String) -> NetError {
    NetError("the TLS key \(keyFile) does not belong to the certificate \(certificateFile)")
}

private func configure(_ context: OpaquePointer) {
    let options =
        shim_SSL_OP_NO_RENEGOTIATION | shim_SSL_OP_NO_COMPRESSION | shim_SSL_OP_CIPHER_SERVER_PREFERENCE
        | shim_SSL_OP_PRIORITIZE_CHACHA
        // A peer that half-closes TCP without a close_notify (`ncat --ssl`) still reads our answers. Lines end by
        // themselves, so what such an end could cut off is one line at most.
        | shim_SSL_OP_IGNORE_UNEXPECTED_EOF
    _ = SSL_CTX_set_options(context, options)
    _ = shim_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
    // Released buffers: 14 KB an idle session instead of 49.
    _ = shim_SSL_CTX_set_mode(
        context,
        Int(SSL_MODE_RELEASE_BUFFERS) | Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
    // One system call a record instead of two.
    shim_SSL_CTX_set_read_ahead(context, 1)
    // Sessions resume by tickets, which cost the server no memory; one is enough for a chat client.
    _ = shim_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
    _ = SSL_CTX_set_num_tickets(context, 1)
    // Whoever signed a client's certificate, it is known by its fingerprint; that the client has the key is checked.
    SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
    // Without it no session in which a certificate was asked for would resume.
    _ = SSL_CTX_set_session_id_context(context, "parley", 6)
    SSL_CTX_set_alpn_select_cb(context, selectALPN, nil)
}

private func unusable(_ what: String, _ file: String) -> NetError {
    if access(file, R_OK) != 0 { return NetError("cannot read the TLS \(what) \(file)", errno: errno) }
    return NetError("cannot use the TLS \(what) \(file): \(takeTLSError())")
}

// RFC 7301: `irc` is chosen when it is offered; other offers are ignored, since refusing them helps nobody.
private func selectALPN(
    _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let offered, let chosen, let chosenLength else { return SSL_TLSEXT_ERR_NOACK }
    let wanted = StaticString("irc")
    var at = 0
    while at < Int(offeredLength) {
        let length = Int(offered[at])
        if at + 1 + length > Int(offeredLength) { break }
        if length == wanted.utf8CodeUnitCount, memcmp(offered + at + 1, wanted.utf8Start, length) == 0 {
            chosen.pointee = offered + at + 1
            chosenLength.pointee = UInt8(length)
            return SSL_TLSEXT_ERR_OK
        }
        at += 1 + length
    }
    return SSL_TLSEXT_ERR_NOACK
}
