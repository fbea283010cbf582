package import Bytes

/// A parsed line, borrowed from the bytes it stands in (Modern IRC, "Message Format"; IRCv3 message-tags).
///
/// The grammar is all that is checked: the command may be any word, parameters may hold any byte.
package struct Message {
    package let line: ByteView
    /// Without `@`; empty if there are none.
    package let tags: ByteView
    /// Without `:`; empty if there is none.
    package let source: ByteView
    package let command: ByteView
    package let parameterCount: Int
    /// Where parameter i starts (low half) and ends (high half).
    private let places: InlineArray<15, UInt32>

    /// RFC 2812, 2.3: the fifteenth parameter takes the rest of the line.
    private static var mostParameters: Int { 15 }

    /// nil: no command, or more than 65,535 bytes.
    package init?(parsing line: ByteView) {
        guard line.count <= Int(UInt16.max) else { return nil }
        self.line = line
        var at = Self.skipSpaces(line, 0)
        tags = Self.word(line, after: 0x40, &at)
        source = Self.word(line, after: 0x3A, &at)
        let end = Self.endOfWord(line, at)
        guard end > at else { return nil }
        command = line[at..<end]
        at = Self.skipSpaces(line, end)

        var places = InlineArray<15, UInt32>(repeating: 0)
        var count = 0
        while at < line.count {
            let isTrailing = line[at] == 0x3A
            let start = isTrailing ? at + 1 : at
            let end = isTrailing || count == Self.mostParameters - 1 ? line.count : Self.endOfWord(line, at)
            places[count] = UInt32(start) | UInt32(end) << 16
            count += 1
            if isTrailing || count == Self.mostParameters { break }
            at = Self.skipSpaces(line, end)
        }
        parameterCount = count
        self.places = places
    }

    /// Parameter `i`, which must be one of `parameterCount`.
    package subscript(i: Int) -> ByteView {
        precondition(i >= 0 && i < parameterCount, "no such parameter")
        return line[Int(places[i] & 0xFFFF)..<Int(places[i] >> 16)]
    }

    package func parameter(_ i: Int) -> ByteView? { i >= 0 && i < parameterCount ? self[i] : nil }

    package var last: ByteView? { parameter(parameterCount - 1) }

    /// From the start of parameter `i` to the end of the line, without a leading `:`: what a person typed as free text.
    package func rest(from i: Int) -> ByteView {
        guard i >= 0, i < parameterCount else { return .empty }
        return line.dropFirst(Int(places[i] & 0xFFFF))
    }

    /// The word behind `mark` and the spaces after it, if it stands at `at`.
    @inline(__always)
    private static func word(_ line: ByteView, after mark: UInt8, _ at: inout Int) -> ByteView {
        guard at < line.count, line[at] == mark else { return .empty }
        let start = at + 1
        let end = endOfWord(line, start)
        at = skipSpaces(line, end)
        return line[start..<end]
    }

    @inline(__always)
    private static func skipSpaces(_ line: ByteView, _ start: Int) -> Int {
        var at = start
        while at < line.count, line[at] == 0x20 { at += 1 }
        return at
    }

    @inline(__always)
    private static func endOfWord(_ line: ByteView, _ start: Int) -> Int {
        var at = start
        while at < line.count, line[at] != 0x20 { at += 1 }
        return at
    }
}

extension Message {
    /// Whether `word` can be sent as a parameter that is not the last.
    package static func isMiddle(_ word: ByteView) -> Bool {
        guard let first = word.first, first != 0x3A else { return false }
        for i in 0..<word.count {
            switch word[i] {
            case 0x00, 0x0A, 0x0D, 0x20: return false
            default: continue
            }
        }
        return true
    }
}
