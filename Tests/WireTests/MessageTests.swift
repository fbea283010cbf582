import Bytes
import Testing
import Wire

/// A message as text, for comparing.
struct Atoms: Equatable {
    var tags: [String: String] = [:]
    var source = ""
    var verb: String
    var params: [String] = []

    init(_ verb: String, _ params: [String] = [], tags: [String: String] = [:], source: String = "") {
        (self.tags, self.source, self.verb, self.params) = (tags, source, verb, params)
    }

    init?(parsing text: String) {
        let parsed: Atoms? = with(text) { line in
            guard let message = Message(parsing: line) else { return nil }
            var atoms = Atoms(message.command.description, source: message.source.description)
            Tags.each(message.tags) { atoms.tags[$0.key.description] = Tags.unescape($0.rawValue).string }
            for i in 0..<message.parameterCount { atoms.params.append(message[i].description) }
            return atoms
        }
        guard let parsed else { return nil }
        self = parsed
    }
}

struct MessageTests {
    static let longTags = "@tag1=value1;tag2;vendor1/tag3=value2;vendor2/tag4"
    static let longParams = ["param1", "param2", "param3 param3"]
    static let longValues = ["tag1": "value1", "tag2": "", "vendor1/tag3": "value2", "vendor2/tag4": ""]

    /// The cases of the ircdocs parser tests (CC0), msg-split.
    static let corpus: [(String, Atoms)] = [
        ("foo bar baz asdf", Atoms("foo", ["bar", "baz", "asdf"])),
        (":coolguy foo bar baz asdf", Atoms("foo", ["bar", "baz", "asdf"], source: "coolguy")),
        ("foo bar baz :asdf quux", Atoms("foo", ["bar", "baz", "asdf quux"])),
        ("foo bar baz :", Atoms("foo", ["bar", "baz", ""])),
        ("foo bar baz ::asdf", Atoms("foo", ["bar", "baz", ":asdf"])),
        (":coolguy foo bar baz :asdf quux", Atoms("foo", ["bar", "baz", "asdf quux"], source: "coolguy")),
        (":coolguy foo bar baz :  asdf quux ", Atoms("foo", ["bar", "baz", "  asdf quux "], source: "coolguy")),
        (":coolguy PRIVMSG bar :lol :) ", Atoms("PRIVMSG", ["bar", "lol :) "], source: "coolguy")),
        (":coolguy foo bar baz :", Atoms("foo", ["bar", "baz", ""], source: "coolguy")),
        (":coolguy foo bar baz :  ", Atoms("foo", ["bar", "baz", "  "], source: "coolguy")),
        ("@a=b;c=32;k;rt=ql7 foo", Atoms("foo", tags: ["a": "b", "c": "32", "k": "", "rt": "ql7"])),
        (
            #"@a=b\\and\nk;c=72\s45;d=gh\:764 foo"#,
            Atoms("foo", tags: ["a": "b\\and\nk", "c": "72 45", "d": "gh;764"])
        ),
        ("@c;h=;a=b :quux ab cd", Atoms("ab", ["cd"], tags: ["c": "", "h": "", "a": "b"], source: "quux")),
        (":src JOIN #chan", Atoms("JOIN", ["#chan"], source: "src")),
        (":src JOIN :#chan", Atoms("JOIN", ["#chan"], source: "src")),
        (":src AWAY", Atoms("AWAY", source: "src")),
        (":src AWAY ", Atoms("AWAY", source: "src")),
        (":cool\tguy foo bar baz", Atoms("foo", ["bar", "baz"], source: "cool\tguy")),
        (
            ":coolguy!ag@net\u{3}5w\u{3}ork.admin PRIVMSG foo :bar baz",
            Atoms("PRIVMSG", ["foo", "bar baz"], source: "coolguy!ag@net\u{3}5w\u{3}ork.admin")
        ),
        (
            longTags + "= :irc.example.com COMMAND param1 param2 :param3 param3",
            Atoms("COMMAND", longParams, tags: longValues, source: "irc.example.com")
        ),
        (
            ":irc.example.com COMMAND param1 param2 :param3 param3",
            Atoms("COMMAND", longParams, source: "irc.example.com")
        ),
        (longTags + " COMMAND param1 param2 :param3 param3", Atoms("COMMAND", longParams, tags: longValues)),
        ("COMMAND", Atoms("COMMAND")),
        (#"@foo=\\\\\:\\s\s\r\n COMMAND"#, Atoms("COMMAND", tags: ["foo": "\\\\;\\s \r\n"])),
        (
            ":gravel.mozilla.org 432  #momo :Erroneous Nickname: Illegal characters",
            Atoms("432", ["#momo", "Erroneous Nickname: Illegal characters"], source: "gravel.mozilla.org")
        ),
        (":gravel.mozilla.org MODE #tckk +n ", Atoms("MODE", ["#tckk", "+n"], source: "gravel.mozilla.org")),
        (
            ":services.esper.net MODE #foo-bar +o foobar  ",
            Atoms("MODE", ["#foo-bar", "+o", "foobar"], source: "services.esper.net")
        ),
        (#"@tag1=value\\ntest COMMAND"#, Atoms("COMMAND", tags: ["tag1": #"value\ntest"#])),
        (#"@tag1=value\1 COMMAND"#, Atoms("COMMAND", tags: ["tag1": "value1"])),
        (#"@tag1=value1\ COMMAND"#, Atoms("COMMAND", tags: ["tag1": "value1"])),
        ("@tag1=1;tag2=3;tag3=4;tag1=5 COMMAND", Atoms("COMMAND", tags: ["tag1": "5", "tag2": "3", "tag3": "4"])),
        (
            "@tag1=1;tag2=3;tag3=4;tag1=5;vendor/tag2=8 COMMAND",
            Atoms("COMMAND", tags: ["tag1": "5", "tag2": "3", "tag3": "4", "vendor/tag2": "8"])
        ),
        (":SomeOp MODE #channel :+i", Atoms("MODE", ["#channel", "+i"], source: "SomeOp")),
        (
            ":SomeOp MODE #channel +oo SomeUser :AnotherUser",
            Atoms("MODE", ["#channel", "+oo", "SomeUser", "AnotherUser"], source: "SomeOp")
        ),
        ("  NICK   a  ", Atoms("NICK", ["a"])),
        ("@a   :b   NICK", Atoms("NICK", tags: ["a": ""], source: "b")),
    ]

    @Test(arguments: corpus.indices)
    func splits(index: Int) {
        #expect(Atoms(parsing: Self.corpus[index].0) == Self.corpus[index].1)
    }

    @Test(arguments: ["", " ", ":", ":src", ":src  ", "@", "@a=b", "@a :src", "@a :src ", ": "])
    func withoutCommandIsNothing(line: String) { #expect(Atoms(parsing: line) == nil) }

    @Test func fifteenthParameterTakesTheRest() {
        let words = (1...14).map { "p\($0)" }
        let line = "C " + words.joined(separator: " ")
        #expect(Atoms(parsing: line + " a b  c :d ")?.params == words + ["a b  c :d "])
        #expect(Atoms(parsing: line + " :a b")?.params == words + ["a b"])
        #expect(Atoms(parsing: line + " :")?.params == words + [""])
        #expect(Atoms(parsing: line + "  ")?.params == words)
        #expect(MemoryLayout<Message>.size <= 32)
    }

    @Test func givesParametersAndTheRest() throws {
        try with("MSG  bo  hi :there  you ") { line in
            let message = try #require(Message(parsing: line))
            #expect(message.rest(from: 0) == "bo  hi :there  you ")
            #expect(message.rest(from: 1) == "hi :there  you ")
            #expect(message.rest(from: 2) == "there  you ")
            #expect(message.rest(from: 3).isEmpty && message.rest(from: -1).isEmpty)
            #expect(message.last?.description == "there  you ")
            #expect(message.parameter(3) == nil && message.parameter(-1) == nil)
            #expect(message.line == line)
        }
        #expect(with("QUIT") { Message(parsing: $0)?.last == nil })
    }

    @Test func refusesWhatNoLineCanBe() {
        #expect(with([UInt8](repeating: 0x61, count: 65_536)) { Message(parsing: $0) == nil })
        #expect(with([UInt8](repeating: 0x61, count: 65_535)) { Message(parsing: $0)?.command.count } == 65_535)
    }

    @Test(arguments: [
        ("a", true), ("a:", true), (":a", false), ("", false), ("a b", false), ("a\n", false), ("é", true),
    ])
    func knowsMiddles(word: String, expected: Bool) { #expect(with(word) { Message.isMiddle($0) } == expected) }

    @Test func splitsSources() {
        let cases = [
            ("coolguy", ["coolguy", "", ""]), ("coolguy!ag@127.0.0.1", ["coolguy", "ag", "127.0.0.1"]),
            ("coolguy@127.0.0.1", ["coolguy", "", "127.0.0.1"]), ("coolguy!ag", ["coolguy", "ag", ""]),
            ("a@b!c", ["a", "", "b!c"]), ("", ["", "", ""]), ("!@", ["", "", ""]),
        ]
        for (text, parts) in cases {
            with(text) {
                let source = Source($0)
                #expect([source.nick, source.user, source.host].map(\.description) == parts)
            }
        }
    }
}

struct TagTests {
    @Test(arguments: [
        ("a;b c\\d\r\n", #"a\:b\sc\\d\r\n"#), ("", ""), ("plain=é", "plain=é"), (";;", #"\:\:"#), ("\0a", "a"),
    ])
    func escapes(plain: String, escaped: String) { #expect(with(plain) { Tags.escape($0) }.string == escaped) }

    @Test func escapingRoundTrips() {
        var random = Seeded(state: 1)
        for _ in 0..<300 {
            let value = random.bytes(Int.random(in: 0..<20, using: &random), of: bytes("a; \\\r\nsrn:")).filter {
                $0 != 0
            }
            let escaped = with(value) { Tags.escape($0) }
            #expect(escaped.withView { Tags.unescape($0) }.bytes == value)
            #expect(!escaped.bytes.contains { $0 == 0x20 || $0 == 0x3B || $0 == 0x0A || $0 == 0x0D })
        }
    }

    @Test func findsValues() {
        func value(_ tags: String) -> String? { with(tags) { Tags.value(of: "label", in: $0)?.description } }
        #expect(value("a=1;label=x;b") == "x")
        #expect(value("label=x;label=y") == "y")
        #expect(value("label") == "" && value("label=") == "")
        #expect(value("label=a=b") == "a=b")
        #expect(value("labels=x;+label=x;Label=x") == nil)
        #expect(value("") == nil && value(";;=x;") == nil)
    }

    @Test func knowsClientOnlyTags() {
        var keys: [String] = []
        with("a;+b=1;+draft/c;d") { Tags.each($0) { if $0.isClientOnly { keys.append($0.key.description) } } }
        #expect(keys == ["+b", "+draft/c"])
    }

    @Test(arguments: [
        ("a", true), ("+a", true), ("draft/reply", true), ("+example.com/a-b", true), ("A-1", true), ("", false),
        ("+", false), ("a/", false), ("/a", false), ("a/b/c", false), ("a.b", false), ("a_b", false), ("++a", false),
        ("é", false),
    ])
    func validatesKeys(key: String, expected: Bool) { #expect(with(key) { Tags.isValidKey($0) } == expected) }

    @Test func validatesTags() {
        #expect(with("a=é;+b/c=1") { Tags.isValid($0) } && with("") { Tags.isValid($0) })
        #expect(!with([0x61, 0x3D, 0xFF]) { Tags.isValid($0) } && !with("a;b c") { Tags.isValid($0) })
    }
}
