import Foundation
import Server
import TestKit
import Testing

@Suite struct VerbParsingTests {
    static let understood: [(String, Verb)] = [
        ("", .serve(configuration: nil)),
        ("serve", .serve(configuration: nil)),
        ("--config a.toml", .serve(configuration: "a.toml")),
        ("serve -c a.toml", .serve(configuration: "a.toml")),
        ("--config=a.toml serve", .serve(configuration: "a.toml")),
        ("check-config", .checkConfig(file: nil)),
        ("check-config a.toml", .checkConfig(file: "a.toml")),
        ("check-config --config a.toml", .checkConfig(file: "a.toml")),
        ("default-config", .defaultConfig),
        ("hash-password", .hashPassword),
        ("export =u2k4x6abcdefg", .export("=u2k4x6abcdefg", configuration: nil)),
        ("export --channel #cats", .exportChannel("#cats", configuration: nil)),
        ("-c a.toml export --channel cats", .exportChannel("cats", configuration: "a.toml")),
        ("check-store", .checkStore(configuration: nil)),
        ("check-store -c a.toml", .checkStore(configuration: "a.toml")),
        ("--config a.toml operator KLINE --help", .command(["KLINE", "--help"], configuration: "a.toml")),
        // The words are right, and a table of arguments cannot throw.
        (
            "account add ana a@b.example",
            .account(try! AccountVerb(["add", "ana", "a@b.example"]), configuration: nil)
        ),
        ("account --help", .help),
        ("serve --help", .help), ("-h", .help), ("help", .help),
        ("--version", .version), ("-V", .version), ("version", .version),
    ]

    @Test(arguments: understood) func understands(_ line: String, _ verb: Verb) throws {
        #expect(try Verb.parse(line.split(separator: " ").map(String.init)) == verb)
    }

    static let refused: [(String, String)] = [
        ("srve", "unknown verb \"srve\"; did you mean serve?"),
        ("frobnicate", "unknown verb \"frobnicate\""),
        ("--confg a", "unknown option \"--confg\"; did you mean --config?"),
        ("--config", "--config needs a file"),
        ("--config a --config b", "more than one configuration file"),
        ("check-config a --config b", "more than one configuration file"),
        ("check-config a b", "check-config: unexpected \"b\""),
        ("serve a.toml", "serve: unexpected \"a.toml\""),
        ("default-config --config a", "default-config takes no --config"),
        ("export --channel", "--channel needs a channel"),
        ("serve --channel #cats", "--channel is for export alone"),
        ("operator", "operator: which command? Try: parley operator help operator"),
    ]

    @Test(arguments: refused) func refuses(_ line: String, _ text: String) {
        let error = #expect(throws: Verb.UsageError.self) {
            try Verb.parse(line.split(separator: " ").map(String.init))
        }
        #expect(error?.text == text)
    }

    @Test func helpFitsOneScreen() {
        let lines = Help.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 24)
        #expect(lines.allSatisfy { $0.utf8.count <= 90 })
    }
}

/// The built binary, as a person runs it.
@Suite struct VerbsTests {
    func parley(_ command: String, before: String = "") throws -> Pipeline {
        try Pipeline.run("\(before)'\(ServerProcess.binary)' \(command)")
    }

    @Test func tellsItsVersion() throws {
        let ran = try parley("--version")
        #expect(ran.output == "parley \(Version.string)\n")
        #expect(ran.status == 0)
    }

    @Test func printsHelpAndDefaults() throws {
        #expect(try parley("--help").output == Help.text)
        #expect(try parley("default-config").output == DefaultsText.make())
    }

    @Test func wrongUsageIsOneLineWithAHint() throws {
        let ran = try parley("srve")
        #expect(ran.output == "parley: unknown verb \"srve\"; did you mean serve?; see parley --help\n")
        #expect(ran.status == 2)
    }

    @Test func checksAFile() throws {
        let directory = try TemporaryDirectory()
        let good = try directory.write(
            "good.toml", "[server]\nname = \"irc.example.org\"\n[store]\npath = \"x/y.db\"\n")
        let fine = try parley("check-config \(good)")
        #expect(fine.output == "\(good): fine; irc.example.org, 4 listeners, database x/y.db\n")
        #expect(fine.status == 0)

        let bad = try directory.write("bad.toml", "[server]\nnmae = 1\n\n[limits]\ntargets = 0\n")
        let wrong = try parley("check-config --config \(bad)")
        #expect(
            wrong.lines == [
                "\(bad):2:1: server.nmae: unknown key; did you mean server.name?",
                "\(bad):5:11: limits.targets: 0 is out of range, allowed is 1 to 100",
            ])
        #expect(wrong.status == 1)
        #expect(try parley("serve --config \(bad)").status == 1)
    }

    @Test func checksTheFilesThatAFileNames() throws {
        let directory = try TemporaryDirectory()
        let text = "[server]\nmotd = \"/nowhere/motd\"\n[tls]\ncertificate = \"/nowhere/c\"\nkey = \"/nowhere/k\"\n"
        let file = try directory.write("a.toml", text)
        let ran = try parley("check-config \(file)")
        #expect(
            ran.lines == [
                "\(file): server.motd: /nowhere/motd: No such file or directory",
                "\(file): tls.certificate: /nowhere/c: No such file or directory",
                "\(file): tls.key: /nowhere/k: No such file or directory",
            ])
        #expect(ran.status == 1)
    }

    @Test func aFullOutputIsAFailure() throws {
        let ran = try parley("default-config > /dev/full")
        #expect(ran.status == 1)
        #expect(ran.output == "parley: cannot write: No space left on device\n")
    }

    @Test func hashesAPasswordFromAPipe() throws {
        let ran = try parley("hash-password", before: "printf 'correct horse\\r\\nmore\\n' | ")
        #expect(ran.status == 0)
        #expect(ran.lines.count == 1)
        let hash = try #require(ran.lines.first)
        #expect(hash.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        #expect(matches("correct horse", hash))
        #expect(!matches("correct horse\r", hash))
        #expect(try parley("hash-password", before: "printf 'correct horse' | ").output != ran.output)
    }

    @Test(arguments: ["", "\\n", "\\r\\n"]) func refusesAnEmptyPassword(_ input: String) throws {
        let ran = try parley("hash-password", before: "printf '\(input)' | ")
        #expect(ran.output == "parley: no password given\n")
        #expect(ran.status == 1)
    }

    @Test func refusesAnEndlessPassword() throws {
        let ran = try parley("hash-password", before: "head -c 100000 /dev/zero | ")
        #expect(ran.output.hasPrefix("parley: the password is longer than 1024 bytes"))
        #expect(ran.status == 1)
    }
}

/// At a terminal: asked for, and not shown.
@Suite struct PasswordPromptTests {
    @Test func theTerminalDoesNotShowThePassword() throws {
        let terminal = try Terminal([ServerProcess.binary, "hash-password"])
        try terminal.expect("Password: ")
        try terminal.type("correct horse\n")
        let output = try terminal.finish()
        #expect(terminal.status == 0)
        #expect(!output.contains("correct"))
        let hash = try #require(output.split(whereSeparator: \.isNewline).last.map(String.init))
        #expect(matches("correct horse", hash))
        #expect(terminal.hasEcho, "the terminal is left as it was")
    }

    @Test func controlCEndsThePrompt() throws {
        let terminal = try Terminal([ServerProcess.binary, "hash-password"])
        try terminal.expect("Password: ")
        try terminal.type("half\u{3}")
        let output = try terminal.finish()
        #expect(terminal.status == 1)
        #expect(output.contains("no password given"))
        #expect(terminal.hasEcho)
    }
}
