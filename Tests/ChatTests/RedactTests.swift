import Bytes
import Chat
import TestKit
import Testing

private let redaction = "message-tags echo-message draft/message-redaction"
private let history = "batch server-time draft/chathistory"

/// IRCv3 draft/message-redaction, docs/PROTOCOL.md, Changing what was said.
@Suite struct RedactTests {
    /// ana founded #cats, bo is in it; both know the capability.
    private func cats(_ change: (inout Settings) -> Void = { _ in }) -> (WorldScript, ScriptClient, ScriptClient) {
        WorldScript.cats(redaction, "\(redaction) \(history)", change)
    }

    private func redact(_ client: ScriptClient, _ parameters: String) -> [String] {
        client.ask("REDACT \(parameters)").map(\.withoutTags)
    }

    @Test func theAuthorDeletesAndWhoKnowsTheCapabilityHears() throws {
        let (script, ana, bo) = cats()
        let cy = script.client("cy", capabilities: "message-tags")
        _ = cy.ask("JOIN #cats")
        _ = ana.read()
        let id = try say(bo, "oops")
        for client in [ana, cy] { _ = client.read() }
        #expect(redact(bo, "#cats \(id)") == [":bo!bo@host.test REDACT #cats \(id)"])
        #expect(ana.read().map(\.withoutTags) == [":bo!bo@host.test REDACT #cats \(id)"])
        #expect(cy.read().isEmpty)
        #expect(script.log.allSatisfy { $0.text != "oops" })
    }

    @Test func aChannelOperatorDeletesWhatOthersSaidWithAReason() throws {
        let (_, ana, bo) = cats()
        let id = try say(bo, "buy now")
        #expect(redact(ana, "#cats \(id) :spam, again") == [":ana!ana@host.test REDACT #cats \(id) :spam, again"])
        #expect(bo.read().map(\.withoutTags) == [":ana!ana@host.test REDACT #cats \(id) :spam, again"])
    }

    @Test func othersMayNotAndHearExactlyWhy() throws {
        let (_, ana, bo) = cats()
        let id = try say(ana, "mine")
        #expect(
            redact(bo, "#cats \(id)") == [
                ":parley.test FAIL REDACT REDACT_FORBIDDEN #cats \(id) :You are not authorised to delete this message"
            ])
        #expect(ana.read().isEmpty)
        #expect(
            redact(bo, "#nowhere \(id)") == [
                ":parley.test FAIL REDACT INVALID_TARGET #nowhere :You cannot change messages of #nowhere"
            ])
        #expect(redact(bo, "#cats").first?.contains(" 461 bo REDACT ") == true)
    }

    @Test func absentAndForbiddenAreAnsweredAlike() throws {
        let (_, ana, bo) = cats()
        _ = ana.ask("JOIN #secret")
        let hidden = try say(ana, "hidden", to: "#secret")
        _ = try say(ana, "to keep the ids rising", to: "#secret")
        for id in [hidden, "nonexistent123", "0", MessageID.text(0).string, MessageID.text(.max).string] {
            #expect(
                redact(bo, "#cats \(id)") == [
                    ":parley.test FAIL REDACT UNKNOWN_MSGID #cats \(id) :This message does not exist or is too old"
                ])
        }
        #expect(redact(bo, "#secret \(hidden)").first?.contains("INVALID_TARGET #secret ") == true)
    }

    @Test func whatIsOlderThanTheReaderMayReadIsUnknownToIt() throws {
        let script = WorldScript { $0.historySinceJoin = true }
        let ana = script.client("ana", capabilities: redaction)
        _ = ana.ask("JOIN #cats")
        let id = try say(ana, "before")
        let bo = script.client("bo", capabilities: redaction)
        _ = bo.ask("JOIN #cats")
        #expect(redact(bo, "#cats \(id)").first?.contains("UNKNOWN_MSGID") == true)
    }

    @Test func aDeletedMessageIsUnknownFromThenOn() throws {
        let (_, ana, bo) = cats()
        let id = try say(bo, "once")
        _ = redact(bo, "#cats \(id)")
        #expect(redact(bo, "#cats \(id)").first?.contains("UNKNOWN_MSGID") == true)
        #expect(redact(ana, "#cats \(id)").first?.contains("UNKNOWN_MSGID") == true)
    }

    @Test func theTimeForAuthorsEndsButNotForOperators() throws {
        let (script, ana, bo) = cats { $0.redactWindow = 60_000 }
        let id = try say(bo, "slow")
        script.advance(61_000)
        #expect(
            redact(bo, "#cats \(id)") == [
                ":parley.test FAIL REDACT REDACT_WINDOW_EXPIRED #cats \(id) 60 :You can no longer delete this message"
            ])
        #expect(redact(ana, "#cats \(id)").count == 1)
        #expect(bo.read().count == 1)
    }

    @Test func aStarIsOnesOwnLastMessage() throws {
        let (_, ana, bo) = cats()
        let first = try say(bo, "one")
        let second = try say(bo, "two")
        _ = try say(ana, "three")
        _ = bo.read()
        #expect(redact(bo, "#cats *") == [":bo!bo@host.test REDACT #cats \(second)"])
        #expect(redact(bo, "#cats *") == [":bo!bo@host.test REDACT #cats \(first)"])
        #expect(redact(bo, "#cats *").first?.contains("UNKNOWN_MSGID #cats * ") == true)
    }

    @Test func aReactionCanBeTakenBack() throws {
        let (script, ana, bo) = cats()
        let id = try #require(bo.ask("@+draft/react=x TAGMSG #cats").first?.messageID)
        #expect(redact(bo, "#cats \(id)") == [":bo!bo@host.test REDACT #cats \(id)"])
        #expect(ana.read().count == 2)
        #expect(script.log.allSatisfy { $0.tags.isEmpty })
    }

    @Test func betweenTwoPeopleOnlyTheAuthor() throws {
        let (script, ana, bo) = cats()
        let id = try say(ana, "just you", to: "bo")
        _ = bo.read()
        #expect(redact(bo, "ana \(id)").first?.contains("REDACT_FORBIDDEN ana \(id) ") == true)
        #expect(redact(ana, "bo \(id)") == [":ana!ana@host.test REDACT bo \(id)"])
        #expect(bo.read().map(\.withoutTags) == [":ana!ana@host.test REDACT bo \(id)"])
        let own = try say(ana, "note to self", to: "ana")
        #expect(redact(ana, "ana \(own)") == [":ana!ana@host.test REDACT ana \(own)"])
        let cy = script.client("cy", capabilities: redaction)
        #expect(redact(cy, "bo \(id)").first?.contains("UNKNOWN_MSGID") == true)
    }

    @Test func whoDoesNotKnowTheCapabilityIsToldThatItIsDone() {
        let script = WorldScript()
        let person = script.connect()
        for line in ["NICK cy", "JOIN #cats", "hello"] { person.send(line) }
        let lines = person.ask("redact #cats *")
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix(":parley.test NOTE REDACT DELETED #cats "))
    }

    @Test func labelsGoWithTheAnswer() throws {
        let (_, ana, _) = cats()
        _ = ana.ask("CAP REQ :labeled-response batch")
        let id = try say(ana, "x")
        #expect(ana.ask("@label=a REDACT #cats \(id)").first?.hasPrefix("@label=a;") == true)
        #expect(ana.ask("@label=b REDACT #cats \(id)").first?.hasPrefix("@label=b :parley.test FAIL REDACT ") == true)
        #expect(ana.ask("@label=c REDACT #no x").first?.hasPrefix("@label=c :parley.test FAIL REDACT ") == true)
    }

    // MARK: History

    @Test func historyShowsAnEmptiedMessageAndBehindItWhoDeletedIt() throws {
        let (script, ana, bo) = cats()
        let id = try say(bo, "gone")
        script.advance(1000)
        _ = try say(bo, "stays")
        _ = redact(ana, "#cats \(id) :spam")
        let lines = Array(bo.ask("CHATHISTORY LATEST #cats * 2").dropFirst().dropLast())
        #expect(
            lines.map(\.withoutTags) == [
                ":bo!bo@host.test PRIVMSG #cats :", ":ana!ana@host.test REDACT #cats \(id) :spam",
                ":bo!bo@host.test PRIVMSG #cats :stays",
            ])
        #expect(lines.first?.messageID == id)
    }

    @Test func whoDoesNotKnowTheCapabilityReadsThatItWasDeleted() throws {
        let (script, ana, bo) = cats()
        let id = try say(bo, "gone")
        _ = redact(ana, "#cats \(id) :spam")
        let cy = script.client("cy", capabilities: "batch server-time message-tags")
        #expect(
            cy.ask("JOIN #cats").map(\.withoutTags).contains(":bo!bo@host.test PRIVMSG #cats :[deleted by ana: spam]"))
        let di = script.client("di")
        #expect(di.ask("JOIN #cats").contains { $0.hasSuffix("<bo> [deleted by ana: spam]") })
    }

    // MARK: Races

    @Test func aPageReadBeforeTheDeletionDoesNotBringTheTextBehindIt() throws {
        let (script, _, bo) = cats()
        let id = try say(bo, "gone")
        let cy = script.client("cy", capabilities: "\(redaction) \(history)")
        _ = cy.ask("JOIN #cats")
        _ = bo.read()
        script.holdsAnswers = true
        cy.send("CHATHISTORY LATEST #cats * 5")
        script.holdsAnswers = false
        bo.send("REDACT #cats \(id)")
        let lines = cy.read().map(\.withoutTags)
        #expect(!lines.contains { $0.contains("gone") })
        #expect(lines.contains(":bo!bo@host.test REDACT #cats \(id)"))
    }

    @Test func inOnePacketWithTheMessageItFindsIt() {
        let (script, ana, bo) = cats()
        script.holdsBatches = true
        bo.send("PRIVMSG #cats :oops")
        bo.send("REDACT #cats *")
        script.holdsBatches = false
        script.apply(.tick)
        #expect(ana.read().map(\.withoutTags.commandWord) == ["PRIVMSG", "REDACT"])
        #expect(script.log.allSatisfy { $0.text != "oops" })
    }

    @Test func theSessionIsNotReadOnUntilItIsDone() throws {
        let (script, ana, bo) = cats()
        _ = try say(bo, "x")
        _ = ana.read()
        script.holdsPages = true
        bo.send("REDACT #cats *")
        let isBlocked = script.world.isInputBlocked(bo.id)
        #expect(isBlocked)
        script.apply(.inputEnded(bo.id))
        #expect(!bo.isClosed)
        script.holdsPages = false
        script.apply(.tick)
        #expect(ana.read().map(\.withoutTags.commandWord) == ["REDACT", "QUIT"])
        #expect(bo.isClosed)
    }

    @Test func whoWasKickedMeanwhileDeletesNothing() throws {
        let (script, ana, bo) = cats()
        let id = try say(bo, "x")
        script.holdsPages = true
        bo.send("REDACT #cats \(id)")
        ana.send("KICK #cats bo")
        _ = bo.read()
        script.holdsPages = false
        script.apply(.tick)
        #expect(bo.read().first?.contains("FAIL REDACT INVALID_TARGET #cats ") == true)
        #expect(script.log.contains { $0.text == "x" })
    }

    // MARK: Trouble

    @Test func whatCannotBeStoredIsNotSaid() throws {
        let (script, ana, bo) = cats()
        let id = try say(bo, "x")
        _ = ana.read()
        script.isStoreFull = true
        #expect(redact(bo, "#cats \(id)").first?.hasPrefix(":parley.test FAIL REDACT STORE_FULL #cats ") == true)
        #expect(ana.read().isEmpty)
        #expect(redact(bo, "#cats \(id)").first?.contains("FAIL REDACT STORE_FULL") == true)
        #expect(script.log.contains { $0.text == "x" })
    }

    @Test func aReaderThatFailsIsSaid() throws {
        let (script, _, bo) = cats()
        let id = try say(bo, "x")
        script.historyFailure = "disk"
        #expect(redact(bo, "#cats \(id)").first?.contains("FAIL REDACT INTERNAL_ERROR #cats \(id) ") == true)
        let isBlocked = script.world.isInputBlocked(bo.id)
        #expect(!isBlocked)
    }
}

extension String {
    var withoutTags: String { hasPrefix("@") ? String(drop { $0 != " " }.dropFirst()) : self }

    var messageID: String? { firstMatch(of: /[@;]msgid=([^; ]+)/).map { String($0.1) } }

    var commandWord: String { split(separator: " ").dropFirst().first.map(String.init) ?? "" }
}
