import Bytes
import Chat
import TestKit
import Testing

/// `MODE <nick>` and what user modes do.
@Suite struct PresenceModeTests {
    private func script() -> WorldScript {
        WorldScript { $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "admin")] }
    }

    @Test func modesAreAskedAndChanged() {
        let script = script()
        let ana = script.client("ana")
        _ = script.client("bo")
        #expect(ana.ask("MODE ana") == [":parley.test 221 ana +"])
        #expect(ana.ask("MODE ANA +iw") == [":ana!ana@host.test MODE ana :+iw"])
        #expect(ana.ask("MODE ana") == [":parley.test 221 ana +iw"])
        // What is so already is not told again.
        #expect(ana.ask("MODE ana +i").isEmpty)
        #expect(ana.ask("MODE ana -i+B-w") == [":ana!ana@host.test MODE ana :+B-iw"])
        #expect(ana.ask("MODE bo") == [":parley.test 502 ana :Cant change mode for other users"])
        #expect(ana.ask("MODE bo +i") == [":parley.test 502 ana :Cant change mode for other users"])
        #expect(ana.ask("MODE cy") == [":parley.test 401 ana cy :No such nick/channel"])
        #expect(
            ana.ask("MODE ana +xw") == [
                ":parley.test 501 ana :Unknown MODE flag", ":ana!ana@host.test MODE ana :+w",
            ])
    }

    @Test func whoWantsNoCTCPGetsNone() {
        let script = script()
        let (ana, bo) = (script.client("ana"), script.client("bo"))
        #expect(ana.ask("MODE ana +T") == [":ana!ana@host.test MODE ana :+T"])
        let refusal = [":parley.test 531 bo ana :Cannot send to user (+T): no CTCP"]
        #expect(bo.ask("PRIVMSG ana :\u{1}VERSION\u{1}") == refusal)
        #expect(bo.ask("NOTICE ana :\u{1}VERSION x\u{1}").isEmpty)
        #expect(ana.read().isEmpty && script.log.isEmpty)
        #expect(bo.ask("PRIVMSG ana :\u{1}ACTION waves\u{1}").isEmpty)
        #expect(ana.read() == [":bo!bo@host.test PRIVMSG ana :\u{1}ACTION waves\u{1}"])
    }

    @Test func nobodyMakesItselfOperatorOrSecure() {
        let ana = script().client("ana")
        #expect(ana.ask("MODE ana +oZ").isEmpty)
        #expect(ana.ask("MODE ana") == [":parley.test 221 ana +"])
    }

    @Test func anOperatorStepsDown() {
        let script = script()
        let ana = script.client("ana")
        _ = ana.ask("OPER root pw")
        #expect(ana.ask("MODE ana -o") == [":ana!ana@host.test MODE ana :-o"])
        #expect(ana.ask("REHASH")[0].contains(" 481 "))
        #expect(ana.ask("LUSERS")[1] == ":parley.test 252 ana 0 :operator(s) online")
        #expect(script.notes.last?.text.string.contains("no operator any more") == true)
    }

    @Test func everySessionOfTheUserSeesIt() {
        let script = script()
        let ana = script.client("ana")
        let token = ana.ask("IDENTITY TOKEN")[0].split(separator: " ")[4]
        let second = script.connect()
        second.send("PASS guest:\(token)")
        second.send("NICK ana")
        second.send("USER ana 0 * :Ana")
        _ = second.read()
        _ = ana.ask("MODE ana +i")
        #expect(second.read() == [":ana!ana@host.test MODE ana :+i"])
    }

    @Test func theInvisibleAreFoundByNameAlone() {
        let script = script()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = ana.ask("MODE ana +i")
        _ = ana.ask("JOIN #cats")
        let none = { (mask: String) in [":parley.test 315 bo \(mask) :End of WHO list"] }
        #expect(bo.ask("WHO an*") == none("an*"))
        #expect(bo.ask("WHO #cats") == none("#cats"))
        #expect(!script.connect().ask("WHO").contains { $0.contains(" ana ") })
        #expect(bo.ask("WHO ana").first == ":parley.test 352 bo * ana host.test parley.test ana H :0 ana")
        #expect(!bo.ask("WHOIS ana").contains { $0.contains(" 319 ") })
        #expect(ana.ask("WHO an*").count == 2)
        #expect(bo.ask("LUSERS")[0] == ":parley.test 251 bo :There are 1 users and 1 invisible on 1 servers")
        _ = bo.ask("JOIN #cats")
        #expect(bo.ask("WHO an*").count == 2)
        #expect(bo.ask("WHOIS ana").contains(":parley.test 319 bo ana :@#cats"))
    }

    @Test func wallopsReachesThoseWhoWantIt() {
        let script = script()
        let ana = script.client("ana")
        let bo = script.client("bo")
        let cy = script.client("cy")
        _ = bo.ask("MODE bo +w")
        _ = ana.ask("OPER root pw")
        #expect(ana.ask("WALLOPS :hi everyone") == [":ana!ana@host.test WALLOPS :hi everyone"])
        #expect(bo.read() == [":ana!ana@host.test WALLOPS :hi everyone"])
        #expect(cy.read().isEmpty)
        #expect(ana.ask("WALLOPS") == [":parley.test 461 ana WALLOPS :Not enough parameters"])
        #expect(ana.ask("WALLOPS :") == [":parley.test 461 ana WALLOPS :Not enough parameters"])
        #expect(!script.notes.contains { $0.text.string.contains("everyone") })
    }

    @Test func aBotIsMarked() {
        let script = script()
        let bot = script.client("bot")
        let ana = script.client("ana", capabilities: "message-tags echo-message")
        let bo = script.client("bo")
        for client in [bot, ana, bo] { _ = client.ask("JOIN #cats") }
        #expect(bot.ask("MODE bot +B") == [":bot!bot@host.test MODE bot :+B"])
        _ = ana.read()
        _ = bo.read()
        _ = bot.ask("PRIVMSG #cats :beep")
        #expect(ana.read()[0].split(separator: " ")[0].split(separator: ";").contains("bot"))
        #expect(bo.read() == [":bot!bot@host.test PRIVMSG #cats :beep"])
        #expect(bo.ask("WHOIS bot").contains(":parley.test 335 bo bot :is a bot"))
        #expect(bo.ask("WHO bot")[0] == ":parley.test 352 bo #cats bot host.test parley.test bot H@B :0 bot")
    }

    @Test func guestsMayBeKeptOut() {
        let script = script()
        let ana = script.registered("ana")
        let bo = script.client("bo")
        let cy = script.registered("cy")
        #expect(ana.ask("MODE ana +R") == [":ana!ana@host.test MODE ana :+R"])
        let refused = [":parley.test 477 bo ana :Only accounts may write to this user (+R)"]
        #expect(bo.ask("PRIVMSG ana :hi") == refused)
        #expect(bo.ask("NOTICE ana :hi").isEmpty)
        #expect(cy.ask("PRIVMSG ana :hi").isEmpty)
        #expect(ana.read() == [":cy!cy@host.test PRIVMSG ana :hi"])
        #expect(ana.ask("ACCEPT bo").isEmpty)
        #expect(ana.numerics("ACCEPT bo") == ["457"])
        #expect(ana.ask("ACCEPT *") == [":parley.test 281 ana bo", ":parley.test 282 ana :End of /ACCEPT list"])
        #expect(bo.ask("PRIVMSG ana :hi").isEmpty)
        #expect(ana.read() == [":bo!bo@host.test PRIVMSG ana :hi"])
        #expect(ana.ask("ACCEPT -bo").isEmpty)
        #expect(ana.numerics("ACCEPT -bo,nobody") == ["458", "401"])
        #expect(bo.ask("PRIVMSG ana :hi") == refused)
        _ = ana.ask("PRIVMSG bo :how are you")
        _ = bo.read()
        #expect(bo.ask("PRIVMSG ana :fine").isEmpty, "who was asked may answer")
    }

    @Test func acceptListsHaveAnEnd() {
        let script = WorldScript { $0.limits.accepted = 1 }
        let ana = script.client("ana")
        _ = (script.client("bo"), script.client("cy"))
        #expect(ana.ask("ACCEPT bo").isEmpty)
        #expect(ana.numerics("ACCEPT cy") == ["456"])
    }
}
