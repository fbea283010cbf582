import Bytes
import Chat
import TestKit
import Testing

private let editing = "message-tags echo-message parley.chat/message-edit"

/// docs/PROTOCOL.md, Changing what was said.
@Suite struct EditTests {
    private func cats(_ change: (inout Settings) -> Void = { _ in }) -> (WorldScript, ScriptClient, ScriptClient) {
        WorldScript.cats(editing, editing, change)
    }

    private func edit(_ client: ScriptClient, _ parameters: String) -> [String] {
        client.ask("EDIT \(parameters)").map(\.withoutTags)
    }

    @Test func whoKnowsTheCapabilityGetsAnEditAndOthersTheNewText() throws {
        let (script, ana, bo) = cats()
        let cy = script.client("cy", capabilities: "message-tags")
        _ = cy.ask("JOIN #cats")
        let id = try say(bo, "helo")
        for client in [ana, cy] { _ = client.read() }
        #expect(edit(bo, "#cats \(id) :hello, all") == [":bo!bo@host.test EDIT #cats \(id) :hello, all"])
        #expect(ana.read().map(\.withoutTags) == [":bo!bo@host.test EDIT #cats \(id) :hello, all"])
        let fallback = try #require(cy.read().first)
        #expect(fallback.withoutTags == ":bo!bo@host.test PRIVMSG #cats :[edited] hello, all")
        #expect(fallback.messageID != id)
        #expect(script.log.contains { $0.text == "hello, all" } && !script.log.contains { $0.text == "helo" })
    }

    @Test func aNoticeStaysOne() throws {
        let (script, _, bo) = cats()
        let cy = script.client("cy")
        _ = cy.ask("JOIN #cats")
        let id = try #require(bo.ask("NOTICE #cats :helo").first?.messageID)
        _ = cy.read()
        _ = edit(bo, "#cats \(id) :hello")
        #expect(cy.read() == [":bo!bo@host.test NOTICE #cats :[edited] hello"])
    }

    @Test func aStarIsOnesOwnLastMessageThere() throws {
        let (_, ana, bo) = cats()
        let id = try say(bo, "one")
        _ = try say(bo, "elsewhere", to: "ana")
        _ = try say(ana, "two")
        _ = bo.read()
        #expect(edit(bo, "#cats * :uno") == [":bo!bo@host.test EDIT #cats \(id) :uno"])
    }

    @Test func theAuthorOnlyAndExactErrors() throws {
        let (_, ana, bo) = cats()
        let id = try say(bo, "mine")
        _ = ana.read()
        #expect(
            edit(ana, "#cats \(id) :yours") == [
                ":parley.test FAIL EDIT EDIT_FORBIDDEN #cats \(id) :You can change your own messages only"
            ])
        #expect(edit(ana, "#dogs \(id) :x").first?.contains("FAIL EDIT INVALID_TARGET #dogs ") == true)
        #expect(edit(ana, "#cats nothing :x").first?.contains("FAIL EDIT UNKNOWN_MSGID #cats nothing ") == true)
        #expect(edit(ana, "#cats \(id)").first?.contains(" 461 ana EDIT ") == true)
        #expect(edit(ana, "#cats \(id) :").first?.contains(" 412 ana ") == true)
        #expect(edit(ana, "#cats \(id) :\(String(repeating: "x", count: 480))").first?.contains(" 417 ana ") == true)
        #expect(bo.read().isEmpty)
    }

    @Test func theTimeForItEnds() throws {
        let (script, _, bo) = cats { $0.editWindow = 60_000 }
        let id = try say(bo, "x")
        script.advance(61_000)
        #expect(
            edit(bo, "#cats \(id) :y") == [
                ":parley.test FAIL EDIT EDIT_WINDOW_EXPIRED #cats \(id) 60 :You can no longer change this message"
            ])
        let tokens = bo.ask("ISUPPORT").joined()
        #expect(tokens.contains(" parley.chat/CHANGE=edit:60,redact:0 "))
    }

    @Test func onlyWhileAMemberWhoMaySpeak() throws {
        let (_, ana, bo) = cats()
        let id = try say(bo, "x")
        _ = ana.ask("MODE #cats +m")
        #expect(edit(bo, "#cats \(id) :y").first?.contains("FAIL EDIT EDIT_FORBIDDEN #cats \(id) :Cannot send") == true)
        _ = ana.ask("MODE #cats -m")
        _ = bo.ask("PART #cats")
        #expect(edit(bo, "#cats \(id) :y").first?.contains("FAIL EDIT INVALID_TARGET") == true)
    }

    @Test func whatWasDeletedOrHasNoTextIsNotEdited() throws {
        let (_, _, bo) = cats()
        let id = try say(bo, "x")
        _ = bo.ask("REDACT #cats \(id)")
        #expect(edit(bo, "#cats \(id) :y").first?.contains("UNKNOWN_MSGID") == true)
        let tag = try #require(bo.ask("@+draft/react=x TAGMSG #cats").first?.messageID)
        #expect(edit(bo, "#cats \(tag) :y").first?.contains("EDIT_FORBIDDEN") == true)
    }

    @Test func betweenTwoPeople() throws {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: editing)
        let bo = script.client("bo")
        let id = try say(ana, "helo", to: "bo")
        _ = bo.read()
        #expect(edit(ana, "bo \(id) :hello") == [":ana!ana@host.test EDIT bo \(id) :hello"])
        #expect(bo.read() == [":ana!ana@host.test PRIVMSG bo :[edited] hello"])
    }

    @Test func aPersonTypesItAndIsToldThatItIsDone() {
        let script = WorldScript()
        let person = script.connect()
        for line in ["NICK cy", "JOIN #cats", "helo there"] { person.send(line) }
        let lines = person.ask("/edit #cats * hello there")
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix(":parley.test NOTE EDIT EDITED #cats "))
        #expect(script.log.contains { $0.text == "hello there" })
        #expect(person.ask("HISTORY #cats").contains { $0.hasSuffix("hello there (edited)") })
    }

    @Test func historyGivesTheNewTextAndWhenItWasEdited() throws {
        let (script, _, bo) = cats()
        let id = try say(bo, "helo")
        script.advance(1_000)
        _ = edit(bo, "#cats \(id) :hello")
        let cy = script.client("cy", capabilities: "batch server-time message-tags")
        let line = try #require(cy.ask("JOIN #cats").first { $0.hasSuffix(" PRIVMSG #cats :hello") })
        #expect(line.contains(";parley.chat/edited=2026-05-28T20:26:41.000Z "))
        #expect(line.messageID == id)
        #expect(script.client("di").ask("JOIN #cats").contains { $0.hasSuffix("<bo> hello (edited)") })
    }

    @Test func editsOfOnePacketFollowEachOther() throws {
        let (script, ana, bo) = cats()
        script.holdsBatches = true
        for line in ["PRIVMSG #cats :a", "EDIT #cats * :b", "EDIT #cats * :c", "REDACT #cats *"] { bo.send(line) }
        script.holdsBatches = false
        script.apply(.tick)
        #expect(ana.read().map(\.withoutTags.commandWord).first == "PRIVMSG")
        #expect(script.log.first { $0.kind == .privmsg }.map(\.isRedacted) == true)
    }

    @Test func whatCannotBeStoredIsNotSaid() throws {
        let (script, ana, bo) = cats()
        let id = try say(bo, "x")
        _ = ana.read()
        script.isStoreFull = true
        #expect(edit(bo, "#cats \(id) :y").first?.contains("FAIL EDIT STORE_FULL #cats ") == true)
        #expect(ana.read().isEmpty)
        #expect(script.log.contains { $0.text == "x" })
    }
}
