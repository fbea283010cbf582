import Bytes
import Chat
import TestKit
import Testing

@Suite struct MessageTests {
    @Test func aChannelMessageReachesTheOthersOnce() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo", capabilities: "server-time message-tags account-tag")
        #expect(ana.ask("JOIN #cats").first == ":ana!ana@host.test JOIN #cats")
        _ = bo.ask("JOIN #cats")
        _ = ana.read()
        #expect(ana.ask("PRIVMSG #cats :hello").isEmpty)
        let heard = bo.read()
        #expect(heard.count == 1)
        #expect(heard[0].hasPrefix("@time="))
        #expect(heard[0].hasSuffix(" :ana!ana@host.test PRIVMSG #cats :hello"))
    }

    @Test func whatTheStoreRefusesReachesNobody() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "echo-message")
        let bo = script.client("bo")
        _ = ana.ask("JOIN #cats")
        _ = bo.ask("JOIN #cats")
        _ = ana.read()
        script.isStoreFull = true
        let answer = ana.ask("PRIVMSG #cats :lost")
        #expect(answer.count == 1)
        #expect(answer[0].contains("FAIL PRIVMSG STORE_FULL #cats"))
        #expect(bo.read().isEmpty)
        script.isStoreFull = false
        script.apply(.storeRecovered)
        #expect(ana.ask("PRIVMSG #cats :kept") == [":ana!ana@host.test PRIVMSG #cats :kept"])
        #expect(bo.read() == [":ana!ana@host.test PRIVMSG #cats :kept"])
        #expect(script.log.filter(\.kind.isMessage).map { $0.text.string } == ["kept"])
    }

    @Test func aPersonTypesAndIsHeard() {
        let script = WorldScript()
        let bo = script.client("bo")
        _ = bo.ask("JOIN #lobby")
        let ana = script.connect()
        ana.send("NICK ana")
        ana.send("JOIN #lobby")
        _ = ana.ask("hello there, all of you")
        #expect(bo.read().last == ":ana!ana@host.test PRIVMSG #lobby :hello there, all of you")
    }

    @Test func aLabelNamesTheAnswer() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "labeled-response batch echo-message message-tags")
        let joined = ana.ask("@label=a1 JOIN #cats")
        #expect(joined.first?.hasPrefix("@label=a1 :parley.test BATCH +") == true)
        #expect(ana.ask("@label=a2 PONG x") == ["@label=a2 :parley.test ACK"])
        #expect(ana.ask("@label=a3 PRIVMSG #cats :hi").first?.hasPrefix("@label=a3;msgid=") == true)
    }
}
