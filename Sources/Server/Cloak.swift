import Bytes
import Net

/// The host that everybody sees in place of an address: keyed hashes of the address and of the networks around it, so
/// that a ban may name one host (`ab.cd.ef.ip`), or all of a network (`*.cd.ef.ip`, `*.ef.ip`), and nobody learns where
/// a person is.
struct Cloak: Sendable {
    let isEnabled: Bool
    let secret: [UInt8]

    func host(of peer: PeerInfo) -> ByteString {
        if peer.isLoopback { return "localhost" }
        if !isEnabled { return peer.address.bytes.first == 0x3A ? "0\(peer.address)" : peer.address }
        let bytes = peer.addressBytes
        // IPv4: host, /24, /16. IPv6: what one customer gets (/64), /56, /48.
        let lengths = bytes.count == 4 ? [4, 3, 2] : [8, 7, 6]
        let parts = lengths.map { part(Array(bytes.prefix($0))) }
        return "\(parts[0]).\(parts[1]).\(parts[2]).ip"
    }

    private func part(_ prefix: [UInt8]) -> ByteString {
        let mac = Crypto.hmacSHA256(key: secret, Array("cloak:".utf8) + [UInt8(prefix.count)] + prefix)
        return Base32.encode(Array(mac.prefix(5)))
    }
}
