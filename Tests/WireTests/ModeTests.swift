import Bytes
import Testing
import Wire

struct ModeTests {
    static let kinds: [UInt8: ModeKind] = [
        0x62: .list, 0x65: .list, 0x6B: .always, 0x6F: .always, 0x76: .always, 0x6C: .onSet, 0x6D: .flag, 0x6E: .flag,
    ]

    /// `+o ana`, `?b` list query, `!-o` missing parameter, `#x` unknown.
    static func parse(_ text: String) -> [String] {
        with(text) { line in
            let words = line.parts(0x20)
            let modes = ModeParser.parse(words.first ?? .empty) {
                $0 + 1 < words.count ? words[$0 + 1] : nil
            } kinds: {
                Self.kinds[$0]
            }
            return modes.map {
                func name(_ letter: UInt8) -> String { String(UnicodeScalar(letter)) }
                switch $0 {
                case .change(let change):
                    let parameter = change.parameter.map { " " + $0.description } ?? ""
                    return (change.adding ? "+" : "-") + name(change.letter) + parameter
                case .listQuery(let letter): return "?" + name(letter)
                case .missingParameter(let letter, let adding): return "!" + (adding ? "+" : "-") + name(letter)
                case .unknown(let letter): return "#" + name(letter)
                }
            }
        }
    }

    @Test(arguments: [
        ("+m", ["+m"]), ("m", ["+m"]), ("-mn", ["-m", "-n"]), ("+ob-v ana *!*@x bo", ["+o ana", "+b *!*@x", "-v bo"]),
        ("+l 5", ["+l 5"]), ("-l 5", ["-l"]), ("-lo ana", ["-l", "-o ana"]), ("+k key", ["+k key"]),
        ("-k key", ["-k key"]),
        ("-k", ["!-k"]), ("+l", ["!+l"]), ("+o", ["!+o"]), ("b", ["?b"]), ("+b", ["?b"]), ("-b", ["?b"]),
        ("bbbe", ["?b", "?e"]), ("+bb x", ["+b x", "?b"]), ("+xmxy", ["#x", "+m", "#y"]), ("+", []), ("", []),
        ("+-+-m", ["-m"]),
        ("-+m", ["+m"]), ("ooo a", ["+o a", "!+o"]), ("+mo-n+v a b", ["+m", "+o a", "-n", "+v b"]),
        ("+oxo a b", ["+o a", "#x", "+o b"]),
    ])
    func parses(text: String, expected: [String]) { #expect(Self.parse(text) == expected) }

    static func change(_ text: StaticString, _ parameter: ByteString? = nil) -> AppliedMode {
        let view = ByteView(text)
        return AppliedMode(adding: view[0] == 0x2B, letter: view[1], parameter: parameter)
    }

    @Test func joinsChanges() {
        let changes = [
            Self.change("+o", "a"), Self.change("+b", "m"), Self.change("-v", "b"), Self.change("-m"),
            Self.change("+n"),
        ]
        func lines(_ maxBytes: Int, _ maxParameters: Int = .max) -> [String] {
            ModeFormatter.lines(changes, maxBytes: maxBytes, maxParameters: maxParameters).map(\.string)
        }
        #expect(lines(400) == ["+ob-vm+n a m b"])
        #expect(lines(400, 2) == ["+ob a m", "-vm+n b"])
        #expect(lines(400, 1) == ["+o a", "+b m", "-vm+n b"])
        #expect(lines(8) == ["+ob a m", "-vm+n b"])
        #expect(lines(1) == ["+o a", "+b m", "-v b", "-m", "+n"])
        #expect(ModeFormatter.lines([], maxBytes: 400).isEmpty)
    }

    @Test func whatIsJoinedParsesToTheSame() {
        var random = Seeded(state: 6)
        for _ in 0..<300 {
            let changes = (0..<Int.random(in: 1..<12, using: &random)).map { _ in
                let letter = bytes("beovmn").randomElement(using: &random)!
                let hasParameter = letter != 0x6D && letter != 0x6E
                return AppliedMode(
                    adding: Bool.random(using: &random), letter: letter,
                    parameter: hasParameter ? "p\(Int.random(in: 0..<1000, using: &random))" : nil)
            }
            let lines = ModeFormatter.lines(changes, maxBytes: 20, maxParameters: 3)
            let expected = changes.map {
                ($0.adding ? "+" : "-") + String(UnicodeScalar($0.letter))
                    + ($0.parameter.map { " " + $0.string } ?? "")
            }
            #expect(lines.flatMap { Self.parse($0.string) } == expected)
            #expect(lines.allSatisfy { $0.count <= 20 })
        }
    }
}
