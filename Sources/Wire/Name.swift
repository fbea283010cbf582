package import Bytes

/// What nicks, channels and user names may be.
package enum Names {
    /// Bytes (NICKLEN).
    package static let nickLength = 32
    /// Bytes (CHANNELLEN).
    package static let channelLength = 64
    /// Bytes (USERLEN).
    package static let userLength = 18

    /// Modern IRC, "Clients": no character that could be taken for a channel, a prefix, a mask, a server name or
    /// syntax. Beyond ASCII: letters, marks (not first), numbers and symbols that can be seen.
    package static func isValidNick(_ nick: ByteView, limit: Int = nickLength) -> Bool {
        guard let first = nick.first, nick.count <= limit, isNickStart(first) else { return false }
        return allScalars(nick) { scalar, isFirst in
            scalar < 0x80 ? isNickByte(UInt8(scalar)) : isNickScalar(scalar, isFirst: isFirst)
        }
    }

    /// Modern IRC, "Channels": `#` and something more, without space, comma, controls, what masks need, or the
    /// invisible.
    package static func isValidChannel(_ channel: ByteView, limit: Int = channelLength) -> Bool {
        guard channel.first == 0x23, channel.count >= 2, channel.count <= limit else { return false }
        return allScalars(channel) { scalar, _ in
            switch scalar {
            case 0...0x20, 0x7F, 0x2A, 0x2C, 0x3A, 0x3F: false
            case 0x80...: isVisible(scalar)
            default: true
            }
        }
    }

    package static func isValidUser(_ user: ByteView) -> Bool {
        guard user.count >= 1, user.count <= userLength else { return false }
        for i in 0..<user.count where !isUserByte(user[i]) { return false }
        return true
    }

    /// A user name out of whatever a client sent; `user` when nothing of it can stay.
    package static func sanitizeUser(_ user: ByteView) -> ByteString {
        var kept: [UInt8] = []
        for i in 0..<user.count where kept.count < userLength && isUserByte(user[i]) { kept.append(user[i]) }
        return kept.isEmpty ? "user" : ByteString(kept)
    }

    /// ASCII lower case.
    package static func fold(_ name: ByteView) -> ByteString { ByteString(name.raw.map(ASCII.lower)) }

    private static func isNickStart(_ byte: UInt8) -> Bool {
        !ASCII.isDigit(byte) && byte != 0x2D && byte != 0x7E
    }

    /// Letters, digits and ``-[\]^_`{|}~``.
    private static func isNickByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x2D, 0x5B...0x60, 0x7B...0x7E: true
        default: ASCII.isAlphanumeric(byte)
        }
    }

    private static func isUserByte(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte == 0x2D || byte == 0x5F || byte == 0x2E
    }

    private static func isNickScalar(_ value: UInt32, isFirst: Bool) -> Bool {
        guard isVisible(value), let scalar = Unicode.Scalar(value) else { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return true
        case .decimalNumber, .letterNumber, .otherNumber, .otherSymbol: return true
        case .nonspacingMark, .spacingMark: return !isFirst
        default: return value == 0xB7  // the middle dot of Catalan
        }
    }

    /// Not a control, a space, a format character, unassigned, for private use, or drawn as nothing.
    private static func isVisible(_ value: UInt32) -> Bool {
        guard let scalar = Unicode.Scalar(value) else { return false }
        switch value {
        case 0x2800, 0xFFFC, 0xFFFD: return false  // blank Braille, object replacement, replacement
        default: break
        }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned: return false
        case .spaceSeparator, .lineSeparator, .paragraphSeparator: return false
        default: return !properties.isDefaultIgnorableCodePoint
        }
    }

    /// False also where the bytes are not UTF-8.
    private static func allScalars(_ name: ByteView, _ allowed: (UInt32, _ isFirst: Bool) -> Bool) -> Bool {
        var at = 0
        while at < name.count {
            let isFirst = at == 0
            if name[at] < 0x80 {
                guard allowed(UInt32(name[at]), isFirst) else { return false }
                at += 1
                continue
            }
            guard let scalar = UTF8Check.scalar(name, at: &at), allowed(scalar, isFirst) else { return false }
        }
        return true
    }
}
