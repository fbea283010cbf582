import Foundation
import TestKit
import Testing

/// The server as an operator meets it: starting, stopping, reloading, certificates, the command line.
@Suite struct DoorLifeTests {
    // MARK: Command line

    @Test("--version and --help answer and end", arguments: [("--version", "parley"), ("--help", "check-config")])
    func information(option: String, text: String) throws {
        let run = try Pipeline.run("\(ServerProcess.binary) \(option)")
        #expect(run.status == 0)
        #expect(run.output.lowercased().contains(text))
    }

    @Test("default-config is a configuration that check-config accepts")
    func defaultConfiguration() throws {
        let directory = try temporaryDirectory()
        let run = try Pipeline.run(
            "\(ServerProcess.binary) default-config > c.toml && \(ServerProcess.binary) check-config c.toml",
            directory: directory)
        #expect(run.status == 0, "\(run.output)")
    }

    @Test(
        "Errors name file, line, column and key; unknown and duplicate keys are refused",
        arguments: [
            ("[server]\nnmae = \"x\"\n", "2", "nmae"), ("[server]\nname = \"x\"\nname = \"y\"\n", "3", "name"),
            ("[server]\nname = 7\n", "2", "name"), ("[server\n", "1", "table"), ("[nonsense]\n", "1", "nonsense"),
            ("[[listen]]\nmode = \"odd\"\n", "2", "mode"),
        ])
    func configurationErrors(text: String, line: String, key: String) throws {
        let directory = try temporaryDirectory()
        try text.write(toFile: "\(directory)/bad.toml", atomically: true, encoding: .utf8)
        for verb in ["check-config bad.toml", "serve --config bad.toml"] {
            let run = try Pipeline.run("timeout 5 \(ServerProcess.binary) \(verb)", directory: directory)
            #expect(run.status != 0 && run.status != 124)
            #expect(run.output.contains("bad.toml:\(line):"))
            #expect(run.output.contains(key))
        }
    }

    // MARK: Start and stop

    @Test("SIGTERM tells everybody, ends with success, and the next start takes the same port at once")
    func termination() throws {
        let server = try ServerProcess()
        let client = try server.client("ana")
        let person = try server.person("bo")
        try server.terminate()
        #expect(try client.readToEnd().contains { $0.command == "ERROR" })
        #expect(try person.readToEnd().contains { $0.command == "ERROR" })
        try server.start()
        try server.client("ana").sync()
    }

    @Test("A second server on the same port or the same data is refused with a sentence")
    func secondServer() throws {
        let server = try ServerProcess()
        let run = try Pipeline.run("timeout 5 \(ServerProcess.binary) serve --config \(server.configurationPath)")
        #expect(run.status != 0 && run.status != 124)
        #expect(!run.output.isEmpty)
        try server.client("ana").sync()
    }

    @Test("A newer or damaged database is refused cleanly")
    func damagedDatabase() throws {
        let server = try ServerProcess()
        try server.person("ana", in: "#cats").sync()
        try server.terminate()
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(server.directory)/data")
        let database = try #require(files.first { $0.hasSuffix(".db") || $0.hasSuffix(".sqlite") })
        let path = "\(server.directory)/data/\(database)"
        let good = try Data(contentsOf: URL(fileURLWithPath: path))
        try Data(repeating: 0x41, count: 20_000).write(to: URL(fileURLWithPath: path))
        #expect(throws: DoorError.self) { try server.start(within: 5) }
        #expect(server.log.contains(database))
        try good.write(to: URL(fileURLWithPath: path))
        try Pipeline.run("sqlite3 '\(path)' 'PRAGMA user_version = 9999'")
        #expect(throws: DoorError.self) { try server.start(within: 5) }
        #expect(server.log.lowercased().contains("newer"))
    }

    @Test(
        "Without any file: 127.0.0.1 and ::1, data in ./data or $STATE_DIRECTORY", .serialized,
        arguments: [false, true])
    func noConfiguration(stateDirectory: Bool) throws {
        let directory = try temporaryDirectory()
        // The default ports may be taken on the machine that runs the tests; then there is nothing to see here.
        for port in [6667, 6697] where try Pipeline.run("nc -z 127.0.0.1 \(port)").status == 0 { return }
        let child = try ChildProcess(
            [ServerProcess.binary], environment: stateDirectory ? ["STATE_DIRECTORY": "\(directory)/state"] : [:],
            directory: directory)
        defer { child.kill(SIGKILL) }
        #expect(Deadline.seconds(10).wait { child.hasEnded || (try? LineClient(port: 6667)) != nil })
        for ipv6 in [false, true] where !ipv6 || FileManager.default.fileExists(atPath: "/proc/net/if_inet6") {
            let client = try LineClient(port: 6667, ipv6: ipv6)
            try client.enter(Door.unique("ana"))
        }
        let secure = try LineClient(tlsPort: 6697)
        try secure.register("secure")
        let data = stateDirectory ? "\(directory)/state" : "\(directory)/data"
        #expect(try FileManager.default.contentsOfDirectory(atPath: data).contains { $0.contains("parley") })
    }

    // MARK: TLS

    @Test("A certificate is made at the first TLS start, its fingerprint printed, and kept")
    func certificate() throws {
        let server = try ServerProcess(ServerConfiguration(.tls))
        let first = try fingerprint(server)
        #expect(server.log.uppercased().replacing(":", with: "").contains(first.replacing(":", with: "")))
        try server.restart()
        #expect(try fingerprint(server) == first)
        let keys = try Pipeline.run("find data -name '*key*' -perm /077", directory: server.directory)
        #expect(keys.output == "")
    }

    @Test("TLS 1.2 and 1.3, nothing older", arguments: [("-tls1_2", true), ("-tls1_3", true), ("-tls1_1", false)])
    func versions(option: String, accepted: Bool) throws {
        let server = try Door.shared.get()
        let run = try Pipeline.run(
            """
            printf 'PING x\\nQUIT\\n' | timeout 5 openssl s_client -quiet \(option) -cipher DEFAULT:@SECLEVEL=0 \\
                -connect 127.0.0.1:\(server.port(Door.tls)) 2>&1; true
            """
        )
        #expect(run.output.contains("PONG") == accepted)
    }

    @Test("A certificate reload on SIGHUP drops nobody")
    func certificateReload() throws {
        let server = try ServerProcess(ServerConfiguration(.tls))
        let before = try fingerprint(server)
        let client = try LineClient(tlsPort: server.port(), label: "stays")
        try client.register("ana")
        let found = try Pipeline.run(
            "find data -name '*.pem' -o -name '*.crt' -o -name '*.key'", directory: server.directory
        ).lines
        let key = try #require(found.first { $0.contains("key") })
        let certificate = try #require(found.first { !$0.contains("key") })
        try Pipeline.run(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=renewed -days 2 \\
                -keyout \(key) -out \(certificate)
            """,
            directory: server.directory)
        try server.reload()
        #expect(try Deadline.seconds(5).wait { try fingerprint(server) != before })
        try client.sync()
    }

    // MARK: Reload

    @Test("SIGHUP reloads the configuration and keeps the users")
    func reload() throws {
        let server = try ServerProcess()
        let client = try server.client("ana")
        try client.join("#cats")
        for number in 1...5 { try client.say("#cats", "cat \(number)") }
        try server.reload(ServerConfiguration().with("history", "replay", "2"))
        let reader = try server.client("bo", "batch", "server-time")
        let taken = try Deadline.seconds(5).wait {
            try reader.send("JOIN #cats")
            let replayed = try reader.sync().count { $0.command == "PRIVMSG" }
            try reader.send("PART #cats")
            return replayed == 2
        }
        #expect(taken)
        try client.sync()
    }

    @Test("A broken configuration is refused at a reload, with its line, and the old one stays")
    func brokenReload() throws {
        let server = try ServerProcess()
        let client = try server.client("ana")
        try server.reload(ServerConfiguration().with("server", "nmae", "\"x\""))
        #expect(Deadline.seconds(5).wait { server.log.contains("nmae") })
        try client.sync()
        try server.person("bo").sync()
    }

    @Test("OPER and REHASH do the same from inside")
    func rehash() throws {
        var configuration = ServerConfiguration()
        configuration.operators = [("root", "secret")]
        let server = try ServerProcess(configuration)
        let client = try server.client("ana")
        try client.send("OPER root wrong")
        try client.expect(" 464 ")
        try client.send("OPER root secret")
        try client.expect(" 381 ")
        try client.send("REHASH")
        try client.expect(" 382 ")
        try client.sync()
    }

    @Test("A server password is asked for when there is one")
    func serverPassword() throws {
        let server = try ServerProcess(ServerConfiguration().with("server", "password", "\"sesame\""))
        let stranger = try server.connect()
        try stranger.send("PASS wrong", "NICK ana", "USER ana 0 * :A")
        #expect(try stranger.readToEnd().contains { $0.command == "464" })
        let friend = try server.connect()
        try friend.register("ana", password: "sesame")
        let person = try server.connect()
        try person.send("PASS sesame", "NICK bo")
        try person.expect(" 001 bo ")
    }

    // MARK: Helpers

    private func fingerprint(_ server: ServerProcess) throws -> String {
        let run = try Pipeline.run(
            """
            openssl s_client -connect 127.0.0.1:\(server.port()) </dev/null 2>/dev/null |
                openssl x509 -noout -fingerprint -sha256
            """
        )
        let line = try #require(run.lines.last)
        return String(try #require(line.split(separator: "=").last)).uppercased()
    }

    private func temporaryDirectory() throws -> String {
        let path = "\(NSTemporaryDirectory())parley-test-\(Door.unique("dir"))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }
}
