import Bytes
import Chat
import TestKit
import Testing

/// VERSION, LUSERS, MOTD and what else the server tells of itself.
@Suite struct QueryServerTests {
    @Test func supportedTokensFollowTheSettings() {
        let script = WorldScript {
            $0.network = "Cats Net"
            $0.limits.nickLength = 20
            $0.page = 70
        }
        let ana = script.client("ana")
        let lines = ana.ask("VERSION")
        #expect(lines[0] == ":parley.test 351 ana parley parley.test :Parley chat server")
        let tokens = lines.dropFirst().flatMap { line in
            line.split(separator: " ").dropFirst(3).prefix { !$0.hasPrefix(":") }.map(String.init)
        }
        for line in lines.dropFirst() {
            #expect(line.hasPrefix(":parley.test 005 ana "))
            #expect(line.hasSuffix(" :are supported by this server"))
            #expect(line.split(separator: " ").prefix { $0 != ":are" }.count <= 16)
            #expect(line.utf8.count <= 510)
        }
        for token in [
            #"NETWORK=Cats\x20Net"#, "CASEMAPPING=ascii", "CHANTYPES=#", "PREFIX=(qohv)~@%+", "STATUSMSG=~@%+",
            "NICKLEN=20", "CHANNELLEN=64", "TOPICLEN=390", "KICKLEN=390", "AWAYLEN=200", "USERLEN=18", "NAMELEN=150",
            "KEYLEN=23", "CHANLIMIT=#:50", "MODES=6", "MAXTARGETS=4", "EXCEPTS=e", "INVEX=I", "ELIST=CMNTU", "WHOX",
            "BOT=B", "UTF8ONLY", "LINELEN=512", "MSGREFTYPES=msgid,timestamp", "CHATHISTORY=70", "SAFELIST",
            "EXTBAN=,amu", "ACCOUNTEXTBAN=a",
        ] {
            #expect(tokens.contains(token), "\(token)")
        }
        #expect(Set(tokens.map { $0.split(separator: "=")[0] }).count == tokens.count)
    }

    @Test func aReloadChangesTheTokens() {
        let script = WorldScript()
        let ana = script.client("ana")
        var settings = script.world.settings
        settings.limits.awayLength = 33
        script.apply(.reloaded(settings))
        #expect(ana.ask("VERSION").contains { $0.contains(" AWAYLEN=33 ") })
    }

    @Test func lusersCounts() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = script.connect()
        _ = ana.ask("JOIN #cats")
        #expect(
            ana.ask("LUSERS") == [
                ":parley.test 251 ana :There are 2 users and 0 invisible on 1 servers",
                ":parley.test 252 ana 0 :operator(s) online", ":parley.test 253 ana 1 :unknown connection(s)",
                ":parley.test 254 ana 1 :channels formed", ":parley.test 255 ana :I have 2 clients and 0 servers",
                ":parley.test 265 ana 2 2 :Current local users 2, max 2",
                ":parley.test 266 ana 2 2 :Current global users 2, max 2",
            ])
        bo.send("QUIT")
        #expect(ana.ask("LUSERS").contains(":parley.test 265 ana 1 2 :Current local users 1, max 2"))
    }

    @Test func theMessageOfTheDay() {
        let script = WorldScript { $0.motd = ["Welcome to {users} {others}", ""] }
        let ana = script.client("ana")
        #expect(
            ana.ask("MOTD") == [
                ":parley.test 375 ana :- parley.test Message of the day -",
                ":parley.test 372 ana :- Welcome to 1 {others}",
                ":parley.test 372 ana :- ", ":parley.test 376 ana :End of /MOTD command.",
            ])
        let long = WorldScript { $0.motd = [ByteString(String(repeating: "é", count: 400))] }.client("cy").ask("MOTD")
        #expect(long[1].utf8.count <= 510 && long[1].hasSuffix("é"))
        #expect(WorldScript().client("bo").ask("MOTD") == [":parley.test 422 bo :MOTD File is missing"])
    }

    @Test(arguments: [
        "MOTD", "VERSION", "TIME", "INFO", "ADMIN", "LUSERS *", "WHOIS", "WHOWAS x 1", "STATS u", "LINKS",
    ])
    func anotherServerIsUnknown(_ command: String) {
        let ana = WorldScript().client("ana")
        let tail = command == "WHOIS" || command == "LINKS" ? " ana" : ""
        let refusal = [":parley.test 402 ana far.example :No such server"]
        #expect(ana.ask("\(command) far.example\(tail)") == refusal)
        #expect(ana.ask("\(command) *.TEST\(tail)") != refusal)
    }

    @Test func timeInfoAdminLinks() {
        let script = WorldScript {
            $0.started = 1_779_999_990_000
            $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "admin")]
        }
        let ana = script.client("ana")
        #expect(ana.ask("TIME") == [":parley.test 391 ana parley.test :Thu, 28 May 2026 20:26:40 +0000"])
        let info = ana.ask("INFO")
        #expect(info.last == ":parley.test 374 ana :End of INFO list")
        #expect(info.dropLast().allSatisfy { $0.hasPrefix(":parley.test 371 ana :") })
        #expect(ana.ask("ADMIN") == [":parley.test 423 ana parley.test :No administrative info available"])
        #expect(ana.ask("LINKS") == [":parley.test 365 ana * :End of /LINKS list"])
        _ = ana.ask("OPER root pw")
        #expect(
            ana.ask("LINKS") == [
                ":parley.test 364 ana parley.test parley.test :0 Parley chat server",
                ":parley.test 365 ana * :End of /LINKS list",
            ])
        #expect(ana.ask("LINKS *.org") == [":parley.test 365 ana *.org :End of /LINKS list"])
        let other = WorldScript { $0.admin = ["Ana", "Somewhere", "ana@parley.test"] }.client("bo")
        #expect(
            other.ask("ADMIN") == [
                ":parley.test 256 bo parley.test :Administrative info", ":parley.test 257 bo :Ana",
                ":parley.test 258 bo :Somewhere", ":parley.test 259 bo :ana@parley.test",
            ])
    }

    @Test func whatIsDisabledSaysSo() {
        let ana = WorldScript().client("ana")
        #expect(ana.ask("USERS") == [":parley.test 446 ana :USERS has been disabled"])
        #expect(ana.ask("SUMMON bo") == [":parley.test 445 ana :SUMMON has been disabled"])
    }

    @Test func statsAlwaysEnd() {
        let script = WorldScript {
            $0.started = 1_780_000_000_000 - 93_784_000
            $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "admin")]
        }
        let ana = script.client("ana")
        let end = { (letter: String) in ":parley.test 219 ana \(letter) :End of /STATS report" }
        #expect(ana.ask("STATS u") == [":parley.test 242 ana :Server Up 1 days 2:03:04", end("u")])
        #expect(ana.ask("STATS z") == [end("z")])
        let refusal = ":parley.test 481 ana :Permission Denied - You're not an IRC operator"
        #expect(ana.ask("STATS o") == [refusal, end("o")])
        #expect(ana.ask("STATS m") == [refusal, end("m")])
        #expect(ana.ask("STATS") == [":parley.test 461 ana STATS :Not enough parameters"])
        _ = ana.ask("OPER root pw")
        #expect(ana.ask("STATS o") == [":parley.test 243 ana O * * root admin", end("o")])
        #expect(ana.ask("STATS m").contains(":parley.test 212 ana OPER 1"))
    }
}
