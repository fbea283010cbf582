import Bytes

/// Certificates that log in to an account, for its owner and for operators.
enum Certificates {
    /// 64 hexadecimal digits, with or without colons between the bytes; nil: it is none.
    static func fingerprint(_ text: ByteView) -> ByteString? {
        let digits = text.raw.filter { $0 != 0x3A }.map(ASCII.lower)
        let isHex = digits.allSatisfy { ASCII.isDigit($0) || (0x61...0x66).contains($0) }
        return isHex && digits.count == 64 ? ByteString(digits) : nil
    }
}

extension World {
    mutating func listCertificates(_ errand: Errand) {
        let all = errand.answer?.account?.certificates ?? []
        for fingerprint in all { confirm(errand, "CERTIFICATE", fingerprint) }
        confirm(errand, "END", "\(all.count) certificate\(all.count == 1 ? "" : "s")")
    }

    /// Asks whose it is before it is added: one certificate logs in to one account.
    mutating func addCertificate(_ errand: Errand, _ fingerprint: ByteString) {
        guard let account = errand.answer?.account else { return }
        let limit = settings.limits.certificates
        if account.certificates.count >= limit, !account.certificates.contains(fingerprint) {
            return refuse(errand, "LIMIT_REACHED", "There are \(limit) certificates already")
        }
        var next = errand
        next.aim = .claimCertificate(fingerprint, account.uid)
        look(up: .certificate(fingerprint), for: next)
    }

    mutating func claimCertificate(_ errand: Errand, _ fingerprint: ByteString, _ uid: UID) {
        if let owner = errand.answer?.account, owner.uid != uid {
            return refuse(errand, "IN_USE", "This certificate is another account's")
        }
        store(.addCertificate(uid, fingerprint), of: errand.name, for: errand)
    }

    mutating func certificateAdded(_ errand: Errand, _ fingerprint: ByteString) {
        note(
            errand, "added a certificate to account \(errand.name)", own: "account \(errand.name) has a new certificate"
        )
        confirm(errand, "ADDED", "Added \(fingerprint); SASL EXTERNAL logs in with it now")
    }

    mutating func removeCertificate(_ errand: Errand, _ fingerprint: ByteString) {
        guard let account = errand.answer?.account, account.certificates.contains(fingerprint) else {
            return refuse(errand, "NO_SUCH_CERTIFICATE", "There is no such certificate")
        }
        store(.removeCertificate(account.uid, fingerprint), of: account.name, for: errand)
    }

    mutating func certificateRemoved(_ errand: Errand, _ fingerprint: ByteString) {
        note(
            errand, "removed a certificate of account \(errand.name)",
            own: "account \(errand.name) removed a certificate")
        confirm(errand, "REMOVED", "Removed \(fingerprint)")
    }
}
