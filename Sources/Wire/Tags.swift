package import Bytes

/// One `key=value` of a line's tags; the value still escaped, empty where there is none.
package struct Tag {
    package let key: ByteView
    package let rawValue: ByteView

    /// Relayed by the server without knowing it.
    package var isClientOnly: Bool { key.first == 0x2B }
}

/// IRCv3 message-tags.
package enum Tags {
    /// Calls `body` for every tag of `tags`, which has no `@`. Empty ones are left out; duplicates are not.
    package static func each(_ tags: ByteView, _ body: (Tag) -> Void) {
        tags.split(0x3B) { part in
            let equals = part.firstIndex(of: 0x3D)
            let key = part.prefix(equals ?? part.count)
            if key.isEmpty { return }
            body(Tag(key: key, rawValue: equals.map { part.dropFirst($0 + 1) } ?? .empty))
        }
    }

    /// The raw value of `key`: of the last one, if there are several; nil if there is none.
    package static func value(of key: StaticString, in tags: ByteView) -> ByteView? {
        var found: ByteView?
        each(tags) { if $0.key == key { found = $0.rawValue } }
        return found
    }

    package static func unescape(_ value: ByteView) -> ByteString {
        guard value.contains(0x5C) else { return ByteString(value) }
        var plain: [UInt8] = []
        plain.reserveCapacity(value.count)
        var isEscaped = false
        for i in 0..<value.count {
            let byte = value[i]
            if isEscaped {
                plain.append(meaning(byte))
                isEscaped = false
            } else if byte == 0x5C {
                isEscaped = true
            } else {
                plain.append(byte)
            }
        }
        return ByteString(plain)
    }

    package static func escape(_ value: ByteView) -> ByteString {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(value.count)
        for i in 0..<value.count {
            switch value[i] {
            case 0x3B: escaped += [0x5C, 0x3A]
            case 0x20: escaped += [0x5C, 0x73]
            case 0x5C: escaped += [0x5C, 0x5C]
            case 0x0D: escaped += [0x5C, 0x72]
            case 0x0A: escaped += [0x5C, 0x6E]
            case 0x00: continue  // cannot be sent in any form
            default: escaped.append(value[i])
            }
        }
        return ByteString(escaped)
    }

    /// `[+][vendor/]name`: letters, digits and hyphens, in the vendor dots too.
    package static func isValidKey(_ key: ByteView) -> Bool {
        let plain = key.first == 0x2B ? key.dropFirst() : key
        guard let slash = plain.firstIndex(of: 0x2F) else { return isWord(plain, dots: false) }
        return isWord(plain.prefix(slash), dots: true) && isWord(plain.dropFirst(slash + 1), dots: false)
    }

    /// Every key is one and the whole is UTF-8.
    package static func isValid(_ tags: ByteView) -> Bool {
        guard UTF8Check.isValid(tags) else { return false }
        var isValid = true
        each(tags) { if !isValidKey($0.key) { isValid = false } }
        return isValid
    }

    private static func meaning(_ byte: UInt8) -> UInt8 {
        switch byte {
        case 0x3A: 0x3B
        case 0x73: 0x20
        case 0x72: 0x0D
        case 0x6E: 0x0A
        default: byte
        }
    }

    private static func isWord(_ word: ByteView, dots: Bool) -> Bool {
        if word.isEmpty { return false }
        for i in 0..<word.count {
            let byte = word[i]
            guard ASCII.isAlphanumeric(byte) || byte == 0x2D || (dots && byte == 0x2E) else { return false }
        }
        return true
    }
}
