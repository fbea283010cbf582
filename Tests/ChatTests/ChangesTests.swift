import Bytes
import Chat
import TestKit
import Testing

/// docs/PROTOCOL.md, Changing what was said: CHANGES.
@Suite struct ChangesTests {
    private let script = WorldScript { $0.page = 5 }
    private let ana: ScriptClient
    private let bo: ScriptClient

    init() {
        ana = script.client("ana", capabilities: "message-tags echo-message")
        bo = script.client(
            "bo", capabilities: "message-tags batch server-time draft/message-redaction parley.chat/message-edit")
        for client in [ana, bo] { _ = client.ask("JOIN #cats") }
    }

    private func say(_ text: String) throws -> String {
        try #require(ana.ask("PRIVMSG #cats :\(text)").first?.messageID)
    }

    /// What stands between the batch's ends, and the cursor.
    private func changes(_ parameters: String) throws -> (lines: [String], cursor: String) {
        let answer = bo.ask("CHANGES \(parameters)").map(\.withoutTags)
        try #require(answer.first?.hasPrefix(":parley.test BATCH +") == true)
        try #require(answer.first?.hasSuffix(" parley.chat/changes #cats") == true)
        let end = try #require(answer.dropLast().last)
        try #require(end.hasPrefix(":parley.test NOTE CHANGES END #cats "))
        return (Array(answer.dropFirst().dropLast(2)), String(end.split(separator: " ")[5]))
    }

    private func present() throws -> String {
        let lines = bo.ask("CHANGES #cats *")
        try #require(lines.count == 1 && lines[0].hasPrefix(":parley.test NOTE CHANGES END #cats "))
        return String(lines[0].split(separator: " ")[5])
    }

    @Test func aClientThatWasAwayLearnsAllThatHappenedInOrder() throws {
        let kept = try say("one")
        let slip = try say("slip")
        let cursor = try present()
        let last = try say("two")
        _ = ana.ask("EDIT #cats \(kept) :uno")
        _ = ana.ask("REDACT #cats \(slip) :oops")
        let (lines, next) = try changes("#cats \(cursor)")
        #expect(
            lines == [
                ":ana!ana@host.test PRIVMSG #cats :two", ":ana!ana@host.test EDIT #cats \(kept) :uno",
                ":ana!ana@host.test REDACT #cats \(slip) :oops",
            ])
        #expect(last > cursor && next > last)
        #expect(try changes("#cats \(next)").lines.isEmpty)
        _ = try say("three")
        #expect(try changes("#cats \(next)").lines == [":ana!ana@host.test PRIVMSG #cats :three"])
    }

    @Test func pagesFollowEachOtherWithoutLossOrRepetition() throws {
        var cursor = try present()
        for number in 1...12 {
            let id = try say("line \(number)")
            if number % 4 == 0 { _ = ana.ask("EDIT #cats \(id) :line \(number), edited") }
        }
        var seen: [String] = []
        for size in [5, 5, 5, 0] {
            let page = try changes("#cats \(cursor)")
            #expect(page.lines.count == size)
            seen += page.lines
            cursor = page.cursor
        }
        #expect(seen.count(where: { $0.contains(" PRIVMSG ") }) == 12)
        #expect(seen.count(where: { $0.contains(" EDIT ") }) == 3)
        #expect(try changes("#cats \(MessageID.text(0).string) 2").lines.count == 2)
    }

    @Test func onlyTheLastOfSeveralEditsIsTold() throws {
        let id = try say("a")
        let cursor = try present()
        for text in ["b", "c"] { _ = ana.ask("EDIT #cats \(id) :\(text)") }
        #expect(try changes("#cats \(cursor)").lines == [":ana!ana@host.test EDIT #cats \(id) :c"])
        _ = ana.ask("REDACT #cats \(id)")
        #expect(try changes("#cats \(cursor)").lines == [":ana!ana@host.test REDACT #cats \(id)"])
    }

    @Test func aDeletedMessageComesEmptyAndItsDeletionInItsPlace() throws {
        let cursor = try present()
        let id = try say("gone")
        _ = try say("stays")
        _ = ana.ask("REDACT #cats \(id)")
        #expect(
            try changes("#cats \(cursor)").lines == [
                ":ana!ana@host.test PRIVMSG #cats :", ":ana!ana@host.test PRIVMSG #cats :stays",
                ":ana!ana@host.test REDACT #cats \(id)",
            ])
    }

    @Test func eventsComeWithEventPlayback() throws {
        let cursor = try present()
        _ = ana.ask("TOPIC #cats :purr")
        #expect(try changes("#cats \(cursor)").lines.isEmpty)
        _ = bo.ask("CAP REQ draft/event-playback")
        #expect(try changes("#cats \(cursor)").lines == [":ana!ana@host.test TOPIC #cats :purr"])
    }

    @Test func membersOnlyAndExactErrors() throws {
        let cursor = try present()
        _ = bo.ask("PART #cats")
        #expect(
            bo.ask("CHANGES #cats \(cursor)") == [
                ":parley.test FAIL CHANGES INVALID_TARGET #cats :Messages could not be retrieved"
            ])
        #expect(bo.ask("CHANGES #nowhere *").first?.contains("FAIL CHANGES INVALID_TARGET #nowhere ") == true)
        _ = bo.ask("JOIN #cats")
        #expect(bo.ask("CHANGES #cats x").first?.contains("FAIL CHANGES INVALID_PARAMS #cats x ") == true)
        #expect(bo.ask("CHANGES #cats \(cursor) 0").first?.contains("FAIL CHANGES INVALID_PARAMS #cats 0 ") == true)
        #expect(bo.ask("CHANGES #cats").first?.contains(" 461 bo CHANGES ") == true)
        script.historyFailure = "disk"
        #expect(bo.ask("CHANGES #cats \(cursor)").first?.contains("FAIL CHANGES INTERNAL_ERROR #cats ") == true)
    }

    @Test func whatMayNotBeReadIsNotToldByItsChange() throws {
        let script = WorldScript { $0.historySinceJoin = true }
        let ana = script.client("ana", capabilities: "message-tags echo-message")
        _ = ana.ask("JOIN #cats")
        let id = try #require(ana.ask("PRIVMSG #cats :before").first?.messageID)
        let bo = script.client("bo")
        _ = bo.ask("JOIN #cats")
        _ = ana.ask("EDIT #cats \(id) :before all")
        let lines = bo.ask("CHANGES #cats \(MessageID.text(1).string)")
        #expect(lines.count == 1 && lines[0].contains("NOTE CHANGES END #cats "))
    }

    @Test func aLabelIsAnsweredByOneBatch() throws {
        _ = bo.ask("CAP REQ labeled-response")
        let cursor = try present()
        _ = try say("x")
        let lines = bo.ask("@label=l CHANGES #cats \(cursor)")
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix("@label=l :parley.test BATCH +"))
        #expect(lines.dropFirst().allSatisfy { !$0.contains("label=") })
    }
}
