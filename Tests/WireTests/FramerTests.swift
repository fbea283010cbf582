import Bytes
import Testing
import Wire

enum Framed: Equatable, CustomStringConvertible {
    case line([UInt8])
    case tooLong([UInt8])
    /// Fragments that follow each other, together.
    case data([UInt8])
    case end

    static func line(_ text: String) -> Framed { .line(bytes(text)) }

    /// Where a line that is too long is noticed depends on the pieces, and so how much of its beginning is told.
    var withoutHead: Framed { if case .tooLong = self { .tooLong([]) } else { self } }

    var description: String {
        switch self {
        case .line(let line): "line(\(String(decoding: line, as: UTF8.self).debugDescription))"
        case .tooLong(let head): "tooLong(\(head.count): \(String(decoding: head.prefix(20), as: UTF8.self)))"
        case .data(let data): "data(\(data.count))"
        case .end: "end"
        }
    }
}

/// A connection that reads `chunks` one after the other.
struct Reading: Equatable {
    var framed: [Framed] = []
    var answers: [[UInt8]] = []
    var mostKept = 0

    static func == (a: Reading, b: Reading) -> Bool { a.framed == b.framed && a.answers == b.answers }

    init(_ chunks: [[UInt8]], ended: Bool = false, framer start: Framer = Framer()) {
        var framer = start
        var kept = ByteBuffer()
        var scratch = ByteBuffer()
        for chunk in chunks {
            chunk.withUnsafeBytes { kept.append(ByteView($0)) }
            read(&framer, &kept, &scratch, ended: false)
            mostKept = max(mostKept, kept.count)
        }
        if ended { read(&framer, &kept, &scratch, ended: true) }
    }

    private mutating func read(
        _ framer: inout Framer, _ kept: inout ByteBuffer, _ scratch: inout ByteBuffer, ended: Bool
    ) {
        var offset = 0
        while true {
            switch framer.next(kept.view, at: &offset, ended: ended, scratch: &scratch) {
            case .line(let line): framed.append(.line(ByteString(line).bytes))
            case .tooLong(let head): framed.append(.tooLong(ByteString(head).bytes))
            case .fragment(let part):
                if case .data(let before)? = framed.last {
                    framed[framed.count - 1] = .data(before + ByteString(part).bytes)
                } else {
                    framed.append(.data(ByteString(part).bytes))
                }
            case .answer(let answer): answers.append(answer)
            case .endOfTransmission: framed.append(.end)
            case .needMore:
                kept.consume(offset)
                return
            }
        }
    }
}

struct FramerTests {
    static let iac: UInt8 = 0xFF

    @Test("A byte-order mark begins the first line only, also after one that was too long and dropped")
    func markAfterDroppedLine() {
        let sent = [UInt8](repeating: 0x78, count: 600) + [Self.iac, 0xF4] + bytes("\u{FEFF}PING\n")
        let whole = Reading([sent])
        #expect(whole.framed.last == .line("\u{FEFF}PING"))
        #expect(whole.framed.count == 2)
        #expect(Reading(sent.map { [$0] }).framed.last == whole.framed.last)
    }
    static let ctrlC: [UInt8] = [0xFF, 0xF4, 0xFF, 0xFD, 0x06]

    static let cases: [(input: [UInt8], expected: [Framed])] = [
        (
            bytes("NICK a\nUSER b\r\nJOIN c\rPART d\r\0QUIT\n"),
            ["NICK a", "USER b", "JOIN c", "PART d", "QUIT"].map(Framed.line)
        ),
        (bytes("\n\r\n\r\r\0\n  \n"), []),
        (bytes("   NICK a\n \r\n\0 NICK b\n"), [.line("NICK a"), .line("NICK b")]),
        (bytes("a b \n"), [.line("a b ")]),
        (bytes("\u{FEFF}NICK a\n\u{FEFF}b\n"), [.line("NICK a"), .line("\u{FEFF}b")]),
        (bytes("\u{FEFF}\n\u{FEFF}b\n"), [.line("\u{FEFF}b")]),
        (bytes("\u{FEFF}  NICK a\n"), [.line("NICK a")]),
        (bytes("a\0b\n"), [.line("ab")]),
        ([4], [.end]),
        (bytes("a\n\u{4}b\u{4}c\n \u{4}"), [.line("a"), .end, .line("b\u{4}c"), .end]),
        (bytes("unfinished"), []),
        // 0xFF that is no telnet stays, and ends no line's end.
        (bytes("a") + [iac] + bytes("\nb\n"), [.line(bytes("a") + [iac]), .line("b")]),
        ([iac] + bytes("abc\n"), [.line([iac] + bytes("abc"))]),
    ]

    @Test(arguments: cases.indices)
    func framesLines(index: Int) {
        let (input, expected) = Self.cases[index]
        #expect(Reading([input]).framed == expected)
        #expect(Reading(input.map { [$0] }).framed == expected)
    }

    /// What telnet clients send, the text that stays, what goes back.
    static let telnet: [(input: [UInt8], lines: [Framed], answers: [[UInt8]])] = [
        (bytes("NI") + [iac, 0xF1] + bytes("CK a\n"), [.line("NICK a")], []),
        ([iac, 0xFB, 0x1F] + bytes("NICK a\n"), [.line("NICK a")], [[iac, 0xFE, 0x1F]]),
        (bytes("a") + [iac, 0xFD, 0x0A] + bytes("b\n"), [.line("ab")], [[iac, 0xFC, 0x0A]]),
        ([iac, 0xFC, 1, iac, 0xFE, 1] + bytes("a\n"), [.line("a")], []),
        ([iac, 0xFD, 1, iac, 0xFD, 3] + bytes("a\n"), [.line("a")], [[iac, 0xFC, 1], [iac, 0xFC, 3]]),
        // The window size, 10 by 13 characters, holds what would be a line end.
        (bytes("a") + [iac, 0xFA, 0x1F, 0, 10, 0, 13, iac, 0xF0] + bytes("b\n"), [.line("ab")], []),
        ([iac, 0xFA, 0x18, 0, iac, iac, 0xF0, iac, 0xF0] + bytes("b\n"), [.line("b")], []),
        ([iac, 0xFA, 0x18, iac, 0xFB, 1] + bytes("b\n"), [.line("b")], [[iac, 0xFE, 1]]),
        (bytes("a") + [iac, iac] + bytes("b\n"), [.line("ab")], []),
        (bytes("PRIVMSG #a :oops") + ctrlC + bytes("NICK a\n"), [.line("NICK a")], [[iac, 0xFC, 6]]),
        (bytes("a\n") + ctrlC + bytes("b\n"), [.line("a"), .line("b")], [[iac, 0xFC, 6]]),
        (bytes("typed") + [iac, 0xF8] + bytes("meant\n"), [.line("meant")], []),
        ([iac, 0xF1, 4], [.end], []),
        ([iac, 0xF1] + bytes("\u{FEFF}a\n"), [.line("a")], []),
        ([iac, 0xF1] + bytes("  a\n"), [.line("a")], []),
    ]

    @Test(arguments: telnet.indices)
    func consumesTelnet(index: Int) {
        let (input, lines, answers) = Self.telnet[index]
        for cut in 0...input.count {
            for second in cut...input.count {
                let reading = Reading([Array(input[..<cut]), Array(input[cut..<second]), Array(input[second...])])
                #expect(reading.framed == lines)
                #expect(reading.answers == answers)
            }
        }
    }

    @Test func leavesTelnetAloneWhereThereIsNone() {
        let input = [Self.iac, 0xFD, 0x01] + bytes("a\0\n")
        let reading = Reading([input], framer: Framer(telnet: false))
        #expect(reading.framed == [.line([Self.iac, 0xFD, 0x01] + bytes("a"))])
        #expect(reading.answers.isEmpty)
    }

    @Test func endlessSubnegotiationEnds() {
        let input = [Self.iac, 0xFA] + [UInt8](repeating: 0x61, count: 5000) + bytes("\nNICK a\n")
        #expect(Reading([input]).framed.last == .line("NICK a"))
    }

    @Test func answersBeforeTheLineIsWhole() {
        #expect(Reading([bytes("NI") + [Self.iac, 0xFD, 1]]).answers == [[Self.iac, 0xFC, 1]])
    }

    @Test func lastLineNeedsNoEnd() {
        #expect(Reading([bytes("NICK a\nQUIT")], ended: true).framed == [.line("NICK a"), .line("QUIT")])
        #expect(Reading([bytes("NICK a\n")], ended: true).framed == [.line("NICK a")])
        #expect(Reading([bytes("QUIT") + [Self.iac]], ended: true).framed == [.line("QUIT")])
        #expect(Reading([bytes("QUIT") + [Self.iac, 0xFA, 1]], ended: true).framed == [.line("QUIT")])
        #expect(Reading([bytes("  ")], ended: true).framed.isEmpty)
    }
}

struct LineLengthTests {
    static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    static let message = text(510)
    static let tags = "@+a=" + text(4091) + " "

    static let fitting = [message, tags + message, "  " + message, "@a " + message, tags + "A"]

    @Test(arguments: fitting)
    func longestLinesPass(line: String) {
        let expected = Framed.line(String(line.drop { $0 == " " }))
        for end in ["\r\n", "\n"] {
            #expect(Reading([bytes(line + end)]).framed == [expected])
            #expect(Reading(bytes(line + end).map { [$0] }).framed == [expected])
        }
    }

    static let excessive = [
        (message + "x", message),
        (tags + message + "x", message),
        ("@a " + message + text(10_000), message),
        ("@+a=" + text(4092) + " A", ""),
        ("@" + text(9000), ""),
        (text(5000), message),
    ]

    @Test(arguments: excessive)
    func longerLinesAreDiscardedWhole(line: String, head: String) {
        let expected: [Framed] = [.tooLong(bytes(head)), .line("NICK a")]
        let input = bytes(line + "\r\nNICK a\r\n")
        #expect(Reading([input]).framed == expected)
        let dripped = Reading(input.map { [$0] })
        #expect(dripped.framed == expected)
        #expect(dripped.mostKept <= LineLimits.clientLine)
    }

    @Test func tooLongIsToldBeforeTheLineEnds() {
        #expect(Reading([bytes(Self.message + "x")]).framed == [.tooLong(bytes(Self.message))])
        #expect(Reading([bytes(Self.message + "x")], ended: true).framed == [.tooLong(bytes(Self.message))])
    }

    @Test func headIsCutBetweenScalars() {
        let reading = Reading([bytes(Self.text(509) + "é" + Self.text(9) + "\n")])
        #expect(reading.framed == [.tooLong(bytes(Self.text(509)))])
    }

    @Test func controlCEndsAnOverlongLine() {
        let reading = Reading([bytes(Self.text(600)), FramerTests.ctrlC + bytes("NICK a\n")])
        #expect(reading.framed.last == .line("NICK a"))
    }

    @Test func telnetInALineIsBounded() {
        let noise = [[UInt8]](repeating: [UInt8](repeating: FramerTests.iac, count: 100), count: 400)
        let reading = Reading([bytes("a")] + noise + [bytes("\nb\n")])
        #expect(reading.mostKept < 8000)
        #expect(reading.framed.last == .line("b"))
    }

    @Test(arguments: ["IMG DATA * * ", "img data i1 0 ", "/IMG DATA * * "])
    func imageDataMayBeLonger(head: String) {
        let fits = head + Self.text(8191 - head.utf8.count)
        #expect(Reading([bytes(fits + "\r\n")]).framed == [.line(fits)])
        let tooLong = Reading([bytes(fits + "x\r\n")]).framed
        #expect(tooLong == [.tooLong(Array(bytes(fits).prefix(510)))])
    }

    @Test(arguments: ["IMG GET ", "IMG DATAX ", "IMG  DATA ", "PRIVMSG #a :IMG DATA "])
    func nothingElseMay(head: String) {
        let line = head + Self.text(600)
        #expect(Reading([bytes(line + "\n")]).framed == [.tooLong(Array(bytes(line).prefix(510)))])
    }

    @Test func theOperatorsSocketTakesLongLines() {
        let fits = "ACCOUNT ADD ana :" + Self.text(8191 - 17)
        #expect(Reading([bytes(fits + "\n")], framer: Framer(long: true)).framed == [.line(fits)])
        let tooLong = Reading([bytes(fits + "x\n")], framer: Framer(long: true)).framed
        #expect(tooLong == [.tooLong(Array(bytes(fits).prefix(510)))])
    }

    @Test func framerIsSmall() { #expect(MemoryLayout<Framer>.size <= 16) }
}

struct DataFramerTests {
    private static var framer: Framer {
        var framer = Framer()
        framer.takesData = true
        return framer
    }

    static let long = String(repeating: "/9j+", count: 5000)

    @Test func aLineOfAnyLengthComesAsItArrives() {
        let input = bytes(Self.long + "\r\n.\nQUIT\n")
        let expected: [Framed] = [.data(bytes(Self.long)), .line("."), .line("QUIT")]
        #expect(Reading([input], framer: Self.framer).framed == expected)
        for size in [1, 7, 509, 510, 511, 4096] {
            let chunks = stride(from: 0, to: input.count, by: size).map {
                Array(input[$0..<min(input.count, $0 + size)])
            }
            let reading = Reading(chunks, framer: Self.framer)
            #expect(reading.framed == expected)
            #expect(reading.mostKept <= 511 + size)
        }
    }

    @Test func shortLinesStayLines() {
        let line = String(repeating: "A", count: 76)
        let reading = Reading([bytes("\(line)\n\(line)\r\n\n.\n")], framer: Self.framer)
        #expect(reading.framed == [.line(line), .line(line), .line(".")])
    }

    @Test func withASpaceALongLineIsNoData() {
        let line = "PRIVMSG #a :" + String(repeating: "x", count: 600)
        #expect(Reading([bytes(line + "\n.\n")], framer: Self.framer).framed.last == .line("."))
        let reading = Reading([bytes(line + "\n")], framer: Self.framer)
        #expect(reading.framed == [.tooLong(Array(bytes(line).prefix(510)))])
    }

    /// Base64 that something else was typed into, and what telnet puts between: the pieces make no difference.
    @Test(arguments: [
        long.prefix(600) + " and more", " \u{FEFF}" + long.prefix(700) + "\u{FEFF} x", long.prefix(300) + " " + long,
    ])
    func whatALineIsDoesNotDependOnThePieces(line: String) {
        let input = bytes(line + "\n.\n")
        let whole = Reading([input], framer: Self.framer).framed
        for size in [1, 7, 510, 511, 512] {
            let chunks = stride(from: 0, to: input.count, by: size).map {
                Array(input[$0..<min(input.count, $0 + size)])
            }
            let framed = Reading(chunks, framer: Self.framer).framed
            #expect(framed.map(\.withoutHead) == whole.map(\.withoutHead))
            #expect(framed.last == .line("."))
        }
    }

    @Test func telnetInDataIsNotCutInTwo() {
        let head = String(Self.long.prefix(600))
        let input = bytes(head) + [0xFF, 0xFA, 24, 1, 0xFF, 0xF0] + bytes("AAAA\n.\n")
        let expected: [Framed] = [.data(bytes(head + "AAAA")), .line(".")]
        for size in [1, 3, 601, 602, 5000] {
            let chunks = stride(from: 0, to: input.count, by: size).map {
                Array(input[$0..<min(input.count, $0 + size)])
            }
            #expect(Reading(chunks, framer: Self.framer).framed == expected)
        }
    }

    @Test func theLastLineNeedsNoEnd() {
        #expect(Reading([bytes(Self.long)], ended: true, framer: Self.framer).framed == [.data(bytes(Self.long))])
    }

    @Test(
        arguments: [
            ("AAAAAAAA\nBBBBBBBBB\r\nCCC", "AAAAAAAA\nBBBBBBBBB\r\n"), ("AAAAAAAA", ""), ("AAAAAAAA\r", ""),
            ("AAAAAAAA\n\nAAAAAAAA\n", "AAAAAAAA\n"), ("AAAAAAAA\n.\n", "AAAAAAAA\n"),
            ("AAAAAAAA\nPART #cats\n", "AAAAAAAA\n"), ("AAAAAAAA\nABORT\n", "AAAAAAAA\n"), (".\n", ""),
            ("AAAAAAAA\n\u{FEFF}AAAAAAAA\n", "AAAAAAAA\n"), ("AAAA\0AAAA\n", ""), ("AAAA AAA\n", ""),
        ])
    func wholeLinesOfDataComeAtOnce(input: String, lines: String) {
        var framer = Self.framer
        with(bytes(input)) { input in
            var offset = 0
            #expect(framer.dataLines(input, at: &offset).description == lines)
            #expect(offset == lines.utf8.count)
            var scratch = ByteBuffer()
            guard case .line(let next) = framer.next(input, at: &offset, ended: true, scratch: &scratch) else {
                #expect(offset == input.count)
                return
            }
            #expect(!next.isEmpty && offset > lines.utf8.count)
        }
    }

    @Test func inTheMiddleOfALineNoWholeLineIsData() {
        var framer = Self.framer
        var scratch = ByteBuffer()
        with(bytes(Self.long)) { long in
            var offset = 0
            _ = framer.next(long, at: &offset, ended: false, scratch: &scratch)
        }
        with("AAAAAAAA\nAAAAAAAA\n") { rest in
            var offset = 0
            #expect(framer.dataLines(rest, at: &offset).isEmpty && offset == 0)
            _ = framer.next(rest, at: &offset, ended: false, scratch: &scratch)
            #expect(framer.dataLines(rest, at: &offset).description == "AAAAAAAA\n")
        }
        framer.takesData = false
        with("AAAAAAAA\n") { line in
            var offset = 0
            #expect(framer.dataLines(line, at: &offset).isEmpty)
        }
    }

    @Test func whenNobodyTakesDataAnyMoreTheRestOfTheLineIsNothing() {
        var framer = Self.framer
        var scratch = ByteBuffer()
        var offset = 0
        var kept = ByteBuffer()
        with(bytes(Self.long)) { kept.append($0) }
        guard case .fragment = framer.next(kept.view, at: &offset, ended: false, scratch: &scratch) else {
            Issue.record("no fragment")
            return
        }
        framer.takesData = false
        with("AAAA\nPING\n") { kept.append($0) }
        guard case .line(let line) = framer.next(kept.view, at: &offset, ended: false, scratch: &scratch) else {
            Issue.record("no line")
            return
        }
        #expect(line == "PING")
    }
}

struct SplitTests {
    /// Every kind of line, one after the other.
    static let corpus: [UInt8] =
        FramerTests.cases.flatMap { $0.input + bytes("\n") } + FramerTests.telnet.flatMap { $0.input + bytes("\n") }

    @Test func everyCutGivesTheSameLines() {
        let whole = Reading([Self.corpus], ended: true)
        #expect(whole.framed.count > 30)
        for cut in 0...Self.corpus.count {
            #expect(Reading([Array(Self.corpus[..<cut]), Array(Self.corpus[cut...])], ended: true) == whole)
        }
        #expect(Reading(Self.corpus.map { [$0] }, ended: true) == whole)
    }

    /// Also with lines over the limit, where only the moment of the report may differ.
    @Test(arguments: 0..<150)
    func randomCutsOfRandomBytes(seed: UInt64) {
        var random = Seeded(state: seed)
        var input: [UInt8] = []
        let alphabet: [UInt8] = [
            0x0A, 0x0D, 0x00, 0x20, 0xFF, 0xFA, 0xF0, 0xFB, 0xFD, 0xF4, 0x04, 0x40, 0x61, 0xC3, 0xA9,
        ]
        for _ in 0..<6 {
            input += random.bytes(Int.random(in: 0..<60, using: &random), of: alphabet)
            input += [UInt8](repeating: 0x62, count: [0, 5, 505, 512, 4090].randomElement(using: &random)!)
            if Bool.random(using: &random) { input += bytes(" ") }
        }
        var chunks: [[UInt8]] = []
        var start = 0
        while start < input.count {
            let end = min(
                input.count, start + Int.random(in: 1...[3, 40, 900].randomElement(using: &random)!, using: &random))
            chunks.append(Array(input[start..<end]))
            start = end
        }
        let cut = Reading(chunks, ended: true)
        #expect(cut == Reading([input], ended: true))
        for case .line(let line) in cut.framed {
            #expect(!line.isEmpty && line[0] != 0x20)
            #expect(!line.contains(0) && !line.contains(0x0A) && !line.contains(0x0D))
            #expect(line.count <= LineLimits.clientLine - 2)
        }
    }
}
