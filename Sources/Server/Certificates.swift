import Glibc
import Net

/// The certificate that the server makes for itself at its first start.
enum Certificates {
    /// Makes one where none is configured and none is there. True: it was made now.
    static func prepare(_ places: Places) throws -> Bool {
        guard places.makesCertificate, !Files.exists(places.certificate) || !Files.exists(places.key) else {
            return false
        }
        try makeSelfSignedCertificate(
            certificateFile: places.certificate, keyFile: places.key, commonName: places.serverName,
            alternativeNames: ["DNS:localhost", "DNS:\(places.serverName)", "IP:127.0.0.1", "IP:::1"])
        return true
    }
}

/// What a peer that speaks the wrong protocol reads before it is closed.
enum WrongProtocol {
    static let texts = (
        plainOnTLS: Array(
            "This port speaks TLS. Connect with TLS, as in: openssl s_client -quiet -connect host:port\r\n".utf8),
        tlsOnPlain: Array("This port speaks plain text, not TLS.\r\n".utf8)
    )
}
