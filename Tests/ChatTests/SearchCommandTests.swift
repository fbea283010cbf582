import Bytes
import Chat
import TestKit
import Testing

/// SEARCH (soju.im/search): what may be asked, where it looks, what the answer looks like.
@Suite struct SearchCommandTests {
    private let script: WorldScript
    private let ana: ScriptClient
    private let bo: ScriptClient

    init() {
        script = WorldScript()
        ana = script.client("ana", capabilities: "batch server-time message-tags labeled-response soju.im/search")
        bo = script.client("bo")
        for client in [ana, bo] { _ = client.ask("JOIN #cats,#dogs") }
        bo.send("PRIVMSG #cats :hello cats")
        script.advance(60_000)
        bo.send("NOTICE #dogs :hello dogs")
        bo.send("PRIVMSG ana :hello you")
        ana.send("PRIVMSG #cats :hello myself")
        _ = ana.read()
    }

    /// Target and text of what is in the batch.
    private func found(_ attributes: String, by client: ScriptClient? = nil) -> [String] {
        let lines = (client ?? ana).ask("SEARCH \(attributes)")
        return lines.compactMap { line in
            line.firstMatch(of: /\ (PRIVMSG|NOTICE) (\S+ :hello.*)/).map { String($0.2) }
        }
    }

    @Test func aBatchOfMessagesInTheOrderOfTime() {
        let lines = ana.ask("SEARCH text=hello")
        #expect(
            lines.first?.hasPrefix(":parley.test BATCH +") == true && lines.first?.hasSuffix(" soju.im/search") == true)
        #expect(lines.last?.hasPrefix(":parley.test BATCH -") == true)
        #expect(
            found("text=hello") == ["#cats :hello cats", "#dogs :hello dogs", "ana :hello you", "#cats :hello myself"])
        #expect(lines.dropFirst().dropLast().allSatisfy { $0.contains("msgid=") && $0.contains("time=") })
        #expect(ana.ask("SEARCH text=nothing").count == 2)
    }

    @Test func attributes() {
        #expect(found("in=#cats;text=hello") == ["#cats :hello cats", "#cats :hello myself"])
        #expect(found("from=BO;in=#cats") == ["#cats :hello cats"])
        #expect(found("in=bo") == ["ana :hello you"])
        #expect(found("in=#cats;limit=1") == ["#cats :hello myself"])
        #expect(found("after=2026-01-01;limit=1") == ["#cats :hello cats"])
        #expect(found("text=hello\\sdogs") == ["#dogs :hello dogs"])
        #expect(found("text=hello dogs") == ["#dogs :hello dogs"])
        #expect(found(":in=#dogs hello dogs") == ["#dogs :hello dogs"])
        #expect(found("hello dogs") == ["#dogs :hello dogs"])
        #expect(found("TEXT=hello;After=30s") == ["#dogs :hello dogs", "ana :hello you", "#cats :hello myself"])
        #expect(found("before=30s;text=hello") == ["#cats :hello cats"])
        #expect(found("before=2020-01-01T00:00:00.000Z;after=2021-01-01T00:00:00.000Z").isEmpty)
        let uid = script.identities.values.first { $0.nick == "bo" }?.uid.text.string ?? ""
        #expect(found("from==\(uid);text=dogs") == ["#dogs :hello dogs"])
    }

    @Test(arguments: [
        "limit=0", "limit=x", "in=#cats;what=1", "after=soon", "in=", "in=#nowhere", "in=nobody", "from=",
        "before=2026-99-01;text=x",
    ]) func whatIsWrongIsNamed(attributes: String) {
        let lines = ana.ask("SEARCH \(attributes)")
        #expect(lines.count == 1 && lines[0].hasPrefix(":parley.test FAIL SEARCH INVALID_PARAMS "), "\(lines)")
    }

    @Test func withoutAnythingToLookFor() {
        #expect(ana.ask("SEARCH").first?.contains(" 461 ana SEARCH ") == true)
    }

    @Test func theLabelIsOnTheBatch() {
        let lines = ana.ask("@label=s1 SEARCH text=dogs")
        #expect(lines.first?.hasPrefix("@label=s1 :parley.test BATCH +") == true)
        #expect(lines.filter { $0.contains("label=") }.count == 1)
    }

    @Test func peopleReadIt() {
        let cy = script.connect()
        cy.send("NICK cy")
        cy.send("JOIN #cats")
        _ = cy.read()
        cy.send("SEARCH hello")
        let lines = cy.read()
        #expect(lines.first == ":parley.test NOTICE cy :2 found")
        #expect(lines.count == 3)
        #expect(lines.last?.contains(#/ PRIVMSG #cats :\[2026-05-28 \d\d:\d\d\] hello myself$/#) == true, "\(lines)")
        #expect(cy.ask("SEARCH in=#cats;limit=1;text=hello").last?.contains("there is more: SEARCH before=") == true)
    }

    @Test func aClientWithoutBatchesGetsLines() {
        let lines = bo.ask("SEARCH in=#dogs;text=hello")
        #expect(lines.count == 1 && lines[0].hasPrefix(":bo!"))
    }

    @Test func redactedAndEditedTexts() {
        let first = script.log.first { $0.text == "hello cats" }!
        bo.send("EDIT #cats \(MessageID.text(first.position).string) :hello kittens")
        #expect(found("in=#cats;text=kittens") == ["#cats :hello kittens"])
        #expect(found("in=#cats;text=cats").isEmpty)
        bo.send("REDACT #cats \(MessageID.text(first.position).string)")
        #expect(found("in=#cats") == ["#cats :hello myself"])
    }

    @Test("What is deleted while a search is under way does not come with it") func lateRedaction() {
        let first = script.log.first { $0.text == "hello cats" }!
        script.holdsAnswers = true
        ana.send("SEARCH in=#cats")
        script.holdsAnswers = false
        bo.send("REDACT #cats \(MessageID.text(first.position).string)")
        let lines = ana.read()
        #expect(lines.contains { $0.hasSuffix(":hello myself") })
        #expect(!lines.contains { $0.contains("hello cats") })
    }

    @Test func rightsEndWithTheChannel() {
        _ = ana.ask("PART #cats")
        #expect(found("text=hello") == ["#dogs :hello dogs", "ana :hello you"])
        #expect(ana.ask("SEARCH in=#cats;text=hello")[0].contains(" FAIL SEARCH INVALID_PARAMS #cats "))
    }

    @Test func onlySinceTheJoinWhereHistoryIsSo() {
        let script = WorldScript({ $0.historySinceJoin = true })
        let one = script.client("one")
        _ = one.ask("JOIN #cats")
        one.send("PRIVMSG #cats :hello early")
        let two = script.client("two")
        _ = two.ask("JOIN #cats")
        one.send("PRIVMSG #cats :hello late")
        #expect(found("text=hello", by: two) == ["#cats :hello late"])
    }

    @Test func aSearchThatFailsIsTold() {
        script.historyFailure = SearchQuestion.tooMuch
        #expect(ana.ask("SEARCH text=x").last?.contains("FAIL SEARCH INTERNAL_ERROR :That takes too long") == true)
        script.historyFailure = "disk"
        #expect(ana.ask("SEARCH text=x").last?.contains("FAIL SEARCH INTERNAL_ERROR :The search could not") == true)
    }
}
