import Bytes
import Chat
import TestKit
import Testing

@Suite struct PresenceTests {
    @Test func awayIsToldToThoseWhoAsk() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo", capabilities: "away-notify")
        let cy = script.client("cy")
        for client in [ana, bo, cy] { _ = client.ask("JOIN #cats,#dogs") }
        _ = bo.read()
        _ = cy.read()
        #expect(ana.ask("AWAY :lunch") == [":parley.test 306 ana :You have been marked as being away"])
        #expect(bo.read() == [":ana!ana@host.test AWAY :lunch"])
        #expect(cy.read().isEmpty)
        // Nothing new: nobody hears it again.
        #expect(ana.ask("AWAY :lunch").count == 1)
        #expect(bo.read().isEmpty)
        #expect(cy.ask("PRIVMSG ana :hi") == [":parley.test 301 cy ana :lunch"])
        #expect(ana.ask("AWAY :").last == ":parley.test 305 ana :You are no longer marked as being away")
        #expect(bo.read() == [":ana!ana@host.test AWAY"])
    }

    @Test func awayIsCutBetweenScalars() {
        let script = WorldScript { $0.limits.awayLength = 5 }
        let ana = script.client("ana")
        _ = ana.ask("AWAY :ééé")
        #expect(script.client("bo").ask("PRIVMSG ana :hi") == [":parley.test 301 bo ana :éé"])
    }

    @Test func aPersonNeedsNoColon() {
        let script = WorldScript()
        let ana = script.connect()
        ana.send("NICK ana")
        _ = ana.ask("AWAY out for lunch")
        #expect(script.client("bo").ask("PRIVMSG ana :hi") == [":parley.test 301 bo ana :out for lunch"])
        #expect(ana.ask("SETNAME Ana B") == [":parley.test NOTICE ana :Your name is Ana B now"])
    }

    @Test func setnameIsEchoedAndRelayedToThoseWhoAsk() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "setname")
        let bo = script.client("bo", capabilities: "setname")
        let cy = script.client("cy")
        for client in [ana, bo, cy] { _ = client.ask("JOIN #cats") }
        _ = bo.read()
        _ = cy.read()
        #expect(ana.ask("SETNAME :Ana of the hills") == [":ana!ana@host.test SETNAME :Ana of the hills"])
        #expect(bo.read() == [":ana!ana@host.test SETNAME :Ana of the hills"])
        #expect(cy.read().isEmpty)
        #expect(bo.ask("WHOIS ana")[0].hasSuffix(" :Ana of the hills"))
        #expect(script.identities.values.contains { $0.name == "Ana of the hills" })
        // The channel's log has it, and what is said from now on is kept under it.
        #expect(script.log.last?.kind == .setname && script.log.last?.text == ":Ana of the hills")
        ana.send("PRIVMSG #cats :hi")
        #expect(script.log.last?.name == "Ana of the hills")
    }

    @Test(arguments: [":", ":  ", "four-bytes-too-many"])
    func aNameThatCannotBeIsRefused(_ name: String) {
        let ana = WorldScript { $0.limits.realnameLength = 15 }.client("ana")
        #expect(
            ana.ask("SETNAME \(name)") == [":parley.test FAIL SETNAME INVALID_REALNAME :A name has 1 to 15 bytes"])
    }

    @Test func setnameNeedsAName() {
        let ana = WorldScript().client("ana")
        #expect(ana.ask("SETNAME") == [":parley.test 461 ana SETNAME :Not enough parameters"])
    }

    @Test func acksAreTurnedOnAndOff() {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #cats")
        #expect(ana.ask("PRIVMSG #cats :a").isEmpty)
        #expect(ana.ask("ACKS on")[0].hasPrefix(":parley.test NOTE ACKS ON :"))
        let sent = ana.ask("PRIVMSG #cats :b")
        #expect(sent.count == 1)
        #expect(sent[0].hasPrefix(":parley.test NOTE ACKS SENT "))
        #expect(ana.ask("ACKS")[0].hasPrefix(":parley.test NOTE ACKS ON :"))
        #expect(ana.ask("ACKS OFF")[0].hasPrefix(":parley.test NOTE ACKS OFF :"))
        #expect(ana.ask("PRIVMSG #cats :c").isEmpty)
        #expect(ana.ask("ACKS maybe") == [":parley.test FAIL ACKS INVALID_PARAMS maybe :Type ACKS on or ACKS off"])
    }
}
