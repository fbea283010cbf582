import Bytes

/// One line of the log while it is written.
struct LogLine {
    /// Bytes of one value; more is cut, so that a line stays one write and one journal entry.
    static let longestValue = 1024
    private(set) var bytes: [UInt8] = []

    mutating func append(_ text: ByteString) { bytes += text.bytes }

    mutating func appendText(_ event: StaticString, _ fields: Log.Fields) {
        append("\(event)")
        for (key, value) in fields {
            append(" \(key)=")
            append(value, quoteAlways: false)
        }
    }

    mutating func appendJSON(_ time: ByteString, _ level: Log.Level, _ event: StaticString, _ fields: Log.Fields) {
        append("{\"time\":\"\(time)\",\"level\":\"\(level.rawValue)\",\"event\":\"\(event)\"")
        for (key, value) in fields {
            append(",\"\(key)\":")
            append(value, quoteAlways: true)
        }
        append("}")
    }

    private mutating func append(_ value: Log.Value, quoteAlways: Bool) {
        switch value {
        case .text(let text): appendString(ByteString(text), quoteAlways)
        case .bytes(let text): appendString(text, quoteAlways)
        case .number(let number): append("\(number)")
        case .flag(let flag): append(flag ? "true" : "false")
        }
    }

    private mutating func appendString(_ text: ByteString, _ quoteAlways: Bool) {
        if !quoteAlways, !text.isEmpty, text.count <= Self.longestValue, text.bytes.allSatisfy(Self.isPlain) {
            bytes += text.bytes
        } else {
            appendQuoted(text)
        }
    }

    /// Needs no quotes in `key=value`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C && byte != 0x3D
    }

    /// A JSON string. What could end the line, move the cursor, hide or turn around what follows is escaped (Unicode's
    /// controls, formats and line separators); bytes that are no UTF-8 become U+FFFD.
    private mutating func appendQuoted(_ text: ByteString) {
        bytes.append(0x22)
        let start = bytes.count
        for scalar in String(decoding: text.bytes, as: UTF8.self).unicodeScalars {
            if bytes.count - start >= Self.longestValue {
                append("...")
                break
            }
            appendEscaped(scalar)
        }
        bytes.append(0x22)
    }

    private mutating func appendEscaped(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": append("\\\"")
        case "\\": append("\\\\")
        case "\n": append("\\n")
        case "\r": append("\\r")
        case "\t": append("\\t")
        case " "..."~": bytes.append(UInt8(scalar.value))
        default:
            if Suggestion.isControl(scalar) {
                for unit in UTF16.encode(scalar)! {
                    let digits = String(unit, radix: 16)
                    append("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)")
                }
            } else {
                bytes += Array(UTF8.encode(scalar)!)
            }
        }
    }
}
