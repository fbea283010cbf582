import Bytes
import Chat
import TestKit
import Testing

/// Direct messages to somebody who is not here: kept, and delivered on return, once.
@Suite struct MissedTests {
    private let refused = " 401 "

    private func token(_ client: ScriptClient) -> String {
        client.ask("IDENTITY TOKEN")[0].split(separator: " ")[4].description
    }

    private func uid(_ token: String) -> String { String(token.prefix(13)) }

    private func back(_ script: WorldScript, _ token: String, capabilities: String = "", nick: String = "bo")
        -> ScriptClient
    {
        let client = script.connect()
        if !capabilities.isEmpty { client.send("CAP REQ :\(capabilities)") }
        client.send("PASS guest:\(token)")
        client.send("NICK \(nick)")
        client.send("USER bo 0 * :Bo")
        if !capabilities.isEmpty { client.send("CAP END") }
        return client
    }

    private func person(_ script: WorldScript, _ token: String) -> ScriptClient {
        let client = script.connect()
        client.send("IDENTITY RESUME \(token)")
        return client
    }

    private func afterWelcome(_ client: ScriptClient) -> [String] {
        Array(client.read().drop { !$0.contains(" 422 ") }.dropFirst())
    }

    /// bo has left; ana is here.
    private func script(_ change: (inout Settings) -> Void = { _ in }) -> (WorldScript, ScriptClient, String) {
        let script = WorldScript(change)
        let ana = script.client("ana", capabilities: "echo-message")
        let bo = script.client("bo")
        let token = token(bo)
        bo.send("QUIT")
        _ = ana.read()
        return (script, ana, token)
    }

    @Test func theSenderIsToldOnceThatNobodyIsHere() {
        let (_, ana, token) = script()
        let told = ":Not here now; the message is kept for the return"
        #expect(
            ana.ask("PRIVMSG BO :hi") == [":ana!ana@host.test PRIVMSG bo :hi", ":parley.test 301 ana bo \(told)"])
        #expect(
            ana.ask("PRIVMSG =\(uid(token)) :hi") == [
                ":ana!ana@host.test PRIVMSG bo :hi", ":parley.test 301 ana bo \(told)",
            ])
        #expect(ana.ask("NOTICE bo :hi") == [":ana!ana@host.test NOTICE bo :hi"])
        #expect(ana.ask("PRIVMSG nobody :hi")[0].contains(refused))
        #expect(ana.ask("PRIVMSG =nobody :hi")[0].contains(refused))
    }

    @Test func aBareClientGetsNoticesOfTheServer() {
        let (script, ana, token) = script()
        let cy = script.client("cy")
        ana.send("PRIVMSG bo :one")
        cy.send("NOTICE bo :two")
        ana.send("PRIVMSG bo :\u{1}ACTION waves\u{1}")
        #expect(
            afterWelcome(back(script, token)) == [
                ":parley.test NOTICE bo :3 for you while you were gone",
                ":parley.test NOTICE bo :[20:26] <ana> one", ":parley.test NOTICE bo :[20:26] -cy- two",
                ":parley.test NOTICE bo :[20:26] * ana waves", ":parley.test NOTICE bo :live now",
            ])
    }

    @Test func aPersonReadsThemWithTheirTime() {
        let (script, ana, token) = script()
        ana.send("PRIVMSG bo :one")
        let bo = person(script, token)
        let line = bo.read().first { $0.hasPrefix(":ana!ana@host.test PRIVMSG bo ") }
        #expect(line?.hasSuffix(" :[2026-05-28 20:26] one") == true)
    }

    @Test func whoKnowsBatchesGetsOneOfEachConversation() {
        let (script, ana, token) = script()
        let cy = script.client("cy")
        ana.send("PRIVMSG bo :one")
        cy.send("PRIVMSG bo :two")
        ana.send("PRIVMSG bo :three")
        let lines = afterWelcome(back(script, token, capabilities: "batch server-time message-tags"))
        #expect(lines.count == 7)
        #expect(lines[0].hasSuffix(" chathistory ana") && lines[4].hasSuffix(" chathistory cy"))
        #expect(lines[1].contains(";msgid=") && lines[1].hasSuffix(" :ana!ana@host.test PRIVMSG bo :one"))
        #expect(lines[2].hasSuffix(" PRIVMSG bo :three") && lines[5].hasSuffix(" :cy!cy@host.test PRIVMSG bo :two"))
    }

    @Test func whoAsksForItselfGetsNothingByItself() {
        let (script, ana, token) = script()
        ana.send("PRIVMSG bo :one")
        let bo = back(script, token, capabilities: "batch server-time draft/chathistory")
        #expect(afterWelcome(bo).isEmpty)
        let targets = bo.ask("CHATHISTORY TARGETS timestamp=2020-01-01T00:00:00Z timestamp=2100-01-01T00:00:00Z 9")
        #expect(targets.contains { $0.contains(" TARGETS ana ") })
        #expect(bo.ask("CHATHISTORY LATEST ana * 9").contains { $0.hasSuffix("PRIVMSG bo :one") })
    }

    @Test func eachComesOnce() {
        let (script, ana, token) = script()
        ana.send("PRIVMSG bo :one")
        let first = back(script, token)
        #expect(afterWelcome(first).contains { $0.hasSuffix("<ana> one") })
        // Heard live, then gone again: nothing of it was missed.
        ana.send("PRIVMSG bo :live")
        #expect(first.read() == [":ana!ana@host.test PRIVMSG bo :live"])
        let second = back(script, token)
        #expect(afterWelcome(second).isEmpty, "another session of who is here")
        first.send("QUIT")
        second.send("QUIT")
        #expect(afterWelcome(back(script, token)).isEmpty)
    }

    @Test func whoGoesBeforeTheyAreReadGetsThemTheNextTime() {
        let (script, ana, token) = script()
        ana.send("PRIVMSG bo :one")
        script.holdsPages = true
        let first = back(script, token)
        ana.send("PRIVMSG bo :live")
        first.drop()
        script.holdsPages = false
        script.apply(.tick)
        #expect(!first.read().contains { $0.contains("one") })
        #expect(afterWelcome(back(script, token)).contains { $0.hasSuffix("<ana> one") })
    }

    @Test func aReaderThatFailsLosesNothing() {
        let (script, ana, token) = script()
        ana.send("PRIVMSG bo :one")
        script.historyFailure = "disk"
        let first = back(script, token)
        #expect(afterWelcome(first).count == 1)
        first.send("QUIT")
        script.historyFailure = nil
        #expect(afterWelcome(back(script, token)).contains { $0.hasSuffix("<ana> one") })
    }

    @Test func theNewestAreAsManyAsTheLimit() {
        let (script, ana, token) = script { $0.limits.missed = 2 }
        for text in ["one", "two", "three"] { ana.send("PRIVMSG bo :\(text)") }
        let lines = afterWelcome(back(script, token))
        #expect(lines[0] == ":parley.test NOTICE bo :the last 2 for you while you were gone")
        #expect(lines[1].hasSuffix("<ana> two") && lines.count == 4)
    }

    // MARK: Who is meant

    @Test func aNickTakenBySomebodyElseIsTheirs() {
        let (script, ana, token) = script()
        let impostor = script.client("bo")
        ana.send("PRIVMSG bo :for the one who is here")
        #expect(impostor.read().count == 1)
        _ = ana.ask("PRIVMSG =\(uid(token)) :for you")
        #expect(ana.ask("PRIVMSG =\(uid(token)) :again")[0].contains("PRIVMSG =\(uid(token)) :again"))
        let lines = afterWelcome(back(script, token, nick: "bobo"))
        #expect(lines.filter { $0.contains("<ana>") }.count == 2)
        #expect(!lines.contains { $0.contains("the one who is here") })
    }

    @Test func theNickCountsForTheConfiguredTime() {
        let (script, ana, token) = script { $0.nickMemory = 60_000 }
        script.advance(59_000)
        #expect(!ana.ask("PRIVMSG bo :in time").contains { $0.contains(refused) })
        script.advance(2_000)
        #expect(ana.ask("PRIVMSG bo :late")[0].contains(refused))
        #expect(!ana.ask("PRIVMSG =\(uid(token)) :always").contains { $0.contains(refused) })
        // Of a conversation the name may go, the uid stays.
        #expect(ana.ask("CHATHISTORY LATEST bo * 5")[0].contains("INVALID_TARGET"))
        #expect(ana.ask("HISTORY =\(uid(token))").contains { $0.hasSuffix("<ana> in time") })
    }

    @Test func aUidThatNobodyHereKnowsIsLookedUp() {
        let known = UID(number: 4_711)
        let script = WorldScript()
        script.memory.commit(
            [], [.saveIdentity(IdentityState(uid: known, nick: "old", name: "", epoch: 0, created: 1, seen: 1))])
        let ana = script.client("ana", capabilities: "batch labeled-response echo-message")
        script.holdsPages = true
        ana.send("@label=a PRIVMSG =\(known.text.string) :hi")
        let isBlocked = script.world.isInputBlocked(ana.id)
        #expect(isBlocked && ana.read().isEmpty)
        script.holdsPages = false
        ana.send("@label=b NOTICE =u000000000001 :hi")
        ana.send("@label=c PRIVMSG =u000000000001 :hi")
        let isStillBlocked = script.world.isInputBlocked(ana.id)
        #expect(!isStillBlocked)
        let lines = ana.read()
        #expect(lines.count == 6)
        #expect(lines[0].hasPrefix("@label=a :parley.test BATCH +"))
        #expect(lines[1].hasSuffix(" PRIVMSG =\(known.text.string) :hi") && lines[2].contains(" 301 ana =u"))
        #expect(lines[4] == "@label=b :parley.test ACK")
        #expect(lines[5] == "@label=c :parley.test 401 ana =u000000000001 :No such nick/channel")
        #expect(script.log.count == 1)
    }

    @Test func whatWasSaidBeforeTheEndOfTheInputIsKept() {
        let known = UID(number: 4_711)
        let script = WorldScript()
        script.memory.commit(
            [], [.saveIdentity(IdentityState(uid: known, nick: "old", name: "", epoch: 0, created: 1, seen: 1))])
        let ana = script.client("ana")
        script.holdsPages = true
        ana.send("PRIVMSG =\(known.text.string) :hi")
        script.apply(.inputEnded(ana.id))
        #expect(!ana.isClosed)
        script.holdsPages = false
        script.apply(.tick)
        #expect(script.log.map(\.text) == ["hi"])
        #expect(ana.isClosed && ana.read().contains { $0.contains(" 301 ") })
    }

    @Test func anAccountIsFoundByItsNameAlways() {
        var stored = StoredState()
        let bob = UID(number: 77)
        stored.accountNames = [
            AccountName(name: "Bob", look: "bob", uid: bob), AccountName(name: "gone", look: "gone", uid: .none),
            AccountName(name: "soon", look: "soon", uid: UID(number: 78), expires: 1_790_000_000),
        ]
        let script = WorldScript({ $0.nickMemory = 0 }, stored: stored)
        let ana = script.client("ana", capabilities: "batch draft/chathistory")
        #expect(
            ana.ask("PRIVMSG bob :hi") == [":parley.test 301 ana bob :Not here now; the message is kept for the return"]
        )
        #expect(script.memory.correspondence[bob]?.missedSince.position == script.log.last?.position)
        #expect(ana.ask("CHATHISTORY LATEST BOB * 5").first?.hasSuffix(" chathistory BOB") == true)
        #expect(ana.ask("CHATHISTORY LATEST BOB * 5").count == 3)
        #expect(ana.ask("PRIVMSG gone :hi")[0].contains(refused))
        #expect(ana.ask("PRIVMSG soon :hi")[0].contains(refused))
    }

    @Test func whoIsBackUnderAnotherNickIsNotFoundUnderTheOld() {
        let (script, ana, token) = script()
        let bo = back(script, token, nick: "boris")
        #expect(ana.ask("PRIVMSG bo :hi")[0].contains(refused))
        _ = bo.read()
        _ = ana.ask("PRIVMSG =\(uid(token)) :hi")
        #expect(bo.read() == [":ana!ana@host.test PRIVMSG boris :hi"])
    }

    @Test func theConversationFollowsTheIdentityNotTheNick() {
        let (script, ana, token) = script()
        ana.send("PRIVMSG bo :one")
        let bo = back(script, token, nick: "boris")
        bo.send("PRIVMSG ana :two")
        _ = ana.ask("NICK anna")
        #expect(ana.ask("HISTORY boris").filter { $0.contains("<") }.count == 2)
        _ = bo.read()
        #expect(bo.ask("HISTORY anna").filter { $0.contains("<") }.count == 2)
        // Who takes a nick takes nothing else.
        let thief = script.client("bo")
        #expect(thief.ask("HISTORY anna") == [":parley.test NOTICE bo :nothing to show of anna"])
        #expect(ana.ask("HISTORY bo") == [":parley.test NOTICE anna :nothing to show of bo"])
    }

    @Test func someWhoLeftBeforeTheRestartAreFound() {
        var stored = StoredState()
        let seen = Int64(1_780_000_000)
        stored.departed = [
            DepartedState(uid: UID(number: 77), nick: "old", seen: seen - 30 * 86_400),
            DepartedState(uid: UID(number: 78), nick: "bo", seen: seen - 86_400),
            DepartedState(uid: UID(number: 79), nick: "Bo", seen: seen - 3_600),
        ]
        let script = WorldScript(stored: stored)
        let ana = script.client("ana")
        #expect(
            ana.ask("PRIVMSG bo :hi") == [":parley.test 301 ana Bo :Not here now; the message is kept for the return"])
        #expect(script.log.last?.conversation == .direct(script.log.last!.uid, UID(number: 79)))
        #expect(ana.ask("PRIVMSG old :hi")[0].contains(refused))
    }

    @Test func whoEndsTheServerNotesWhoWasHere() {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #cats")
        script.moment.wall += 3_600_000
        script.apply(.stopping)
        #expect(script.identities.values.map(\.seen) == [1_780_003_600])
    }
}
