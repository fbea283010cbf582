import Bytes
import Chat
import TestKit
import Testing

@Suite struct ServerBanTests {
    private func script(stored: StoredState = StoredState()) -> WorldScript {
        WorldScript(
            {
                $0.operators = [OperatorSettings(name: "root", hash: "hash:pw")]
                // Nobody answers a PING here.
                $0.limits.pingInterval = 86_400_000
            }, stored: stored)
    }

    private func root(_ script: WorldScript) -> ScriptClient {
        let root = script.connect(address: "203.0.113.9", host: "root.test")
        root.send("NICK root")
        root.send("USER root 0 * :root")
        root.send("OPER root pw")
        _ = root.read()
        return root
    }

    private func come(_ script: WorldScript, _ nick: String, from address: ByteString, user: String? = nil)
        -> ScriptClient
    {
        let client = script.connect(address: address, host: "cloak.\(address)")
        client.send("NICK \(nick)")
        client.send("USER \(user ?? nick) 0 * :\(nick)")
        return client
    }

    private func isBanned(_ lines: [String], _ word: String, _ reason: String) -> Bool {
        lines.count >= 2 && lines[lines.count - 2].hasSuffix(" :You are banned from this server: \(reason)")
            && lines[lines.count - 2].contains(" 465 ") && lines.last == "ERROR :Closing link: \(word): \(reason)"
    }

    @Test(arguments: ["*@192.0.2.7", "eve@*", "*@CLOAK.192.0.2.7", "*@192.0.2.0/24", "192.0.2.7", "e?e@192.0.2.*"])
    func klineClosesAndKeepsOut(_ mask: String) {
        let script = script()
        let root = root(script)
        let eve = come(script, "eve", from: "192.0.2.7")
        let ana = come(script, "ana", from: "198.51.100.1")
        ana.send("JOIN #cats")
        eve.send("JOIN #cats")
        _ = (eve.read(), ana.read())
        let shown = mask == "192.0.2.7" ? "*@192.0.2.7" : mask
        #expect(
            root.ask("KLINE \(mask) :spam, again") == [
                ":parley.test NOTICE root :KLINE \(shown) is set for good; 1 connections closed"
            ])
        #expect(isBanned(eve.read(), "K-lined", "spam, again") && eve.isClosed)
        #expect(ana.read() == [":eve!eve@cloak.192.0.2.7 QUIT :K-lined: spam, again"] && !ana.isClosed)
        let again = come(script, "eve", from: "192.0.2.7")
        #expect(isBanned(again.read(), "K-lined", "spam, again") && again.isClosed)
        #expect(script.notes.contains { $0.text.string.hasSuffix("set KLINE \(shown) for good: spam, again") })
        #expect(root.ask("UNKLINE \(shown)") == [":parley.test NOTICE root :KLINE \(shown) is removed"])
        #expect(!come(script, "eve", from: "192.0.2.7").isClosed)
    }

    @Test func aPersonIsKeptOutToo() {
        let script = script()
        _ = root(script).ask("KLINE *@192.0.2.7 :spam")
        let eve = script.connect(address: "192.0.2.7")
        eve.send("NICK eve")
        #expect(isBanned(eve.ask("JOIN #cats"), "K-lined", "spam"))
        #expect(eve.isClosed)
    }

    @Test(arguments: ["192.0.2.7", "192.0.2.0/24", "2001:db8::/32"])
    func dlineRefusesBeforeAnythingIsSaid(_ network: String) {
        let script = script()
        let root = root(script)
        let address: ByteString = network.contains(":") ? "2001:db8::5" : "192.0.2.7"
        let silent = script.connect(address: address)
        let here = come(script, "eve", from: address)
        _ = here.read()
        #expect(root.ask("DLINE \(network) :flood")[0].hasSuffix("is set for good; 2 connections closed"))
        #expect(isBanned(here.read(), "D-lined", "flood") && here.isClosed)
        #expect(isBanned(silent.read(), "D-lined", "flood") && silent.isClosed)
        let next = script.connect(address: address)
        #expect(isBanned(next.read(), "D-lined", "flood") && next.isClosed)
        #expect(!script.connect(address: "198.51.100.1").isClosed)
        #expect(root.ask("UNDLINE \(network)") == [":parley.test NOTICE root :DLINE \(network) is removed"])
        #expect(!script.connect(address: address).isClosed)
    }

    @Test func bansEndWithTheirTime() {
        let script = script()
        let root = root(script)
        #expect(root.ask("KLINE 1h *@192.0.2.7 :spam")[0].contains(" is set until 2026-"))
        _ = root.ask("DLINE 5 192.0.2.8 :five minutes")
        #expect(script.connect(address: "192.0.2.8").isClosed)
        script.advance(300_000)
        #expect(!script.connect(address: "192.0.2.8").isClosed)
        script.advance(3_299_000)
        #expect(come(script, "eve", from: "192.0.2.7").isClosed)
        script.advance(1_000)
        #expect(!come(script, "eve", from: "192.0.2.7").isClosed)
        #expect(root.ask("KLINE") == [":parley.test 219 root k :End of /STATS report"])
        script.advance(3_600_000)
        #expect(script.changes.contains(.removeServerBan(.kline, mask: "*@192.0.2.7")))
        #expect(script.changes.contains(.removeServerBan(.dline, mask: "192.0.2.8")))
    }

    @Test func storedBansHoldAfterARestart() {
        let script = script()
        let root = root(script)
        let lines = ["KLINE *@192.0.2.1 :k", "DLINE 192.0.2.2 :d", "RESV eve* :r", "SHUN *@192.0.2.3 :s"]
        for line in lines { _ = root.ask(line) }
        _ = root.ask("KLINE *@192.0.2.1 :replaced")
        _ = root.ask("DLINE 192.0.2.9 :x")
        _ = root.ask("UNDLINE 192.0.2.9")
        var stored = StoredState()
        for change in script.changes {
            switch change {
            case .saveServerBan(let ban):
                stored.serverBans.removeAll { $0.kind == ban.kind && $0.mask == ban.mask }
                stored.serverBans.append(ban)
            case .removeServerBan(let kind, let mask):
                stored.serverBans.removeAll { $0.kind == kind && $0.mask == mask }
            default: break
            }
        }
        #expect(stored.serverBans.map(\.kind) == [.dline, .resv, .shun, .kline])
        let next = self.script(stored: stored)
        #expect(isBanned(come(next, "a", from: "192.0.2.1").read(), "K-lined", "replaced"))
        #expect(next.connect(address: "192.0.2.2").isClosed)
        #expect(!next.connect(address: "192.0.2.9").isClosed)
        #expect(come(next, "eve1", from: "192.0.2.4").read().last?.contains(" 432 ") == true)
        let mute = come(next, "mute", from: "192.0.2.3")
        #expect(mute.ask("PRIVMSG mute :hello")[0].hasPrefix(":parley.test FAIL PRIVMSG MUTED :"))
    }

    @Test func reservedNicksAreRefusedAndTakenBack() {
        let script = script()
        let root = root(script)
        let eve = come(script, "eve", from: "192.0.2.7")
        let ana = come(script, "ana", from: "192.0.2.8")
        _ = (eve.read(), ana.read())
        #expect(root.ask("RESV e*e :not you").last?.hasSuffix("RESV e*e is set for good; 1 renamed") == true)
        let told = eve.read()
        #expect(told[0].hasPrefix(":eve!eve@cloak.192.0.2.7 NICK :guest-"))
        #expect(told[1].hasSuffix(" :The nick eve is reserved now: not you. Type NICK anothername"))
        #expect(ana.read().isEmpty && !eve.isClosed)
        #expect(ana.ask("NICK EVE") == [":parley.test 432 ana EVE :Erroneous nickname: reserved (not you)"])
        #expect(root.ask("NICK eve").last?.hasSuffix(" NICK :eve") == true)
        _ = root.ask("NICK root")
        _ = root.ask("UNRESV e*e")
        #expect(ana.ask("NICK eve").last?.hasSuffix(" NICK :eve") == true)
    }

    @Test func theMutedAreToldAndNobodyHearsThem() {
        let script = script()
        let root = root(script)
        let eve = come(script, "eve", from: "192.0.2.7")
        let ana = come(script, "ana", from: "192.0.2.8")
        for client in [eve, ana] { client.send("JOIN #cats") }
        _ = root.ask("SHUN 1h *@192.0.2.7 :cool down")
        _ = (eve.read(), ana.read())
        let lines = [
            "PRIVMSG #cats :hi", "PRIVMSG ana :hi", "NOTICE #cats :hi", "TOPIC #cats :mine", "INVITE ana #cats",
            "AWAY :gone", "SETNAME :Eve",
        ]
        for line in lines {
            let answer = eve.ask(line)
            #expect(answer.count == 1, "\(line)")
            let verb = line.prefix { $0 != " " }
            #expect(answer[0].hasPrefix(":parley.test FAIL \(verb) MUTED :You are muted on this server until "))
            #expect(answer[0].hasSuffix(" (cool down); nobody got this"))
        }
        #expect(ana.read().isEmpty)
        #expect(eve.ask("TOPIC #cats") == [":parley.test 331 eve #cats :No topic is set"])
        ana.send("PRIVMSG #cats :and you?")
        #expect(eve.read() == [":ana!ana@cloak.192.0.2.8 PRIVMSG #cats :and you?"])
        eve.send("PART #cats :hear me")
        #expect(ana.read() == [":eve!eve@cloak.192.0.2.7 PART #cats"])
        eve.send("JOIN #cats")
        _ = ana.read()
        script.advance(3_600_000)
        eve.send("PRIVMSG #cats :back")
        #expect(ana.read().last == ":eve!eve@cloak.192.0.2.7 PRIVMSG #cats :back")
    }

    @Test func listsNameMaskReasonSetterAndEnd() {
        let script = script()
        let root = root(script)
        _ = root.ask("KLINE eve@192.0.2.7 :spam")
        _ = root.ask("DLINE 1d 192.0.2.0/24")
        _ = root.ask("RESV bot* :none")
        _ = root.ask("SHUN *@192.0.2.9 :calm")
        let end = ":End of /STATS report"
        for (ask, letter, line) in [
            ("KLINE", "k", "216 root K 192.0.2.7 * eve :spam (root, "), ("DLINE", "d", "225 root D 192.0.2.0/24 :no"),
            ("RESV", "q", "217 root Q bot* :none (root, "), ("SHUN", "s", "223 root S *@192.0.2.9 :calm (root, "),
        ] {
            let listed = root.ask(ask)
            #expect(listed.count == 2 && listed[0].hasPrefix(":parley.test \(line)"), "\(listed)")
            #expect(listed[0].hasSuffix(ask == "DLINE" ? " UTC)" : ", for good)"))
            #expect(listed.last == ":parley.test 219 root \(letter) \(end)")
            #expect(root.ask("STATS \(letter)") == listed)
        }
        let ana = come(script, "ana", from: "198.51.100.1")
        #expect(ana.ask("STATS k")[0] == ":parley.test 481 ana :Permission Denied - You're not an IRC operator")
    }

    @Test(arguments: [
        ("KLINE eve :x", "415 root eve :Bad mask: "), ("KLINE a!b@c :x", "415 root a!b@c :Bad mask: "),
        ("KLINE *@1.2.3.4/99 :x", "415 root *@1.2.3.4/99 :Bad mask: "), ("KLINE @x :x", "415 root @x :Bad mask: "),
        ("DLINE host.test :x", "415 root host.test :Bad mask: "), ("RESV a@b :x", "415 root a@b :Bad mask: "),
        ("SHUN eve :x", "415 root eve :Bad mask: "), ("KLINE 1h", "461 root KLINE :Not enough parameters"),
        ("UNKLINE", "461 root UNKLINE :Not enough parameters"), ("UNDLINE *", "415 root * :Bad mask: "),
        ("UNKLINE *@192.0.2.1", "FAIL UNKLINE NO_SUCH_BAN *@192.0.2.1 :"),
        ("KLINE *@* :x", "FAIL KLINE OWN_MASK *@* :"), ("DLINE 0.0.0.0/0 :x", "FAIL DLINE OWN_MASK 0.0.0.0/0 :"),
        ("SHUN root@* :x", "FAIL SHUN OWN_MASK root@* :"),
    ])
    func whatCannotBeMeantIsRefused(_ line: String, _ answer: String) {
        let script = script()
        let lines = root(script).ask(line)
        #expect(lines.count == 1 && lines[0].hasPrefix(":parley.test \(answer)"), "\(lines)")
        #expect(script.changes.isEmpty)
    }

    @Test func aFullDiskKeepsNobodyIn() {
        let script = script()
        let root = root(script)
        script.isStoreFull = true
        _ = root.ask("KLINE *@192.0.2.7 :spam")
        #expect(come(script, "eve", from: "192.0.2.7").isClosed)
        script.isStoreFull = false
        script.apply(.storeRecovered)
        #expect(
            script.changes.contains {
                if case .saveServerBan(let ban) = $0 { ban.mask == "*@192.0.2.7" } else { false }
            })
    }
}
