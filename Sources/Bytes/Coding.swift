/// Text forms of bytes and numbers.
package enum Hex {
    package static func encode(_ bytes: [UInt8]) -> ByteString {
        let digits = Array("0123456789abcdef".utf8)
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            out.append(digits[Int(byte >> 4)])
            out.append(digits[Int(byte & 15)])
        }
        return ByteString(out)
    }

    /// The same digits in lower case; nil: something else is among them.
    package static func lowercased(_ text: ByteString) -> ByteString? {
        let lower = text.bytes.map { ASCII.lower($0) }
        return lower.allSatisfy { ASCII.isDigit($0) || 0x61...0x66 ~= $0 } ? ByteString(lower) : nil
    }
}

/// Crockford's alphabet in lower case: digits sort before letters, so fixed-width numbers sort as text.
package enum Base32 {
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private static let values: [Int8] = {
        var table = [Int8](repeating: -1, count: 256)
        for (value, byte) in alphabet.enumerated() { table[Int(byte)] = Int8(value) }
        return table
    }()

    /// The lowest `5 * width` bits, most significant first.
    package static func encode(_ number: UInt64, width: Int) -> ByteString {
        var out = [UInt8](repeating: 0x30, count: width)
        var rest = number
        for i in stride(from: width - 1, through: 0, by: -1) {
            out[i] = alphabet[Int(rest & 31)]
            rest >>= 5
        }
        return ByteString(out)
    }

    /// nil when a byte is not of the alphabet, or there are none or more than 12.
    package static func decode(_ text: ByteView) -> UInt64? {
        guard text.count >= 1, text.count <= 12 else { return nil }
        var number: UInt64 = 0
        for i in 0..<text.count {
            let value = values[Int(text[i])]
            if value < 0 { return nil }
            number = number << 5 | UInt64(value)
        }
        return number
    }

    /// Bytes as text, five bits a character, the last one padded with zero bits.
    package static func encode(_ bytes: [UInt8]) -> ByteString {
        var out: [UInt8] = []
        var bits = 0
        var held: UInt32 = 0
        for byte in bytes {
            held = held << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                out.append(alphabet[Int(held >> UInt32(bits) & 31)])
            }
        }
        if bits > 0 { out.append(alphabet[Int(held << UInt32(5 - bits) & 31)]) }
        return ByteString(out)
    }
}

/// RFC 4648 base64 with padding, strict: no spaces, no line ends, no stray bits.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [Int8] = {
        var table = [Int8](repeating: -1, count: 256)
        for (value, byte) in alphabet.enumerated() { table[Int(byte)] = Int8(value) }
        return table
    }()

    package static func encode(_ bytes: [UInt8]) -> ByteString {
        var out: [UInt8] = []
        out.reserveCapacity((bytes.count + 2) / 3 * 4)
        var i = 0
        while i < bytes.count {
            let left = bytes.count - i
            let word =
                UInt32(bytes[i]) << 16 | (left > 1 ? UInt32(bytes[i + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[i + 2]) : 0)
            out.append(alphabet[Int(word >> 18)])
            out.append(alphabet[Int(word >> 12 & 63)])
            out.append(left > 1 ? alphabet[Int(word >> 6 & 63)] : 0x3D)
            out.append(left > 2 ? alphabet[Int(word & 63)] : 0x3D)
            i += 3
        }
        return ByteString(out)
    }

    /// nil when the text is not base64 in its one canonical form.
    package static func decode(_ text: ByteView) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var out: [UInt8] = []
        out.reserveCapacity(text.count / 4 * 3)
        for i in stride(from: 0, to: text.count, by: 4) {
            let isLast = i + 4 == text.count
            let padding = isLast ? (text[i + 3] == 0x3D ? (text[i + 2] == 0x3D ? 2 : 1) : 0) : 0
            var word: UInt32 = 0
            for j in 0..<4 {
                let value = j < 4 - padding ? values[Int(text[i + j])] : 0
                if value < 0 { return nil }
                word = word << 6 | UInt32(value)
            }
            if padding == 1, word & 0xFF != 0 { return nil }
            if padding == 2, word & 0xFFFF != 0 { return nil }
            out.append(UInt8(word >> 16))
            if padding < 2 { out.append(UInt8(word >> 8 & 255)) }
            if padding < 1 { out.append(UInt8(word & 255)) }
        }
        return out
    }
}

/// Base64 that comes in pieces of any length, as when a file is pasted: line ends are left out by who calls.
package struct Base64Stream: Sendable {
    /// Characters that do not make a group of four yet.
    private var held: [UInt8] = []
    private var isPadded = false

    package init() {}

    /// Everything so far is whole: no group was left open.
    package var isWhole: Bool { held.isEmpty }

    /// The bytes of all groups that are complete now; nil: this is not base64 in its canonical form.
    package mutating func decode(_ text: ByteView) -> [UInt8]? {
        if text.isEmpty { return [] }
        if isPadded { return nil }
        held.append(contentsOf: text.raw)
        let whole = held.count & ~3
        if whole == 0 { return [] }
        let decoded = held.withUnsafeBytes { Base64.decode(ByteView(UnsafeRawBufferPointer(rebasing: $0[..<whole]))) }
        isPadded = held[whole - 1] == 0x3D
        held.removeFirst(whole)
        if isPadded, !held.isEmpty { return nil }
        return decoded
    }
}
