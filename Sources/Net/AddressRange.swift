/// A network, `10.0.0.0/8` or `2001:db8::/32`, or one address (RFC 4632, 3.1).
package struct AddressRange: Sendable, Hashable {
    private let bytes: [UInt8]
    private let bits: Int

    /// nil when `text` is no such thing. Bits behind the prefix are ignored.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = PeerAddress(String(parts[0]), port: 0) else { return nil }
        // The length of an IPv4-mapped prefix would count other bits.
        guard address.isIPv6 || !parts[0].contains(":") else { return nil }
        bytes = address.bytes
        guard parts.count == 2 else {
            bits = bytes.count * 8
            return
        }
        let digits = parts[1].utf8
        guard digits.count <= 3, digits.allSatisfy({ 0x30...0x39 ~= $0 }), let bits = Int(parts[1]),
            bits <= bytes.count * 8
        else { return nil }
        self.bits = bits
    }

    package func contains(_ address: PeerAddress) -> Bool {
        let other = address.bytes
        guard other.count == bytes.count else { return false }
        let whole = bits / 8
        guard other[..<whole] == bytes[..<whole] else { return false }
        let left = bits % 8
        return left == 0 || (other[whole] ^ bytes[whole]) >> UInt8(8 - left) == 0
    }
}
