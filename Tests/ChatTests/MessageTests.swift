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

    // MARK: To channels

    @Test(arguments: [
        ("PRIVMSG", "411 ana :"), ("PRIVMSG :", "411 ana :"), ("PRIVMSG ,,", "411 ana :"),
        ("PRIVMSG #cats", "412 ana :"), ("PRIVMSG #cats :", "412 ana :"), ("PRIVMSG #none :x", "403 ana #none :"),
        ("PRIVMSG nobody :x", "401 ana nobody :"), ("PRIVMSG =u000000000001 :x", "401 ana =u000000000001 :"),
        ("PRIVMSG #dogs :x", "404 ana #dogs :"), ("TAGMSG", "461 ana TAGMSG :"),
        ("PRIVMSG #cats,ana,eva,bo,cy :x", "407 ana cy :"),
    ])
    func oneErrorForEachMistake(line: String, expected: String) {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = script.client("eva")
        _ = (ana.ask("JOIN #cats"), bo.ask("JOIN #dogs"))
        let answer = ana.ask(line).filter { !$0.contains(" PRIVMSG ") }
        #expect(answer.count == 1)
        #expect(answer.first?.hasPrefix(":parley.test \(expected)") == true, "\(answer)")
    }

    @Test(arguments: ["NOTICE #none :x", "NOTICE nobody :x", "NOTICE #dogs :x"])
    func noticesAreNotAnswered(line: String) {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = script.client("bo").ask("JOIN #dogs")
        #expect(ana.ask(line).isEmpty)
    }

    @Test func echoesGoToWhoAsksForThem() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "echo-message server-time")
        let bo = script.client("bo", capabilities: "server-time")
        _ = (ana.ask("JOIN #cats"), bo.ask("JOIN #cats"), ana.read())
        for line in ["PRIVMSG #cats :hello", "NOTICE #cats :hello"] {
            let echo = ana.ask(line)
            #expect(echo.count == 1)
            #expect(echo[0].hasPrefix("@time=") && echo[0].hasSuffix(" :ana!ana@host.test \(line)"))
            #expect(bo.read() == echo)
            #expect(bo.ask(line).isEmpty)
            _ = ana.read()
        }
    }

    @Test func whatCannotBeRelayedWholeIsRefused() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "echo-message")
        let bo = script.client("bo")
        _ = (ana.ask("JOIN #cats"), bo.ask("JOIN #cats"), ana.read())
        let room = 510 - ":ana!ana@host.test PRIVMSG #cats :".utf8.count
        let fits = String(repeating: "x", count: room)
        #expect(ana.ask("PRIVMSG #cats :\(fits)").map(\.utf8.count) == [510])
        #expect(bo.read().count == 1)
        let refused = ana.ask("PRIVMSG #cats :\(fits)y")
        #expect(refused == [":parley.test 417 ana :Text for #cats was too long by 1 byte; nothing of it was sent"])
        #expect(bo.read().isEmpty)
        #expect(script.log.count(where: \.kind.isMessage) == 1)
    }

    @Test func linesOverTheLimitAreRefusedAndTheSessionStays() {
        let script = WorldScript()
        let ana = script.client("ana")
        ByteString("PRIVMSG bo :xxx").withView { script.apply(.overlong(ana.id, $0)) }
        let refused = ana.read()
        #expect(refused.count == 1)
        #expect(refused[0].contains(" 417 ana :"))
        #expect(!ana.ask("PING x").isEmpty)
    }

    @Test func whatIsNotTextIsRefused() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        ana.sendBytes(Array("PRIVMSG bo :hi".utf8) + [0xAA])
        #expect(ana.read().map { $0.hasPrefix(":parley.test FAIL PRIVMSG INVALID_UTF8 :") } == [true])
        ana.sendBytes([0xFF, 0xFE, 0x41])
        #expect(ana.read().map { $0.hasPrefix(":parley.test FAIL * INVALID_UTF8 :") } == [true])
        #expect(bo.read().isEmpty)
    }

    // MARK: Tags

    @Test func clientOnlyTagsAreRelayed() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "message-tags")
        let bo = script.client("bo", capabilities: "message-tags echo-message")
        let cy = script.client("cy")
        let dee = script.client("dee", capabilities: "server-time")
        let all = [ana, bo, cy, dee]
        for client in all { _ = client.ask("JOIN #cats") }
        for client in all { _ = client.read() }
        ana.send("@+baz=bat;fizz=buzz;time=2000-01-01T00:00:00.000Z;msgid=mine;+;+b$d=1 PRIVMSG #cats :hi")
        let tagged = bo.read()[0]
        #expect(tagged.hasPrefix("@msgid=") && tagged.hasSuffix(";+baz=bat :ana!ana@host.test PRIVMSG #cats :hi"))
        #expect(!tagged.contains("mine"))
        #expect(cy.read() == [":ana!ana@host.test PRIVMSG #cats :hi"])
        #expect(dee.read()[0].hasPrefix("@time=20") && !dee.read().contains { $0.contains("baz") })
        bo.send(#"@+buzz=fizz\:buzz;cat=dog;+steel=wootz TAGMSG #cats"#)
        let relayed = ana.read()
        #expect(relayed.count == 1)
        #expect(relayed[0].hasSuffix(#";+buzz=fizz\:buzz;+steel=wootz :bo!bo@host.test TAGMSG #cats"#))
        #expect(bo.read() == relayed, "the echo is the same, msgid included")
        #expect(cy.read().isEmpty && dee.read().isEmpty)
        // Tags of who does not know tags are nobody's.
        cy.send("@+baz=bat PRIVMSG #cats :hi")
        #expect(!ana.read()[0].contains("baz"))
    }

    @Test func tagsUpToTheLimitPassWhole() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "message-tags echo-message server-time account-tag")
        _ = ana.ask("JOIN #cats")
        let tag = "+baz=\(String(repeating: "a", count: 4_081))"
        let echo = ana.ask("@foo=bar;\(tag) TAGMSG #cats")
        #expect(echo.count == 1)
        #expect(echo[0].contains(";\(tag) :ana!ana@host.test TAGMSG #cats"))
    }

    // MARK: To people

    @Test func directMessagesReachTheOneAndAreKept() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "echo-message message-tags")
        let bo = script.client("bo", capabilities: "message-tags")
        let echo = ana.ask("PRIVMSG BO :hi there")
        #expect(echo.count == 1)
        #expect(bo.read() == echo)
        #expect(echo[0].hasSuffix(" :ana!ana@host.test PRIVMSG bo :hi there"))
        let record = script.log[0]
        #expect(record.conversation.isDirect && record.text == "hi there")
        #expect(echo[0].hasPrefix("@msgid=\(MessageID.text(record.position).string) "))
        let uid = UID(
            number: record.conversation.a == record.uid.number ? record.conversation.b : record.conversation.a)
        ana.send("PRIVMSG =\(uid.text.string) :by uid")
        #expect(bo.read().last?.hasSuffix(" PRIVMSG bo :by uid") == true)
    }

    @Test func whoIsAwayIsSaidToBe() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = bo.ask("AWAY :lunch")
        #expect(ana.ask("PRIVMSG bo :hi") == [":parley.test 301 ana bo :lunch"])
        #expect(ana.ask("NOTICE bo :hi").isEmpty)
        #expect(bo.read().count == 2)
    }

    @Test func aTargetNamedTwiceHearsOnce() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        ana.send("PRIVMSG bo,BO,bo :once")
        #expect(bo.read() == [":ana!ana@host.test PRIVMSG bo :once"])
    }

    @Test func aRefusalStandsInThePlaceOfItsMessage() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "labeled-response batch message-tags")
        _ = ana.ask("JOIN #cats")
        script.isStoreFull = true
        script.holdsBatches = true
        ana.send("PING one")
        ana.send("@label=a PRIVMSG #cats :lost")
        ana.send("PING two")
        #expect(ana.read().isEmpty)
        script.holdsBatches = false
        script.apply(.tick)
        let lines = ana.read()
        #expect(lines.count == 3)
        #expect(lines.first?.contains("PONG parley.test :one") == true)
        #expect(lines.dropFirst().first?.hasPrefix("@label=a :parley.test FAIL PRIVMSG STORE_FULL #cats") == true)
        #expect(lines.last?.contains("PONG parley.test :two") == true)
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
