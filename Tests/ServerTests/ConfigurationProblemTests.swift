import Server
import Testing

/// What an operator who mistypes is told: file, line, column, key, and the way out.
@Suite struct ConfigurationProblemTests {
    static let single: [(text: String, problem: String)] = [
        ("[server]\n  nmae = \"a.b\"", "2:3: server.nmae: unknown key; did you mean server.name?"),
        ("[server]\nmonitor = 5", "2:1: server.monitor: unknown key; did you mean limits.monitor?"),
        ("[server]\nzzzzzzzz = 5", "2:1: server.zzzzzzzz: unknown key"),
        ("network = \"X\"", "1:1: network: unknown key; did you mean server.network?"),
        ("[sever]\nname = \"a.b\"\nnetwork = 1", "1:2: sever: unknown table; did you mean server?"),
        ("[[lisen]]\naddress = 1", "1:3: lisen: unknown table; did you mean listen?"),
        ("server = 5", "1:10: server: expected a table, [server], found an integer"),
        ("[listen]\nport = 1", "1:2: listen: expected [[listen]], found a table"),
        ("listen = [1]", "1:11: listen[1]: expected a table, found an integer"),
        ("listen = []", "1:10: listen: nowhere to listen: add a [[listen]]"),
        ("[server]\nname = 5", "2:8: server.name: expected a string in quotes, found an integer"),
        ("[server]\nname = \"chat\"", "2:8: server.name: needs a dot, as in \"irc.example.org\""),
        ("[server]\nname = \"a b.c\"", "2:8: server.name: is not a host name: letters, digits, dots and hyphens"),
        ("[server]\nnetwork = \"My Net\"", "2:11: server.network: must be one word, without spaces"),
        ("[server]\ndescription = \"a\\nb\"", "2:15: server.description: must not contain control characters"),
        ("[server]\npassword = 12345", "2:12: server.password: expected a string in quotes, found an integer"),
        ("[server]\nadmin = [\"a\", 5]", "2:9: server.admin: expected a list of strings, found a list"),
        ("[server]\nadmin = [\"a\",\"b\",\"c\",\"d\"]", "2:9: server.admin: 4 lines, at most 3 are allowed"),
        ("[server]\nwelcome-channel = \"lobby\"", "2:19: server.welcome-channel: a channel's name starts with #"),
        ("[tls]\nkey = \"k.pem\"", "2:7: tls.key: needs tls.certificate as well"),
        (
            "[tls]\nsts-port = 6697",
            "2:12: tls.sts-port: needs tls.certificate: a self-signed one locks clients out"
        ),
        (
            "[store]\ndurability = \"safe\"",
            "2:14: store.durability: expected one of \"full\", \"normal\", \"off\", found \"safe\""
        ),
        ("[limits]\nnick-length = 5", "2:15: limits.nick-length: 5 is out of range, allowed is 9 to 64"),
        ("[limits]\nnick-length = 20.5", "2:15: limits.nick-length: expected an integer, found 20.5"),
        ("[limits]\nsend-queue = \"1KiB\"", "2:14: limits.send-queue: 1KiB is out of range, allowed is 64KiB to 1GiB"),
        (
            "[limits]\nsend-queue = \"1MB\"",
            "2:14: limits.send-queue: expected a size such as \"64KiB\", \"1MiB\" or a number of bytes, found \"1MB\""
        ),
        (
            "[limits]\nping-seconds = \"2 min\"",
            "2:16: limits.ping-seconds: expected a time such as \"500ms\", \"10s\", \"5m\", \"12h\", \"90d\" or an "
                + "integer, found \"2 min\""
        ),
        ("[limits]\nping-seconds = 1", "2:16: limits.ping-seconds: 1s is out of range, allowed is 5s to 1d"),
        (
            "[history]\nchannel-expiry = -1",
            "2:18: history.channel-expiry: -1d is out of range, allowed is 0s to 36500d"
        ),
        ("[images]\ntypes = []", "2:9: images.types: must not be empty; enabled = false switches pictures off"),
        (
            "[images]\ntypes = [\"image/svg+xml\"]",
            "2:9: images.types: there is no kind \"image/svg+xml\"; there are image/jpeg, image/png, image/gif, image/webp"
        ),
        ("[flood]\nrate = nan", "2:8: flood.rate: nan is out of range, allowed is 0.1 to 100000.0"),
        ("[flood]\nenabled = \"yes\"", "2:11: flood.enabled: expected true or false, found \"yes\""),
        ("[guests]\nprefix = \"7up\"", "2:10: guests.prefix: is no name that a nick can begin with"),
        (
            "[limits]\nnick-length = 10",
            "2:15: limits.nick-length: a guest's nick would have 11 bytes, limits.nick-length is 10"
        ),
        ("[[listen]]\naddress = \"::1\"", "1:1: listen[1].port: is missing"),
        (
            "[[listen]]\naddress = \"[::1]\"\nport = 1",
            "2:11: listen[1].address: write an IPv6 address without brackets"
        ),
        (
            "[[listen]]\naddress = \"::\"\nport = 70000",
            "3:8: listen[1].port: 70000 is out of range, allowed is 0 to 65535"
        ),
        (
            "listen = [{address=\"::\",port=1},{address=\"::\",port=1}]",
            "1:33: listen[2]: the same address and port as listen[1]"
        ),
        (
            "[[operator]]\nname = \"ana\"\npassword = \"s3cret\"",
            "3:12: operator[1].password: is not an argon2id hash; make one with: parley hash-password"
        ),
        (
            "operator = [{name=\"a\",password=\"plain:x\"},{name=\"a\",password=\"plain:y\"}]",
            "1:49: operator[2].name: the same name as operator[1]"
        ),
        (
            "operator = [{name=\"a\",password=\"\(ConfigurationTests.hash)\",class=\"x\"}]",
            "1:138: operator[1].class: there is no [[operator-class]] of this name; there are \"admin\""
        ),
        (
            "[[operator-class]]\nname = \"admin\"\nprivileges = []",
            "2:8: operator-class[1].name: admin is the built-in class that may everything"
        ),
        (
            "operator-class = [{name=\"a\",privileges=[]},{name=\"a\",privileges=[]}]",
            "1:50: operator-class[2].name: the same name as another class"
        ),
        ("[[operator-class]]\nname = \"a\"", "1:1: operator-class[1].privileges: is missing"),
        (
            "[[operator-class]]\nname = \"a\"\nprivileges = [\"kill\", \"fly\"]",
            "3:14: operator-class[1].privileges: there is no privilege \"fly\"; there are kill, kline, dline, resv, "
                + "shun, lockdown, rehash, wallops, see-addresses, drop, metadata, accounts, credentials, erase"
        ),
    ]

    @Test(arguments: single) func isNamedWithItsPlace(_ wrong: (text: String, problem: String)) {
        #expect(problems(wrong.text) == ["parley.toml:\(wrong.problem)"])
    }

    @Test(arguments: [
        "[server]\nname = \"a.b\"\nname = \"c.d\"", "[server]\n[server]", "[log]\nlevel = \"info\"\n[server\n",
    ])
    func whatIsNotTOMLIsNamedWithItsLine(_ text: String) throws {
        let all = problems(text)
        #expect(all.count == 1)
        let last = text.split(separator: "\n").count
        #expect(try #require(all.first).hasPrefix("parley.toml:\(last):"), "\(all)")
    }

    @Test func aKeySetTwiceIsCalledByItsName() {
        let text = problems("[server]\nname = \"a.b\"\nname = \"c.d\"").joined()
        #expect(text.contains("name") && text.contains("redefine"), "\(text)")
    }

    @Test func allAreReportedInTheOrderOfTheFile() {
        let text = """
            [server]
            nmae = "x"
            network = 3
            [limits]
            targets = 0
            [aaa]
            x = 1
            [[listen]]
            mode = "loud"
            """
        #expect(
            problems(text).map { $0.split(separator: ": ")[1] } == [
                "server.nmae", "server.network", "limits.targets", "aaa", "listen[1].address", "listen[1].port",
                "listen[1].mode",
            ])
    }

    @Test func foreignBytesCannotForgeALine() {
        let all = problems("\"a\\nparley.toml:1:1: fine\\u001b[2J\" = 1")
        #expect(all.count == 1)
        #expect(all.joined().unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test(arguments: [
        "\u{0}", "[server]\nname = \"\u{7f}\"", "a = \"\"\"\n\u{1}\"\"\"", "= = =", "[[[[[[", "[ .x]", "x = {{",
    ])
    func junkIsRefused(_ text: String) { #expect(problems(text).count == 1) }

    @Test func aHeaderWithoutAKeyIsNamedWithItsLine() {
        #expect(problems("[server]\nname = \"a.b\"\n\n[=]\n") == ["parley.toml:4:1: expected a key"])
    }

    @Test func deepNestingIsRefusedNotFollowed() {
        let text = "x = " + String(repeating: "[", count: 100_000)
        #expect(problems(text).count == 1)
    }
}
