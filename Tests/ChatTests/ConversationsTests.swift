import Bytes
import Chat
import TestKit
import Testing

/// docs/PROTOCOL.md, Messages and history: CONVERSATIONS.
@Suite struct ConversationsTests {
    private let script = WorldScript()
    private let ana: ScriptClient
    private let bo: ScriptClient

    init() {
        ana = script.client("ana", capabilities: "message-tags echo-message draft/read-marker")
        bo = script.client("bo", capabilities: "message-tags echo-message server-time")
        for client in [ana, bo] { _ = client.ask("JOIN #cats") }
        _ = ana.read()
    }

    private func say(_ client: ScriptClient, _ text: String, to target: String) throws -> String {
        script.advance(1_000)
        return try #require(client.ask("PRIVMSG \(target) :\(text)").first?.messageID)
    }

    @Test func theNewestFirstWithWhatIsUnread() throws {
        let direct = try say(bo, "psst", to: "ana")
        let first = try say(bo, "hello", to: "#cats")
        let last = try say(bo, "anybody?", to: "#cats")
        let lines = ana.ask("CONVERSATIONS")
        #expect(
            lines == [
                ":parley.test CONVERSATION #cats - \(last) 2026-05-28T20:26:43.000Z 2 :anybody?",
                ":parley.test CONVERSATION bo \(try script.uid(of: "bo")) \(direct) 2026-05-28T20:26:41.000Z 1 :psst",
                ":parley.test NOTE CONVERSATIONS END * :That is all",
            ])
        #expect(first < last)
        _ = ana.ask("MARKREAD #cats timestamp=2026-05-28T20:26:42.000Z")
        #expect(ana.ask("CONVERSATIONS").first?.contains(" 1 :anybody?") == true)
        #expect(bo.ask("CONVERSATIONS").first?.contains(" 0 :anybody?") == true)
    }

    @Test func pageByPage() throws {
        for number in 1...5 {
            let channel = "#c\(number)"
            _ = ana.ask("JOIN \(channel)")
            _ = try say(ana, "in \(number)", to: channel)
        }
        _ = try say(ana, "to you", to: "bo")
        var cursor = ""
        var seen: [String] = []
        for _ in 0..<3 {
            let lines = ana.ask("CONVERSATIONS \(cursor) 2")
            seen += lines.dropLast().map { String($0.split(separator: " ")[2]) }
            let end = try #require(lines.last).split(separator: " ")
            cursor = String(end[5])
        }
        #expect(seen == ["bo", "#c5", "#c4", "#c3", "#c2", "#c1"])
        #expect(ana.ask("CONVERSATIONS \(cursor) 2").count == 1 || cursor.hasPrefix(":"))
        let id = try #require(script.log.last { $0.text == "in 3" }.map { MessageID.text($0.position).string })
        #expect(ana.ask("CONVERSATIONS msgid=\(id)").first?.contains(" #c2 ") == true)
    }

    @Test func previewsAreShortAndReadable() throws {
        _ = try say(bo, "\u{1}ACTION waves\u{1}", to: "#cats")
        #expect(ana.ask("CONVERSATIONS").first?.hasSuffix(" 1 :* bo waves") == true)
        let id = try say(bo, String(repeating: "ä", count: 150), to: "#cats")
        #expect(ana.ask("CONVERSATIONS").first?.hasSuffix(" :\(String(repeating: "ä", count: 60))") == true)
        _ = ana.ask("REDACT #cats \(id) :long")
        #expect(ana.ask("CONVERSATIONS").first?.hasSuffix(" :[deleted by ana: long]") == true)
    }

    @Test func onlyWhatMayBeRead() throws {
        _ = try say(bo, "hello", to: "#cats")
        _ = ana.ask("PART #cats")
        #expect(ana.ask("CONVERSATIONS") == [":parley.test NOTE CONVERSATIONS END * :That is all"])
        _ = try say(bo, "psst", to: "ana")
        let cy = script.client("cy")
        #expect(cy.ask("CONVERSATIONS").count == 1)
    }

    @Test func whoIsGoneIsCalledByItsUid() throws {
        _ = try say(bo, "psst", to: "ana")
        let uid = try script.uid(of: "bo")
        bo.drop()
        script.moment.wall += 30 * 86_400_000
        #expect(ana.ask("CONVERSATIONS").first?.contains("CONVERSATION =\(uid) \(uid) ") == true)
    }

    @Test func aBatchALabelAndExactErrors() throws {
        _ = try say(bo, "hello", to: "#cats")
        _ = ana.ask("CAP REQ :batch labeled-response")
        let lines = ana.ask("@label=l CONVERSATIONS")
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix("@label=l :parley.test BATCH +") && lines[0].hasSuffix(" parley.chat/conversations"))
        #expect(lines[1...2].allSatisfy { $0.hasPrefix("@batch=") })
        #expect(bo.ask("CONVERSATIONS 0").first?.contains("FAIL CONVERSATIONS INVALID_PARAMS 0 ") == true)
        #expect(bo.ask("CONVERSATIONS time=x").first?.contains("FAIL CONVERSATIONS INVALID_PARAMS time=x ") == true)
        script.historyFailure = "disk"
        #expect(bo.ask("CONVERSATIONS").first?.contains("FAIL CONVERSATIONS INTERNAL_ERROR :") == true)
    }
}
