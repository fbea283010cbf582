import Bytes
import Chat
import Net

/// The host that everybody sees in place of an address: keyed hashes of the address and of the networks around it, so
/// that a ban may name one host (`ab.cd.ef.ip`), or all of a network (`*.cd.ef.ip`, `*.ef.ip`), and nobody learns where
/// a person is.
struct Cloak: Sendable {
    let isEnabled: Bool
    let secret: [UInt8]

    func host(of peer: PeerInfo) -> ByteString { host(peer.address, peer.addressBytes, isLoopback: peer.isLoopback) }

    /// nil: `text` is no IP address.
    func peer(_ text: ByteString, _ limits: NetLimits) -> Peer? {
        guard let address = PeerAddress(text.string, port: 0) else { return nil }
        return Peer(
            address: address.text, host: host(address.text, address.bytes, isLoopback: address.isLoopback),
            isTLS: false, isLoopback: address.isLoopback, network: limits.network(of: address))
    }

    private func host(_ address: ByteString, _ bytes: [UInt8], isLoopback: Bool) -> ByteString {
        if isLoopback { return "localhost" }
        if !isEnabled { return address.bytes.first == 0x3A ? "0\(address)" : address }
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
