import Bytes
import COpenSSL
import CSystem
import Glibc

/// Writes a P-256 key (mode 0600) and a certificate for it, signed by itself, valid for ten years, both PEM.
/// `alternativeNames` are DNS names and numeric addresses. Files that are there are replaced, the key first.
package func makeSelfSignedCertificate(
    certificateFile: String, keyFile: String, commonName: String, alternativeNames: [String]
) throws(NetError) {
    ERR_clear_error()
    guard let key = shim_EVP_EC_gen_P256() else { throw failed("make a TLS key") }
    defer { EVP_PKEY_free(key) }
    guard let certificate = X509_new() else { throw failed("make a certificate") }
    defer { X509_free(certificate) }
    guard fill(certificate, key, commonName), addExtensions(certificate, alternativeNames),
        X509_sign(certificate, key, EVP_sha256()) > 0
    else { throw failed("make a certificate") }
    guard let keyText = pem({ PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }),
        let certificateText = pem({ PEM_write_bio_X509($0, certificate) })
    else { throw failed("write a certificate as PEM") }
    try replaceFile(keyFile, keyText, mode: 0o600)
    try replaceFile(certificateFile, certificateText, mode: 0o644)
}

/// SHA-256 of the first certificate in a PEM file, 64 hex digits: what `openssl x509 -fingerprint -sha256` shows,
/// without its colons.
package func certificateFingerprint(_ file: String) throws(NetError) -> String {
    ERR_clear_error()
    guard let bio = BIO_new_file(file, "r") else { throw NetError("cannot read the certificate \(file)", errno: errno) }
    defer { BIO_free(bio) }
    guard let certificate = PEM_read_bio_X509(bio, nil, nil, nil) else { throw failed("use the certificate \(file)") }
    defer { X509_free(certificate) }
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    guard X509_digest(certificate, EVP_sha256(), &digest, &length) == 1, length == 32 else {
        throw failed("take the fingerprint of \(file)")
    }
    return Hex.encode(digest).string
}

private func failed(_ what: String) -> NetError { NetError("cannot \(what): \(takeTLSError())") }

private func fill(_ certificate: OpaquePointer, _ key: OpaquePointer, _ commonName: String) -> Bool {
    // RFC 5280, 4.1.2.2: positive and unique; 64 random bits.
    guard let serial = BN_new() else { return false }
    defer { BN_free(serial) }
    let name = [UInt8](commonName.utf8.prefix(64))
    let subject = X509_get_subject_name(certificate)
    // A day back, for a client whose clock is behind.
    return BN_rand(serial, 64, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1
        && BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate)) != nil
        && X509_set_version(certificate, Int(X509_VERSION_3)) == 1
        && X509_gmtime_adj(X509_getm_notBefore(certificate), -86_400) != nil
        && X509_gmtime_adj(X509_getm_notAfter(certificate), 3650 * 86_400) != nil
        && X509_NAME_add_entry_by_txt(subject, "CN", shim_MBSTRING_UTF8, name, Int32(name.count), -1, 0) == 1
        && X509_set_issuer_name(certificate, subject) == 1
        && X509_set_pubkey(certificate, key) == 1
}

private func addExtensions(_ certificate: OpaquePointer, _ names: [String]) -> Bool {
    let alternatives = names.filter(isPlainName).map {
        PeerAddress($0, port: 0) == nil ? "DNS:\($0)" : "IP:\($0)"
    }
    var extensions: [(Int32, String)] = [
        (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
        (NID_ext_key_usage, "serverAuth"),
    ]
    if !alternatives.isEmpty { extensions.append((NID_subject_alt_name, alternatives.joined(separator: ","))) }
    var context = X509V3_CTX()
    shim_X509V3_set_ctx(&context, certificate)
    for (kind, value) in extensions {
        guard let made = X509V3_EXT_conf_nid(nil, &context, kind, value) else { return false }
        defer { X509_EXTENSION_free(made) }
        if X509_add_ext(certificate, made, -1) != 1 { return false }
    }
    return true
}

/// A comma or a colon would say something else in OpenSSL's extension syntax.
private func isPlainName(_ name: String) -> Bool {
    if PeerAddress(name, port: 0) != nil { return true }
    return !name.isEmpty && name.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x2A }
}

private func pem(_ write: (OpaquePointer) -> Int32) -> [UInt8]? {
    guard let bio = BIO_new(BIO_s_mem()) else { return nil }
    defer { BIO_free(bio) }
    guard write(bio) == 1 else { return nil }
    var bytes: UnsafeMutablePointer<CChar>?
    let count = shim_BIO_get_mem_data(bio, &bytes)
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
}

/// Written beside and renamed, so that nobody ever reads half a file, nor a key before its mode is set.
private func replaceFile(_ path: String, _ bytes: [UInt8], mode: mode_t) throws(NetError) {
    let fresh = "\(path).new"
    _ = unlink(fresh)
    let descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    if descriptor < 0 { throw NetError("cannot write \(fresh)", errno: errno) }
    let isWritten = write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
    let failure = errno
    _ = close(descriptor)
    if !isWritten { throw NetError("cannot write \(fresh)", errno: failure) }
    if rename(fresh, path) != 0 { throw NetError("cannot write \(path)", errno: errno) }
}
