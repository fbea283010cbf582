import Bytes
import Chat
import TestKit
import Testing

/// RELAYMSG: what a bridge says for people of other networks.
@Suite struct RelaymsgTests {
    static let all = "message-tags echo-message draft/relaymsg"

    @Test func anOperatorSaysWhatSomebodyElseSaid() {
        let (script, ana, bo) = WorldScript.cats("echo-message", Self.all)
        let plain = script.connect()
        _ = plain.ask("NICK cy")
        _ = plain.ask("JOIN #cats")
        _ = bo.read()
        #expect(
            ana.ask("RELAYMSG #cats smt/discord :hi all") == [":smt/discord!ana@host.test PRIVMSG #cats :hi all"])
        let heard = bo.read()
        #expect(heard.count == 1 && heard[0].hasPrefix("@msgid=") && heard[0].contains(";draft/relaymsg=ana "))
        #expect(heard[0].hasSuffix(" :smt/discord!ana@host.test PRIVMSG #cats :hi all"))
        #expect(plain.read().last?.hasSuffix(":smt/discord!ana@host.test PRIVMSG #cats :hi all") == true)
        let record = script.log.last
        #expect(record?.source == "smt/discord!ana@host.test" && record?.name == "smt/discord")
        #expect(record?.tags == "draft/relaymsg=ana")
    }

    @Test func theTagIsForWhoAskedForIt() {
        let (_, ana, bo) = WorldScript.cats("", "message-tags")
        #expect(ana.ask("RELAYMSG #cats smt/discord :hi").isEmpty)
        #expect(bo.read().allSatisfy { !$0.contains("relaymsg") && $0.contains("msgid=") })
    }

    @Test(arguments: [
        ("RELAYMSG #cats regular :x", "INVALID_NICK"), ("RELAYMSG #cats a!b/net :x", "INVALID_NICK"),
        ("RELAYMSG #cats /net :x", "INVALID_NICK"), ("RELAYMSG #cats a//net :x", "INVALID_NICK"),
        ("RELAYMSG #nope a/net :x", "INVALID_CHANNEL #nope"), ("RELAYMSG ana a/net :x", "INVALID_CHANNEL ana"),
    ])
    func whatIsNotRelayed(line: String, why: String) {
        let (script, ana, bo) = WorldScript.cats("", "")
        let before = script.log.count
        let answer = ana.ask(line)
        #expect(answer.count == 1 && answer[0].hasPrefix(":parley.test FAIL RELAYMSG \(why) :"))
        #expect(bo.read().isEmpty && script.log.count == before)
    }

    @Test func membersWithoutARankRelayNothing() {
        let (script, ana, bo) = WorldScript.cats("", "")
        #expect(bo.ask("RELAYMSG #cats a/net :x").first?.contains("FAIL RELAYMSG PRIVS_NEEDED :") == true)
        #expect(script.client("cy").ask("RELAYMSG #cats a/net :x").first?.contains(" PRIVS_NEEDED :") == true)
        _ = ana.ask("MODE #cats +s")
        // Of a secret channel nobody learns that it is there.
        #expect(script.client("di").ask("RELAYMSG #cats a/net :x").first?.contains(" INVALID_CHANNEL #cats :") == true)
        _ = ana.ask("MODE #cats +o bo")
        _ = bo.read()
        #expect(bo.ask("RELAYMSG #cats a/net :x").isEmpty)
        #expect(ana.read().last == ":a/net!bo@host.test PRIVMSG #cats :x")
    }

    @Test func theBridgeChangesAndDeletesWhatItRelayed() throws {
        let (_, ana, bo) = WorldScript.cats("\(Self.all) parley.chat/message-edit", Self.all)
        let id = try #require(ana.ask("RELAYMSG #cats smt/discord :helo").first?.messageID)
        _ = bo.read()
        _ = ana.ask("EDIT #cats \(id) :hello")
        #expect(bo.read().last?.contains("hello") == true)
        #expect(bo.ask("EDIT #cats \(id) :mine").first?.contains("EDIT_FORBIDDEN") == true)
    }
}

/// ChanServ does what the commands do.
@Suite struct ChanServTests {
    private func notices(_ client: ScriptClient, _ words: String) -> [String] {
        client.ask("PRIVMSG ChanServ :\(words)").filter { $0.hasPrefix(":ChanServ!ChanServ@parley.test NOTICE ") }
    }

    @Test func theFounderIsShownAsOwner() {
        let (script, ana, bo) = WorldScript.cats("", "")
        let answer = ana.ask("CS REGISTER #cats")
        #expect(answer.first == ":ana!ana@host.test MODE #cats +q ana")
        #expect(
            answer.last?.hasSuffix(" NOTICE ana :#cats is yours, and stays so while you are away") == true)
        #expect(bo.ask("NAMES #cats").first == ":parley.test 353 bo = #cats :~ana bo")
        #expect(notices(bo, "REGISTER #cats").first?.contains("is somebody else's") == true)
        #expect(notices(script.client("cy"), "register #cats").first?.hasSuffix(":#cats: join it first") == true)
    }

    @Test func ranksAndDropAreTheCommands() {
        let (_, ana, bo) = WorldScript.cats("", "")
        #expect(ana.ask("CHANSERV VOICE #cats bo") == [":ana!ana@host.test MODE #cats +v bo"])
        #expect(ana.ask("CS DEVOICE #cats bo") == [":ana!ana@host.test MODE #cats -v bo"])
        #expect(bo.ask("CS OP #cats").last?.hasPrefix(":parley.test 482 bo #cats :") == true)
        #expect(bo.ask("CS DROP #cats").first?.hasPrefix(":parley.test 482 bo #cats :") == true)
        _ = ana.ask("CS DROP #cats")
        #expect(ana.ask("NAMES #cats") == [":parley.test 366 ana #cats :End of /NAMES list"])
    }

    @Test func itHelpsAndSaysWhatItDoesNotKnow() {
        let ana = WorldScript().client("ana")
        #expect(notices(ana, "HELP").count == 4)
        #expect(notices(ana, "FROB").first?.contains("HELP lists what I know") == true)
        #expect(notices(ana, "REGISTER").count == 1)
        #expect(ana.ask("NOTICE ChanServ :HELP").isEmpty)
        #expect(ana.ask("NICK chanserv").first?.hasPrefix(":parley.test 433 ") == true)
    }
}
