import Bytes
import Chat
import TestKit
import Testing

/// docs/PROTOCOL.md, Sent, delivered, read.
@Suite struct ReceiptsTests {
    private let script = WorldScript()
    private let ana: ScriptClient
    private let bo: ScriptClient

    init() {
        ana = script.client("ana", capabilities: "message-tags echo-message parley.chat/receipts")
        bo = script.client("bo", capabilities: "draft/read-marker")
        for client in [ana, bo] { _ = client.ask("JOIN #cats") }
        _ = ana.read()
    }

    private func say(_ text: String, to target: String = "#cats") throws -> String {
        script.advance(1_000)
        return try #require(ana.ask("PRIVMSG \(target) :\(text)").first { $0.contains(" PRIVMSG ") }?.messageID)
    }

    /// Time passes until bo is asked whether it came, and it answers.
    private func confirm(_ client: ScriptClient) {
        script.advance(1_100)
        #expect(client.read().last == "PING :parley.test")
        client.send("PONG :parley.test")
    }

    @Test func liveWhenTheReceiverHasAnsweredAPing() throws {
        let first = try say("one")
        let second = try #require(ana.ask("PRIVMSG #cats :two").first?.messageID)
        confirm(bo)
        let lines = ana.read()
        #expect(lines.count == 1)
        #expect(
            lines[0].hasPrefix(
                ":parley.test RECEIPT #cats \(second) bo \(try script.uid(of: "bo")) delivered 2026-05-28T20:26:4"))
        #expect(first < second)
        bo.send("PONG :parley.test")
        #expect(ana.read().isEmpty)
    }

    @Test func liveWhenTheReceiverHasReadIt() throws {
        let first = try say("one")
        _ = try say("two")
        bo.send("MARKREAD #cats timestamp=2026-05-28T20:26:41.000Z")
        #expect(
            ana.read() == [
                ":parley.test RECEIPT #cats \(first) bo \(try script.uid(of: "bo")) read 2026-05-28T20:26:41.000Z"
            ])
        let direct = try say("psst", to: "bo")
        bo.send("MARKREAD ana timestamp=2026-05-28T20:26:43.000Z")
        #expect(ana.read().first?.contains(" RECEIPT bo \(direct) bo ") == true)
    }

    @Test func askedForEachReceiverWithTheFurthestItGot() throws {
        let cy = script.client("cy")
        _ = cy.ask("JOIN #cats")
        _ = ana.read()
        let id = try say("hello")
        for client in [bo, cy] { confirm(client) }
        bo.send("MARKREAD #cats timestamp=2026-05-28T20:26:41.000Z")
        _ = script.client("di").ask("JOIN #cats")
        _ = ana.read()
        let lines = ana.ask("RECEIPTS #cats \(id)")
        #expect(lines.count == 3)
        let boUID = try script.uid(of: "bo")
        #expect(lines.contains(":parley.test RECEIPT #cats \(id) bo \(boUID) read 2026-05-28T20:26:41.000Z"))
        #expect(lines.contains { $0.hasPrefix(":parley.test RECEIPT #cats \(id) cy ") && $0.contains(" delivered ") })
        #expect(lines.last == ":parley.test NOTE RECEIPTS END #cats :That is all")
    }

    @Test func aPersonsSecondLineShowsWhatCameBeforeItsFirst() throws {
        let person = script.connect()
        for line in ["NICK cy", "JOIN #cats"] { person.send(line) }
        let id = try say("hello")
        person.send("hi")
        #expect(!ana.ask("RECEIPTS #cats \(id)").contains { $0.contains(" cy ") })
        person.send("hi again")
        #expect(ana.ask("RECEIPTS #cats \(id)").contains { $0.contains(" cy ") && $0.contains(" delivered ") })
        #expect(!person.read().contains { $0.contains("PING") })
    }

    @Test func whoGivesNoneGetsNone() throws {
        _ = bo.ask("METADATA * SET parley.chat/receipts :off")
        let id = try say("hello")
        script.advance(1_100)
        #expect(!bo.read().contains { $0.contains("PING") })
        bo.send("MARKREAD #cats timestamp=2026-05-28T20:26:41.000Z")
        #expect(ana.ask("RECEIPTS #cats \(id)") == [":parley.test NOTE RECEIPTS END #cats :That is all"])
        _ = bo.ask("METADATA * SET parley.chat/receipts :on")
        _ = ana.ask("METADATA * SET parley.chat/receipts :off")
        #expect(ana.ask("RECEIPTS #cats \(id)").first?.contains("FAIL RECEIPTS RECEIPTS_OFF #cats ") == true)
    }

    @Test func onlyOfOnesOwnMessagesAndExactErrors() throws {
        let id = try say("hello")
        for reference in [id, "nothing", MessageID.text(5).string] {
            let refusal = "FAIL RECEIPTS UNKNOWN_MSGID #cats \(reference) :You have no message of this id there"
            #expect(bo.ask("RECEIPTS #cats \(reference)").last == ":parley.test \(refusal)")
        }
        #expect(bo.ask("RECEIPTS #nowhere \(id)").first?.contains("FAIL RECEIPTS INVALID_TARGET #nowhere ") == true)
        #expect(bo.ask("RECEIPTS #cats").first?.contains(" 461 bo RECEIPTS ") == true)
        _ = ana.ask("CAP REQ :batch labeled-response")
        let lines = ana.ask("@label=l RECEIPTS #cats \(id)")
        #expect(lines.count == 3 && lines[0].hasPrefix("@label=l :parley.test BATCH +"))
        #expect(lines[0].hasSuffix(" parley.chat/receipts #cats"))
    }

    @Test func whoDoesNotAskForThemCausesNoPing() throws {
        let cy = script.client("cy", capabilities: "echo-message")
        _ = cy.ask("JOIN #cats")
        _ = bo.read()
        cy.send("PRIVMSG #cats :hello")
        script.advance(1_100)
        #expect(!bo.read().contains { $0.contains("PING") })
    }

    @Test func channelsOfManyTellNoneLive() throws {
        for number in 0..<49 { script.client("n\(number)").send("JOIN #cats") }
        _ = ana.read()
        let id = try say("hello")
        script.advance(1_100)
        #expect(!bo.read().contains { $0.contains("PING") })
        bo.send("MARKREAD #cats timestamp=2026-05-28T20:26:41.000Z")
        #expect(ana.read().isEmpty)
        #expect(ana.ask("RECEIPTS #cats \(id)").contains { $0.contains(" read ") })
    }
}
