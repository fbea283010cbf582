package import Bytes

/// A parsed line, borrowed from the bytes it stands in (Modern IRC, "Message Format"; IRCv3 message-tags).
///
/// The grammar is all that is checked: the command may be any word, parameters may hold any byte. It is four words long
/// so that it is cheap to hand on; a parameter's place is found again when it is asked for, which costs less than
/// carrying fifteen of them through every call.
package struct Message {
    /// The line, leading spaces left out.
    package let line: ByteView
    private let tagsEnd: UInt16
    private let sourceStart: UInt16
    private let sourceEnd: UInt16
    private let commandStart: UInt16
    private let commandEnd: UInt16
    private let firstParameter: UInt16
    private let count: UInt16

    /// RFC 2812, 2.3: the fifteenth parameter takes the rest of the line.
    private static var mostParameters: Int { 15 }

    /// nil: no command, or more than 65,535 bytes.
    package init?(parsing text: ByteView) {
        guard text.count <= Int(UInt16.max) else { return nil }
        let line = text.dropFirst(Self.skipSpaces(text, 0))
        var at = 0
        tagsEnd = UInt16(Self.word(line, after: 0x40, &at).upperBound)
        let source = Self.word(line, after: 0x3A, &at)
        let end = Self.endOfWord(line, at)
        guard end > at else { return nil }
        self.line = line
        sourceStart = UInt16(source.lowerBound)
        sourceEnd = UInt16(source.upperBound)
        commandStart = UInt16(at)
        commandEnd = UInt16(end)
        at = Self.skipSpaces(line, end)
        firstParameter = UInt16(at)
        var count: UInt16 = 0
        while at < line.count {
            count += 1
            if line[at] == 0x3A || count == Self.mostParameters { break }
            at = Self.nextWord(line, at)
        }
        self.count = count
    }

    /// Without `@`; empty if there are none.
    package var tags: ByteView { tagsEnd == 0 ? .empty : line[1..<Int(tagsEnd)] }

    /// Without `:`; empty if there is none.
    package var source: ByteView { line[Int(sourceStart)..<Int(sourceEnd)] }

    package var command: ByteView { line[Int(commandStart)..<Int(commandEnd)] }

    package var parameterCount: Int { Int(count) }

    /// Parameter `i`, which must be one of `parameterCount`.
    package subscript(i: Int) -> ByteView {
        let start = start(of: i)
        if line[start] == 0x3A { return line.dropFirst(start + 1) }
        return line[start..<(i == Self.mostParameters - 1 ? line.count : Self.endOfWord(line, start))]
    }

    package func parameter(_ i: Int) -> ByteView? { i >= 0 && i < parameterCount ? self[i] : nil }

    package var last: ByteView? { parameter(parameterCount - 1) }

    /// From the start of parameter `i` to the end of the line, without a leading `:`: what a person typed as free text.
    package func rest(from i: Int) -> ByteView {
        guard i >= 0, i < parameterCount else { return .empty }
        let start = start(of: i)
        return line.dropFirst(line[start] == 0x3A ? start + 1 : start)
    }

    private func start(of i: Int) -> Int {
        precondition(i >= 0 && i < parameterCount, "no such parameter")
        var at = Int(firstParameter)
        for _ in 0..<i { at = Self.nextWord(line, at) }
        return at
    }

    /// The word behind `mark`, if that stands at `at`, which moves behind it and its spaces; 0..<0 if not.
    @inline(__always)
    private static func word(_ line: ByteView, after mark: UInt8, _ at: inout Int) -> Range<Int> {
        guard at < line.count, line[at] == mark else { return 0..<0 }
        let start = at + 1
        let end = endOfWord(line, start)
        at = skipSpaces(line, end)
        return start..<end
    }

    @inline(__always)
    private static func nextWord(_ line: ByteView, _ start: Int) -> Int {
        skipSpaces(line, endOfWord(line, start))
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
        let near = min(start + 32, line.count)
        while at < near, line[at] != 0x20 { at += 1 }
        // Few words are longer, and those are data.
        return at < near || at == line.count ? at : line.firstIndex(of: 0x20, from: at) ?? line.count
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
