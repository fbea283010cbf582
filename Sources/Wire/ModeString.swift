package import Bytes

/// The four types of channel modes (Modern IRC, "Channel Modes"; CHANMODES=A,B,C,D).
package enum ModeKind: Sendable {
    /// A: adds to or removes from a list; without parameter it asks for the list. Ranks are not of this kind.
    case list
    /// B: always with a parameter; ranks too.
    case always
    /// C: with a parameter when it is set.
    case onSet
    /// D: never with a parameter.
    case flag
}

/// A change that was asked for.
package struct ModeChange {
    package let adding: Bool
    package let letter: UInt8
    package let parameter: ByteView?

    package init(adding: Bool, letter: UInt8, parameter: ByteView?) {
        self.adding = adding
        self.letter = letter
        self.parameter = parameter
    }
}

package enum ParsedMode {
    case change(ModeChange)
    /// A list mode without parameter; told once for each letter.
    case listQuery(UInt8)
    /// 696, or 461.
    case missingParameter(letter: UInt8, adding: Bool)
    /// 472 or 501; told once for each letter.
    case unknown(UInt8)
}

package enum ModeParser {
    /// `modes` is the word of signs and letters, `parameters` gives the words after it by their number from 0, nil
    /// behind the last. Without a sign, letters are set.
    package static func parse(
        _ modes: ByteView, parameters: (Int) -> ByteView?, kinds: (UInt8) -> ModeKind?
    ) -> [ParsedMode] {
        var parsed: [ParsedMode] = []
        var told: [UInt8] = []
        var adding = true
        var used = 0
        func parameter() -> ByteView? {
            guard let word = parameters(used) else { return nil }
            used += 1
            return word
        }
        /// Each is answered by a line or more, so a word full of them must not multiply.
        func once(_ letter: UInt8, _ mode: ParsedMode) {
            if told.contains(letter) { return }
            told.append(letter)
            parsed.append(mode)
        }
        for i in 0..<modes.count {
            let letter = modes[i]
            if letter == 0x2B || letter == 0x2D {
                adding = letter == 0x2B
                continue
            }
            guard let kind = kinds(letter) else {
                once(letter, .unknown(letter))
                continue
            }
            if kind == .flag || (kind == .onSet && !adding) {
                parsed.append(.change(ModeChange(adding: adding, letter: letter, parameter: nil)))
            } else if let word = parameter() {
                parsed.append(.change(ModeChange(adding: adding, letter: letter, parameter: word)))
            } else if kind == .list {
                once(letter, .listQuery(letter))
            } else {
                once(letter, .missingParameter(letter: letter, adding: adding))
            }
        }
        return parsed
    }
}

/// A change that was made, to be told.
package struct AppliedMode: Sendable, Equatable {
    package let adding: Bool
    package let letter: UInt8
    package let parameter: ByteString?

    package init(adding: Bool, letter: UInt8, parameter: ByteString? = nil) {
        self.adding = adding
        self.letter = letter
        self.parameter = parameter
    }
}

package enum ModeFormatter {
    /// `+ob-v nick mask nick`, in order, as many to a line as `maxBytes` and `maxParameters` (MODES=) allow; a change
    /// that is longer by itself stands alone.
    package static func lines(_ changes: [AppliedMode], maxBytes: Int, maxParameters: Int = .max) -> [ByteString] {
        var lines: [ByteString] = []
        var letters: [UInt8] = []
        var words: [UInt8] = []
        var count = 0
        var sign: UInt8 = 0
        func flush() {
            if !letters.isEmpty { lines.append(ByteString(letters + words)) }
            (letters, words, count, sign) = ([], [], 0, 0)
        }
        for change in changes {
            let parameterSize = change.parameter.map { $0.count + 1 } ?? 0
            let isOver = letters.count + words.count + 2 + parameterSize > maxBytes
            if isOver || (change.parameter != nil && count >= maxParameters) { flush() }
            let wanted: UInt8 = change.adding ? 0x2B : 0x2D
            if sign != wanted { letters.append(wanted) }
            sign = wanted
            letters.append(change.letter)
            guard let parameter = change.parameter else { continue }
            words.append(0x20)
            words += parameter.bytes
            count += 1
        }
        flush()
        return lines
    }
}
