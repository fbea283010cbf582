import Bytes
import Chat
import TestKit
import Testing

/// LASTSEEN, and what is kept for it.
@Suite struct LastseenTests {
    private let script = WorldScript()
    private let ana: ScriptClient

    init() { ana = script.client("ana") }

    private func uid(_ client: ScriptClient) -> Substring {
        client.ask("IDENTITY")[0].split(separator: " ")[3]
    }

    @Test func whoIsHereIsOnline() {
        let bo = script.client("bo")
        let uid = uid(bo)
        #expect(ana.ask("LASTSEEN BO") == [":parley.test NOTE LASTSEEN bo \(uid) online :bo is here"])
        #expect(ana.ask("LASTSEEN =\(uid)") == [":parley.test NOTE LASTSEEN bo \(uid) online :bo is here"])
    }

    @Test func whoLeftWasHereThen() {
        let bo = script.client("bo")
        let uid = uid(bo)
        bo.send("JOIN #c")
        script.advance(90_000)
        bo.send("QUIT")
        script.advance(60_000)
        let time = "2026-05-28T20:28:10.000Z"
        #expect(ana.ask("LASTSEEN bo") == [":parley.test NOTE LASTSEEN bo \(uid) \(time) :bo was last here then"])
        #expect(ana.ask("LASTSEEN =\(uid)").first?.contains(" \(time) ") == true)
        // Another one has the nick now; the uid still finds who it was.
        let other = script.client("bo")
        #expect(ana.ask("LASTSEEN bo").first?.contains("\(self.uid(other)) online") == true)
        #expect(ana.ask("LASTSEEN =\(uid)").first?.contains(" \(time) ") == true)
    }

    @Test func underAnotherNickOneIsHere() {
        let bo = script.client("bo")
        bo.send("JOIN #c")
        bo.drop()
        let cy = script.client("cy")
        cy.send("JOIN #c")
        cy.send("NICK bo")
        cy.send("NICK eva")
        #expect(ana.ask("LASTSEEN eva").first?.contains("eva \(uid(cy)) online") == true)
        #expect(ana.ask("LASTSEEN bo").first?.contains(" :bo was last here then") == true)
    }

    @Test func whoWantsToBeHiddenIs() {
        let bo = script.client("bo")
        bo.send("METADATA * SET parley.chat/last-seen :off")
        let hidden = [":parley.test FAIL LASTSEEN HIDDEN bo :bo does not tell when they were here"]
        #expect(ana.ask("LASTSEEN bo") == hidden)
        #expect(bo.ask("LASTSEEN bo").first?.contains(" online ") == true)
        bo.send("QUIT")
        #expect(ana.ask("LASTSEEN bo") == hidden)
    }

    @Test(arguments: ["nobody", "=u000000000001", "=x"]) func whoWasNeverHereIsNot(name: String) {
        let answer = ana.ask("LASTSEEN \(name)")
        #expect(answer == [":parley.test 406 ana \(name) :There was no such nickname"])
    }

    @Test func nothingIsKeptOfAPassingGuest() {
        let bo = script.client("bo")
        bo.send("QUIT")
        #expect(ana.ask("LASTSEEN bo").first?.contains(" 406 ") == true)
        #expect(script.identities.isEmpty)
    }

    @Test func theAnswerKeepsItsPlaceAndItsLabel() {
        let bo = script.client("bo", capabilities: "labeled-response batch")
        #expect(
            bo.ask("@label=x LASTSEEN nobody") == [
                "@label=x :parley.test 406 bo nobody :There was no such nickname"
            ])
        #expect(bo.ask("@label=y LASTSEEN bo").first?.hasPrefix("@label=y :parley.test NOTE LASTSEEN bo ") == true)
    }

    @Test func theEndOfTheServerIsNoted() throws {
        // A person is not pinged, and stays for hours.
        let bo = script.connect()
        bo.send("JOIN #c")
        let before = try #require(script.identities.values.first).seen
        script.advance(7_200_000)
        #expect(try #require(script.identities.values.first).seen >= before + 3600)
        script.advance(60_000)
        script.apply(.stopping)
        #expect(script.identities.values.first?.seen == before + 7260)
    }
}
