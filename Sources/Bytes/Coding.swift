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
