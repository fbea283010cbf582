import Bytes
import Chat
import TestKit
import Testing

/// EDIT of messages of several lines: the new text is one of several lines too, for who knows such.
@Suite struct MultilineEditTests {
    private static let multiline = "batch message-tags draft/multiline parley.chat/message-edit"

    private let script: WorldScript
    private let ana: ScriptClient
    private let bo: ScriptClient

    init() {
        (script, ana, bo) = WorldScript.cats(
            Self.multiline, "\(Self.multiline) echo-message draft/chathistory server-time")
        for line in ["BATCH +1 draft/multiline #cats", "@batch=1 PRIVMSG #cats :one", "@batch=1 PRIVMSG #cats :two"] {
            bo.send(line)
        }
        bo.send("BATCH -1")
        _ = (ana.read(), bo.read())
    }

    private var id: String {
        MessageID.text(script.log.first { $0.text.bytes.starts(with: Array("one".utf8)) }!.position).string
    }

    private func edit(_ texts: String..., id: String) -> [String] {
        _ = (ana.read(), bo.read())
        bo.send("BATCH +2 draft/multiline #cats")
        for text in texts { bo.send("@batch=2 EDIT #cats \(id) :\(text)") }
        bo.send("BATCH -2")
        return bo.read()
    }

    @Test func whoKnowsBothGetsABatchOfEdits() {
        let id = id
        let echo = edit("first", "", "second", id: id).map(\.withoutTags)
        let lines = ana.read()
        #expect(lines.map(\.withoutTags).dropFirst().dropLast() == echo.dropFirst().dropLast())
        #expect(lines.count == 5)
        #expect(lines[0].withoutTags.contains(#/^:bo!bo@host.test BATCH \+\w+ draft\/multiline #cats$/#))
        #expect(
            lines[1...3].map(\.withoutTags)
                == ["first", "", "second"].map { ":bo!bo@host.test EDIT #cats \(id) :\($0)" })
        #expect(script.log.contains { $0.text == "first\n\nsecond" })
    }

    @Test(arguments: ["", "message-tags parley.chat/message-edit", "batch draft/multiline message-tags"])
    func othersGetTheNewText(capabilities: String) {
        let cy = script.client("cy", capabilities: capabilities)
        _ = cy.ask("JOIN #cats")
        _ = edit("first", "second", id: id)
        let texts = cy.read().map(\.withoutTags).filter { $0.contains("PRIVMSG") }
        #expect(texts == [":bo!bo@host.test PRIVMSG #cats :[edited] first", ":bo!bo@host.test PRIVMSG #cats :second"])
    }

    @Test func historyAndChangesHaveAllLines() {
        let id = id
        _ = edit("first", "second", id: id)
        let history = bo.ask("CHATHISTORY LATEST #cats * 5").map(\.withoutTags)
        #expect(history.filter { $0.contains("PRIVMSG") }.map { $0.split(separator: ":").last } == ["first", "second"])
        let changes = bo.ask("CHANGES #cats \(id)").map(\.withoutTags)
        #expect(changes.filter { $0.contains(" EDIT ") }.map { $0.split(separator: ":").last } == ["first", "second"])
        #expect(changes.contains { $0.contains("draft/multiline #cats") })
    }

    @Test func oneLineReplacesAll() {
        let id = id
        #expect(bo.ask("EDIT #cats \(id) :only").map(\.withoutTags) == [":bo!bo@host.test EDIT #cats \(id) :only"])
        #expect(script.log.contains { $0.text == "only" })
    }

    @Test func errors() {
        let id = id
        bo.send("BATCH +3 draft/multiline #cats")
        bo.send("@batch=3 EDIT #cats \(id) :a")
        #expect(bo.ask("@batch=3 PRIVMSG #cats :b")[0].contains("FAIL BATCH MULTILINE_INVALID "))
        _ = bo.ask("BATCH -3")
        bo.send("BATCH +4 draft/multiline #cats")
        bo.send("@batch=4 EDIT #cats \(id) :a")
        #expect(
            bo.ask("@batch=4 EDIT #cats \(MessageID.text(1).string) :b")[0].contains("FAIL BATCH MULTILINE_INVALID "))
        _ = bo.ask("BATCH -4")
        bo.send("BATCH +5 draft/multiline #cats")
        #expect(bo.ask("@batch=5 EDIT")[0].contains("FAIL BATCH MULTILINE_INVALID_TARGET "))
        _ = bo.ask("BATCH -5")
        #expect(edit("a", "b", id: "000000000001").last?.contains("FAIL EDIT UNKNOWN_MSGID #cats 000000000001") == true)
        #expect(script.log.contains { $0.text == "one\ntwo" })
    }
}
