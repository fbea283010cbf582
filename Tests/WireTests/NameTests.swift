import Bytes
import Testing
import Wire

struct NameTests {
    @Test(arguments: [
        "a", "Ana", "a1", "[x]", "`_^{|}\\", "a-b", "a~", "ünïcödé", "猫", "a猫1", "नमस्ते", "🐱", "a·b", "w_\u{301}",
    ])
    func nicksThatAre(nick: String) { #expect(with(nick) { Names.isValidNick($0) }) }

    @Test(arguments: [
        "", "1a", "-a", "~a", ":a", "#a", "&a", "+a", "@a", "%a", "$a", "=a", "!a", ".a", "a b", "a,b", "a*", "a?",
        "a!b",
        "a@b", "a:b", "a.b", "a\u{7F}", "a\t", "a\u{1}", "a\u{A0}b", "a\u{200B}", "a\u{200F}", "a\u{2028}",
        "a\u{202E}b",
        "a\u{2060}", "\u{FEFF}a", "a\u{3000}", "a\u{85}", "a\u{FE0F}", "a\u{3164}", "a\u{2800}", "a\u{E000}",
        "a\u{FFFD}",
        "\u{301}a", "a！b", "a＠b", "a\u{E0041}", "\u{115F}", "a/b", "a'b",
    ])
    func nicksThatAreNot(nick: String) { #expect(!with(nick) { Names.isValidNick($0) }) }

    @Test(arguments: ["#a", "##", "#a!b", "#a.b-c", "#猫", "#a@b", "#é’"])
    func channelsThatAre(channel: String) { #expect(with(channel) { Names.isValidChannel($0) }) }

    @Test(arguments: [
        "", "#", "a", "&a", "+a", "!a", "#a b", "#a,b", "#a\u{7}", "#a:b", "#a*", "#a?", "#a\u{1}", "#a\u{7F}",
        "#\u{200B}",
        "#a\u{A0}", "#a\u{202E}", "#\u{3164}", "#a\0", "#a\r",
    ])
    func channelsThatAreNot(channel: String) { #expect(!with(channel) { Names.isValidChannel($0) }) }

    @Test func lengthsAreBytes() {
        #expect(with(String(repeating: "a", count: 32)) { Names.isValidNick($0) })
        #expect(!with(String(repeating: "a", count: 33)) { Names.isValidNick($0) })
        #expect(!with(String(repeating: "é", count: 17)) { Names.isValidNick($0) })
        #expect(with(String(repeating: "a", count: 33)) { Names.isValidNick($0, limit: 33) })
        #expect(with("#" + String(repeating: "a", count: 63)) { Names.isValidChannel($0) })
        #expect(!with("#" + String(repeating: "a", count: 64)) { Names.isValidChannel($0) })
    }

    @Test func brokenUTF8IsNoName() {
        for broken: [UInt8] in [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x80]] {
            #expect(!with(bytes("a") + broken) { Names.isValidNick($0) })
            #expect(!with(bytes("#a") + broken) { Names.isValidChannel($0) })
        }
    }

    @Test(arguments: [
        ("ana", "ana"), ("~ana", "ana"), ("a b@c", "abc"), ("", "user"), ("@!*", "user"), ("a.b-c_1", "a.b-c_1"),
        ("é", "user"),
        ("abcdefghijklmnopqrstu", "abcdefghijklmnopqr"),
    ])
    func sanitizesUsers(sent: String, kept: String) {
        let user = with(sent) { Names.sanitizeUser($0) }
        #expect(user.string == kept)
        #expect(user.withView { Names.isValidUser($0) })
        #expect(with(sent) { Names.isValidUser($0) } == (sent == kept))
    }

    @Test func keysFoldASCIIAlone() {
        func key(_ name: String) -> NameKey { NameKey(ByteString(name)) }
        #expect(key("ANA") == key("ana") && key("ANA").hashValue == key("ana").hashValue)
        #expect(key("#Parley-Ünï[]{}~^Z@`") == key("#parley-Ünï[]{}~^z@`"))
        #expect(key("Ünï") != key("ünï") && key("[") != key("{") && key("@") != key("`"))
        #expect(key("a") != key("a\0") && key("") != key("\0"))
        #expect(key("aaaaaaaab") != key("aaaaaaaac"))
    }

    @Test func keysAgreeWithFolding() {
        var random = Seeded(state: 4)
        for _ in 0..<1500 {
            let count = Int.random(in: 0...70, using: &random)
            let name = ByteString(random.bytes(count, of: bytes("@AZ[`az{") + [0x00, 0x7F, 0x80, 0xC1, 0xDA, 0xFF]))
            let folded = name.withView { Names.fold($0) }
            #expect(NameKey(name) == NameKey(folded))
            guard count > 0 else { continue }
            var other = folded.bytes
            let place = Int.random(in: 0..<count, using: &random)
            other[place] = random.next() & 1 == 0 ? other[place] ^ 0x80 : other[place] &+ 1
            let same = ByteString(other).withView { Names.fold($0) } == folded
            if place < 64 { #expect((NameKey(ByteString(other)) == NameKey(name)) == same) }
        }
    }

    @Test func overlongNamesAreKeyedByStartAndLength() {
        let start = String(repeating: "a", count: 64)
        #expect(NameKey(ByteString(start + "b")) == NameKey(ByteString(start + "c")))
        #expect(NameKey(ByteString(start + "b")) != NameKey(ByteString(start)))
    }
}

struct UTF8Tests {
    /// Swift's own decoder repairs what is broken; text is valid if that changed nothing.
    @Test func agreesWithTheLanguage() {
        var random = Seeded(state: 5)
        let alphabet: [UInt8] = [
            0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xC3, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF4,
            0xF5,
        ]
        var valid = 0
        for _ in 0..<6000 {
            var text = random.bytes(Int.random(in: 0..<5, using: &random), of: alphabet)
            if Bool.random(using: &random) { text = bytes("twelve ASCII") + text }
            let expected = Array(String(decoding: text, as: UTF8.self).utf8) == text
            valid += expected ? 1 : 0
            #expect(with(text) { UTF8Check.isValid($0) } == expected)
        }
        #expect(valid > 300 && valid < 5700)
    }

    @Test(arguments: [
        ("é", 1, 0), ("aé", 2, 1), ("aé", 3, 3), ("🐱", 3, 0), ("a🐱b", 4, 1), ("ab", 1, 1), ("ab", 9, 2), ("ab", 0, 0),
    ])
    func cutsBetweenScalars(text: String, limit: Int, expected: Int) {
        #expect(with(text) { UTF8Check.scalarBoundary($0, atMost: limit) } == expected)
    }

    @Test func cutsGarbageAnywhere() {
        #expect(with([UInt8](repeating: 0x80, count: 9)) { UTF8Check.scalarBoundary($0, atMost: 6) } == 6)
        #expect(with([0x80, 0x80]) { UTF8Check.scalarBoundary($0, atMost: 1) } == 1)
        #expect(with([]) { UTF8Check.scalarBoundary($0, atMost: -1) } == 0)
    }

    @Test(arguments: [
        ("ab\u{8}c", "ac"), ("\u{7F}a", "a"), ("aé\u{8}b", "ab"), ("a🐱\u{7F}\u{7F}\u{7F}", ""),
        ("NICJ\u{8}K a", "NICK a"),
    ])
    func editsLines(typed: String, meant: String) {
        var edited = ByteBuffer()
        edited.append("before" as StaticString)
        #expect(with(typed) { LineEditing.apply($0, into: &edited) })
        #expect(edited.view.description == meant)
    }

    @Test func leavesOtherLines() {
        var edited = ByteBuffer()
        #expect(!with("plain é") { LineEditing.apply($0, into: &edited) } && edited.isEmpty)
        #expect(with([0x80, 0x80, 0x80, 0x80, 0x80, 8]) { LineEditing.apply($0, into: &edited) })
        #expect(edited.count == 4)
    }
}
