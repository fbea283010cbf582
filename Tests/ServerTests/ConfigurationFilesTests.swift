import Bytes
import Foundation
import Server
import TestKit
import Testing

@Suite struct PlacesTests {
    func places(_ text: String = "", state: String? = nil, host: String = "localhost") throws -> Places {
        Places(try configuration(text), Environment(stateDirectory: state, hostName: host))
    }

    @Test func dataLieInTheStateDirectoryOrBeside() throws {
        #expect(try places().database == "./data/parley.db")
        #expect(try places(state: "/var/lib/parley").database == "/var/lib/parley/parley.db")
        #expect(try places(state: "/var/lib/parley").secret == "/var/lib/parley/secret")
        let own = try places("[store]\npath = \"/srv/chat/a.db\"", state: "/var/lib/parley")
        #expect(own.database == "/srv/chat/a.db")
        #expect(own.dataDirectory == "/srv/chat")
        #expect(try places("[store]\npath = \"a.db\"").dataDirectory == ".")
        #expect(try places("[store]\npath = \"/a.db\"").dataDirectory == "/")
    }

    @Test func theCertificateIsConfiguredOrMade() throws {
        let made = try places(state: "/d")
        #expect(made.makesCertificate && made.certificate == "/d/tls-cert.pem" && made.key == "/d/tls-key.pem")
        let own = try places("[tls]\ncertificate = \"c\"\nkey = \"k\"")
        #expect(!own.makesCertificate && own.certificate == "c" && own.key == "k")
    }

    @Test(arguments: [
        ("", "irc.example.org", "irc.example.org"), ("", "box", "parley.local"), ("", "bad_name.x", "parley.local"),
        ("", "", "parley.local"), ("[server]\nname = \"a.b\"", "irc.example.org", "a.b"),
    ])
    func theServerHasAName(_ text: String, _ host: String, _ name: String) throws {
        #expect(try places(text, host: host).serverName == name)
    }
}

@Suite struct SecretTests {
    @Test func isMadeOnceAndStays() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/secret"
        let first = try Secret.load(path)
        #expect(first.bytes.count == 32)
        #expect(try directory.mode("secret") == 0o600)
        #expect(try Secret.load(path).bytes == first.bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["secret"])
        #expect("\(first)" == "(secret)" && String(reflecting: first) == "(secret)")
        #expect(try Secret.load("\(directory.path)/other").bytes != first.bytes)
    }

    @Test func anotherLengthIsRefused() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("secret", "short")
        chmod(path, 0o600)
        let refusal = #expect(throws: DataRefusal.self) { try Secret.load(path) }
        #expect(refusal?.description.hasPrefix("\(path) has 5 bytes and should have 32: ") == true)
    }

    @Test func oneThatEverybodyCanReadIsRefused() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/secret"
        _ = try Secret.load(path)
        chmod(path, 0o644)
        let refusal = #expect(throws: DataRefusal.self) { try Secret.load(path) }
        #expect(refusal?.description.contains("chmod 600 \(path)") == true)
    }

    @Test func aDirectoryThatIsNotThereIsNamed() {
        let refusal = #expect(throws: DataRefusal.self) { try Secret.load("/nowhere/secret") }
        #expect(refusal?.description == "/nowhere/secret: No such file or directory")
    }

    @Test func theDataDirectoryIsPrivate() throws {
        let directory = try TemporaryDirectory()
        let text = "[store]\npath = \"\(directory.path)/a/b/parley.db\""
        let places = Places(try configuration(text), Environment())
        try DataDirectory.prepare(places)
        try DataDirectory.prepare(places)
        #expect(try directory.mode("a") == 0o700)
        #expect(try directory.mode("a/b") == 0o700)
    }

    @Test func aCertificateIsMadeOnce() throws {
        let directory = try TemporaryDirectory()
        let text = "[server]\nname = \"irc.example.org\"\n[store]\npath = \"\(directory.path)/d/parley.db\""
        let places = Places(try configuration(text), Environment())
        #expect(throws: DataRefusal.self) { try DataDirectory.makeCertificate(places) }
        try DataDirectory.prepare(places)
        #expect(try DataDirectory.makeCertificate(places))
        #expect(try directory.mode("d/tls-key.pem") == 0o600)
        let shown = try Pipeline.run("openssl x509 -noout -subject -ext subjectAltName -in \(places.certificate)")
            .output
        #expect(shown.contains("CN = irc.example.org"))
        #expect(shown.contains("DNS:irc.example.org, DNS:localhost, IP Address:127.0.0.1"))
        let first = try Data(contentsOf: URL(fileURLWithPath: places.certificate))
        #expect(try !DataDirectory.makeCertificate(places))
        #expect(try Data(contentsOf: URL(fileURLWithPath: places.certificate)) == first)
    }

    @Test func aConfiguredCertificateIsNeverMade() throws {
        let directory = try TemporaryDirectory()
        let text = "[tls]\ncertificate = \"\(directory.path)/c\"\nkey = \"\(directory.path)/k\""
        #expect(try !DataDirectory.makeCertificate(Places(configuration(text), Environment())))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func aFileInThePlaceOfTheDirectoryIsNamed() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("a", "")
        let places = Places(try configuration("[store]\npath = \"\(file)/b/parley.db\""), Environment())
        let refusal = #expect(throws: DataRefusal.self) { try DataDirectory.prepare(places) }
        #expect(refusal?.description == "\(file)/b: Not a directory")
    }
}

@Suite struct MotdTests {
    func lines(_ text: ByteString, users: Int = 5) -> [String] {
        Motd(text: text, server: "irc.example.org", network: "Example").lines.map {
            $0.filled([("{users}", "\(users)")]).string
        }
    }

    @Test func theBuiltInTextIsTheFileInTheRepository() throws {
        let file = ConfigurationTests.repository.appendingPathComponent("motd/parley.txt")
        let text = ByteString(Array(try Data(contentsOf: file)))
        let fromFile = Motd(text: text, server: "a.b", network: "N")
        let builtIn = try Motd.load(Configuration(), serverName: "a.b")
        #expect(Motd(text: text, server: "a.b", network: "Parley") == builtIn)
        #expect(fromFile != builtIn)
        #expect(builtIn.lines.contains { $0.string.contains("{users}") })
        #expect(!builtIn.lines.contains { $0.filled([("{users}", "3")]).bytes.contains(0x7B) })
    }

    @Test func placeholdersAreFilledIn() {
        #expect(
            lines("{server} on {network}: {users}, {version}") == ["irc.example.org on Example: 5, \(Version.string)"])
        #expect(lines("{other} {{server}} { {users") == ["{other} {irc.example.org} { {users"])
    }

    @Test func controlsAreLeftOutAndFormattingStays() {
        #expect(lines("a\tb\r\n\u{0}\u{1B}[2Jc\n\u{2}bold\u{F}\n\n\n") == ["a    b", "[2Jc", "\u{2}bold\u{F}"])
        #expect(lines("").isEmpty)
    }

    @Test func longLinesAreCutAtSpaces() {
        let words = String(repeating: "word ", count: 200)
        let cut = lines(ByteString(words))
        #expect(cut.allSatisfy { $0.utf8.count <= Motd.longestLine && !$0.hasPrefix(" ") })
        #expect(cut.joined(separator: " ") == words)
    }

    @Test(arguments: 380...410) func nothingIsCutApart(_ before: Int) {
        let text = String(repeating: "x", count: before) + "{users}" + String(repeating: "é😀", count: 200)
        let cut = lines(ByteString(text), users: 1_234_567)
        #expect(cut.allSatisfy { $0.utf8.count <= Motd.longestLine && !$0.unicodeScalars.contains("\u{FFFD}") })
        #expect(cut.joined() == text.replacingOccurrences(of: "{users}", with: "1234567"))
    }

    @Test func badFilesAreRefused() throws {
        let directory = try TemporaryDirectory()
        func load(_ name: String) throws -> Motd {
            try Motd.load(configuration("[server]\nmotd = \"\(directory.path)/\(name)\""), serverName: "a.b")
        }
        try Data([0x61, 0xFF, 0x62]).write(to: URL(fileURLWithPath: "\(directory.path)/latin"))
        _ = try directory.write("long", String(repeating: "x", count: 70_000))
        _ = try directory.write("fine", "hello\n")
        #expect(try load("fine").lines == ["hello"])
        for (name, reason) in [
            ("latin", "is not UTF-8"), ("long", "File too large"), ("none", "No such file or directory"),
        ] {
            let refusal = #expect(throws: Motd.Refusal.self) { try load(name) }
            #expect(refusal?.description == "\(directory.path)/\(name): \(reason)")
        }
    }
}
