import Bytes
import Testing
import Wire

struct MaskTests {
    /// The cases of the ircdocs parser tests (CC0), mask-match, and the escapes.
    static let corpus: [(mask: String, matches: [String], fails: [String])] = [
        (
            "*@127.0.0.1", ["coolguy!ab@127.0.0.1", "cooldud3!~bc@127.0.0.1"],
            ["coolguy!ab@127.0.0.5", "cooldud3!~d@124.0.0.1"]
        ),
        (
            "cool*@*", ["coolguy!ab@127.0.0.1", "cooldud3!~bc@127.0.0.1", "cool132!ab@example.com"],
            ["koolguy!ab@127.0.0.5", "cooodud3!~d@124.0.0.1"]
        ),
        (
            "cool!*@*", ["cool!guyab@127.0.0.1", "cool!~dudebc@127.0.0.1", "cool!312ab@example.com"],
            ["coolguy!ab@127.0.0.1", "cooldud3!~bc@127.0.0.1", "koolguy!ab@127.0.0.5", "cooodud3!~d@124.0.0.1"]
        ),
        ("cool!?username@*", ["cool!ausername@127.0.0.1", "cool!~username@127.0.0.1"], ["cool!username@127.0.0.1"]),
        ("cool!a?*@*", ["cool!ab@127.0.0.1", "cool!abc@127.0.0.1"], ["cool!a@127.0.0.1"]),
        (
            "cool[guy]!*@*", ["cool[guy]!guy@127.0.0.1", "cool[guy]!a@example.com"],
            ["coolg!ab@127.0.0.1", "cool[!ac@127.0.1.1"]
        ),
        ("", [""], ["a"]),
        ("*", ["", "a", "é*?"], []),
        ("**a**", ["a", "ba", "ab"], ["", "b"]),
        ("a*b*c", ["abc", "axbxbc", "abcbc"], ["ab", "acb", "abcx"]),
        ("?", ["a", "é", "猫", "🐱", "?"], ["", "ab", "éé"]),
        ("*??", ["éa", "猫猫", "abc"], ["é", "猫", "🐱"]),
        (#"a\*b"#, ["a*b", "A*B"], ["axb", #"a\b"#, #"a\*b"#]),
        (#"a\?"#, ["a?"], ["ab"]),
        (#"a\b!*"#, [#"a\b!c"#, #"A\B!"#], ["ab!c"]),
        (#"a\\*"#, [#"a\*"#], [#"a\b"#]),
        (#"a\"#, [#"a\"#], ["a"]),
        ("ABCÉ*", ["abcÉx"], ["abcéx"]),
        ("{a}", ["{A}"], ["[a]"]),
    ]

    @Test(arguments: corpus.indices)
    func matches(index: Int) {
        let (mask, matching, failing) = Self.corpus[index]
        for text in matching { #expect(with(mask) { m in with(text) { Mask.matches(m, $0) } }, "\(mask) \(text)") }
        for text in failing { #expect(!with(mask) { m in with(text) { Mask.matches(m, $0) } }, "\(mask) \(text)") }
    }

    /// Against the plain recursive definition.
    @Test func agreesWithTheDefinition() {
        func defined(_ mask: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
            guard let first = mask.first else { return text.isEmpty }
            if first == 0x2A {
                return defined(mask.dropFirst(), text) || (!text.isEmpty && defined(mask, text.dropFirst()))
            }
            guard let next = text.first, first == 0x3F || first == next else { return false }
            return defined(mask.dropFirst(), text.dropFirst())
        }
        var random = Seeded(state: 2)
        for _ in 0..<3000 {
            let mask = (0..<Int.random(in: 0..<7, using: &random)).map { _ in
                bytes("*?ab").randomElement(using: &random)!
            }
            let text = (0..<Int.random(in: 0..<8, using: &random)).map { _ in bytes("ab").randomElement(using: &random)!
            }
            #expect(with(mask) { m in with(text) { Mask.matches(m, $0) } } == defined(mask[...], text[...]))
        }
    }

    @Test func manyStarsEnd() {
        let mask = String(repeating: "*a", count: 250) + "b"
        let text = String(repeating: "a", count: 500)
        #expect(!with(mask) { m in with(text) { Mask.matches(m, $0) } })
    }

    @Test(arguments: [
        ("nick", "nick!*@*"), ("user@host", "*!user@host"), ("a!b", "a!b@*"), ("a!b@c", "a!b@c"), ("@c", "*!*@c"),
        ("!b", "*!b@*"), ("a!@", "a!*@*"), ("", "*!*@*"), ("*", "*!*@*"), ("**", "*!*@*"), ("a**b***!*@**", "a*b*!*@*"),
        (#"a\**"#, #"a\**!*@*"#), ("example.com", "*!*@example.com"), ("2001:db8::1", "*!*@2001:db8::1"),
        ("a!b@c@d", "a!b@c@d"), ("~a:bo", "~a:bo"), ("a:bo", "a:bo"), ("m:a!b@c", "m:a!b@c"), ("u:*", "u:*"),
        ("a@b!c", "a@b!c@*"),
    ])
    func normalizes(mask: String, full: String) { #expect(with(mask) { Mask.normalize($0) }.string == full) }

    @Test func anyBytesAreMasks() {
        var random = Seeded(state: 3)
        for _ in 0..<2000 {
            let alphabet = bytes("*?\\!@:a~") + [0xC3, 0xA9]
            let mask = random.bytes(Int.random(in: 0..<12, using: &random), of: alphabet)
            let text = random.bytes(Int.random(in: 0..<12, using: &random), of: alphabet)
            let full = with(mask) { Mask.normalize($0) }
            #expect(full.withView { Mask.isExtended($0) || ($0.contains(0x21) && $0.contains(0x40)) })
            #expect(full.withView { Mask.normalize($0) } == full)
            _ = full.withView { m in with(text) { Mask.matches(m, $0) } }
        }
    }
}
