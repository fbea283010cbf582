package import Bytes

/// An IPv4 or IPv6 network in CIDR notation (RFC 4632, RFC 4291): `192.0.2.0/24`, `2001:db8::/32`, or one address.
///
/// Two networks are equal when they hold the same addresses, however they were written.
package struct Network: Sendable, Hashable {
    /// 128 bits; IPv4 lies in `::ffff:0:0/96` (RFC 4291, 2.5.5.2), so that both kinds are compared alike.
    private let high: UInt64
    private let low: UInt64
    /// Leading bits that count, 0 to 128.
    private let length: Int

    /// nil: not in this form. Bits behind the length are ignored.
    package init?(_ text: ByteView) {
        let slash = text.firstIndex(of: 0x2F)
        let address = text.prefix(slash ?? text.count)
        guard let (high, low) = Self.address(address) else { return nil }
        let isShort = !address.contains(0x3A)
        var length = 128
        if let slash {
            guard let given = text.dropFirst(slash + 1).decimal(limit: isShort ? 32 : 128) else { return nil }
            length = isShort ? given + 96 : given
        }
        self.high = high & Self.mask(length)
        self.low = low & Self.mask(length - 64)
        self.length = length
    }

    /// Whether all of `other` is in this network.
    package func contains(_ other: Network) -> Bool {
        other.length >= length && other.high & Self.mask(length) == high && other.low & Self.mask(length - 64) == low
    }

    private static func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(.max >> UInt64(bits)) }

    private static func address(_ text: ByteView) -> (UInt64, UInt64)? {
        guard text.contains(0x3A) else { return dotted(text).map { (0, 0xFFFF << 32 | UInt64($0)) } }
        let all: [UInt16]
        if let gap = (0..<max(0, text.count - 1)).first(where: { text[$0] == 0x3A && text[$0 + 1] == 0x3A }) {
            guard let before = groups(text.prefix(gap), isEnd: false), let after = groups(text.dropFirst(gap + 2)),
                before.count + after.count < 8
            else { return nil }
            all = before + [UInt16](repeating: 0, count: 8 - before.count - after.count) + after
        } else {
            guard let groups = groups(text), groups.count == 8 else { return nil }
            all = groups
        }
        func join(_ part: ArraySlice<UInt16>) -> UInt64 { part.reduce(0) { $0 << 16 | UInt64($1) } }
        return (join(all[..<4]), join(all[4...]))
    }

    /// `a:b:c`, at the end of an address the last one also as `192.0.2.1`; none for nothing.
    private static func groups(_ text: ByteView, isEnd: Bool = true) -> [UInt16]? {
        if text.isEmpty { return [] }
        var groups: [UInt16] = []
        var isFine = true
        var last = 0
        text.split(0x3A) { part in
            last += part.count + 1
            if isEnd, last > text.count, let short = dotted(part) {
                groups += [UInt16(short >> 16), UInt16(truncatingIfNeeded: short)]
            } else if let group = hexadecimal(part) {
                groups.append(group)
            } else {
                isFine = false
            }
        }
        return isFine && groups.count <= 8 ? groups : nil
    }

    private static func hexadecimal(_ text: ByteView) -> UInt16? {
        guard (1...4).contains(text.count) else { return nil }
        var value: UInt16 = 0
        for i in 0..<text.count {
            let byte = ASCII.lower(text[i])
            if ASCII.isDigit(byte) {
                value = value << 4 | UInt16(byte - 0x30)
            } else if (0x61...0x66).contains(byte) {
                value = value << 4 | UInt16(byte - 0x57)
            } else {
                return nil
            }
        }
        return value
    }

    /// Four decimal numbers; `010` is refused, as some read it as octal (RFC 6943, 3.1.1).
    private static func dotted(_ text: ByteView) -> UInt32? {
        var value: UInt32 = 0
        var count = 0
        var isFine = true
        text.split(0x2E) { part in
            count += 1
            guard count <= 4, part.count == 1 || part.first != 0x30, let number = part.decimal(limit: 255) else {
                isFine = false
                return
            }
            value = value << 8 | UInt32(number)
        }
        return isFine && count == 4 ? value : nil
    }
}
