import Bytes
import Chat
import TestKit
import Testing

/// What others see of accounts, and what channels make of them.
@Suite struct AccountPresenceTests {
    @Test func loggingInLaterKeepsNickAndChannels() {
        let script = WorldScript()
        let ana = script.registered("ana")
        _ = ana.ask("JOIN #club")
        let uid = ana.ask("IDENTITY")[0].split(separator: " ")[3]
        ana.send("QUIT")
        let bo = script.client("bo", capabilities: "account-notify account-tag")
        _ = bo.ask("JOIN #cats")
        let late = script.client("eva")
        _ = late.ask("JOIN #cats")
        _ = bo.read()
        late.plain("ana", WorldScript.password)
        let lines = late.read()
        #expect(lines.prefix(3).map { $0.split(separator: " ")[1] } == ["+", "900", "903"])
        #expect(lines.contains(":eva!eva@host.test JOIN #club"), "the account's places come back")
        #expect(bo.read() == ["@account=ana :eva!eva@host.test ACCOUNT ana"])
        #expect(late.ask("IDENTITY")[0].contains(" \(uid) ana 1 :You are eva"))
        late.send("PRIVMSG #cats :hi")
        #expect(bo.read() == ["@account=ana :eva!eva@host.test PRIVMSG #cats :hi"])
    }

    @Test func theDisplayNameIsTheClients() {
        let script = WorldScript()
        let ana = script.registered("ana")
        _ = ana.ask("SETNAME :Ana of the hills")
        ana.send("QUIT")
        let bo = script.client("bo")
        let client = script.loggedIn("ana")
        #expect(bo.ask("WHOIS ana").contains { $0.hasSuffix(" * :ana") })
        _ = client.ask("SETNAME :Ana of the hills")
        client.send("QUIT")
        let person = script.connect()
        person.send("PASS ana:\(WorldScript.password)")
        script.advance(300)
        #expect(bo.ask("WHOIS ana").contains { $0.hasSuffix(" * :Ana of the hills") })
    }

    @Test func loggingInWhereTheAccountIsHereJoinsIt() {
        let script = WorldScript()
        let one = script.registered("ana")
        _ = one.ask("JOIN #cats")
        let two = script.client("eva")
        _ = two.ask("JOIN #dogs")
        let lines = two.ask("NS IDENTIFY ana \(WorldScript.password)")
        #expect(lines.contains(":eva NICK :ana"))
        #expect(lines.contains(":ana!ana@host.test JOIN #cats"))
        #expect(one.ask("IDENTITY")[0].contains(" ana 2 :"))
        // And as another one again (SASL 3.2, reauthentication).
        script.registered("bo").send("QUIT")
        two.plain("bo", WorldScript.password)
        _ = two.read()
        #expect(two.ask("IDENTITY")[0].contains(" bo 1 :"))
        #expect(one.ask("IDENTITY")[0].contains(" ana 1 :"))
    }

    @Test func sessionsOfAnAccountAreOneUser() {
        let script = WorldScript()
        let one = script.registered("ana", capabilities: "echo-message")
        let bo = script.client("bo")
        _ = bo.ask("JOIN #cats")
        _ = one.ask("JOIN #cats")
        _ = bo.read()
        let two = script.loggedIn("ana", capabilities: "echo-message")
        #expect(two.read().contains(":ana!ana@host.test JOIN #cats"))
        #expect(bo.read().isEmpty)
        two.send("PRIVMSG #cats :from two")
        #expect(one.read() == [":ana!ana@host.test PRIVMSG #cats :from two"])
        one.send("QUIT")
        #expect(bo.read() == [":ana!ana@host.test PRIVMSG #cats :from two"])
        two.send("QUIT :bye")
        #expect(bo.read() == [":ana!ana@host.test QUIT :Quit: bye"])
    }

    @Test func aMessageReachesAnAccountByItsName() {
        let script = WorldScript { $0.nickMemory = 0 }
        let ana = script.registered("ana")
        _ = ana.ask("NICK eva")
        let bo = script.client("bo")
        #expect(bo.ask("PRIVMSG ana :you are called otherwise").isEmpty)
        #expect(ana.read() == [":bo!bo@host.test PRIVMSG eva :you are called otherwise"])
        ana.send("QUIT")
        script.advance(1000)
        #expect(bo.numerics("PRIVMSG ana :you are away") == ["301"])
        #expect(bo.numerics("PRIVMSG nobody :hi") == ["401"])
        let back = script.loggedIn("ana")
        #expect(back.read().contains { $0.hasSuffix("you are away") })
        _ = back.ask("UNREGISTER \(WorldScript.password)")
        #expect(bo.ask("PRIVMSG ana :hi")[0].contains(" 401 bo ana :"))
    }

    @Test func queriesTellTheAccount() {
        let script = WorldScript()
        _ = script.registered("ana")
        let bo = script.client("bo", capabilities: "extended-join")
        let whois = bo.ask("WHOIS ana")
        #expect(whois.contains(":parley.test 307 bo ana :has identified for this nick"))
        #expect(whois.contains(":parley.test 330 bo ana ana :is logged in as"))
        #expect(bo.ask("WHO ana %na")[0] == ":parley.test 354 bo ana ana")
        #expect(bo.ask("WHO bo %na")[0] == ":parley.test 354 bo bo 0")
        _ = bo.ask("JOIN #cats")
        let eva = script.loggedIn("ana", nick: "ana")
        _ = eva.ask("JOIN #cats")
        #expect(bo.read().contains { $0.hasSuffix(" JOIN #cats ana :ana") })
    }

    @Test func modesBansAndLockdownKnowAccounts() {
        let script = WorldScript { $0.operators = [OperatorSettings(name: "root", hash: "hash:secret")] }
        let op = script.client("op")
        _ = op.ask("JOIN #club")
        _ = op.ask("MODE #club +RM")
        let ana = script.registered("ana")
        let bo = script.client("bo")
        #expect(bo.numerics("JOIN #club") == ["477"])
        #expect(ana.ask("JOIN #club").contains(":ana!ana@host.test JOIN #club"))
        _ = op.ask("MODE #club -R")
        _ = bo.ask("JOIN #club")
        #expect(bo.numerics("PRIVMSG #club :hi") == ["404"])
        #expect(ana.ask("PRIVMSG #club :hi").isEmpty)
        _ = op.ask("JOIN #other")
        _ = op.ask("MODE #other +b a:ana")
        #expect(ana.numerics("JOIN #other") == ["474"])
        #expect(bo.ask("JOIN #other").contains(":bo!bo@host.test JOIN #other"))
        _ = op.ask("OPER root secret")
        _ = op.ask("LOCKDOWN accounts")
        #expect(bo.numerics("JOIN #third") == ["477"])
        #expect(ana.ask("JOIN #third").first == ":ana!ana@host.test JOIN #third")
    }

    @Test func labelsGoWithTheAnswer() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "labeled-response batch")
        let lines = ana.ask("@label=a REGISTER * * correct-horse")
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix("@label=a :parley.test BATCH +"))
        #expect(lines[1].contains(" REGISTER SUCCESS ana :"))
        #expect(
            ana.ask("@label=b REGISTER * * correct-horse")[0].hasPrefix(
                "@label=b :parley.test FAIL REGISTER ALREADY_AUTHENTICATED ana :"))
        #expect(
            ana.ask("@label=c PASSWD wrong-horse four-other-words")[0].hasPrefix(
                "@label=c :parley.test FAIL PASSWD INVALID_CREDENTIALS ana :"))
    }

    @Test func aStoreThatFailsRegistersNothing() {
        let script = WorldScript()
        let ana = script.client("ana")
        script.isStoreFull = true
        _ = ana.ask("JOIN #cats")
        #expect(ana.ask("REGISTER * * correct-horse")[0].contains("FAIL REGISTER TEMPORARILY_UNAVAILABLE ana :"))
        script.isStoreFull = false
        script.apply(.storeRecovered)
        #expect(ana.ask("REGISTER * * correct-horse")[0].contains("REGISTER SUCCESS ana :"))
    }
}
