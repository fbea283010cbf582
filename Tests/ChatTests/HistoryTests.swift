import Bytes
import Chat
import TestKit
import Testing

private let allHistory =
    "batch server-time message-tags labeled-response account-tag draft/chathistory draft/event-playback"

@Suite struct HistoryTests {
    /// A channel in which ana said these.
    private func script(
        _ said: [String], in channel: String = "#cats", _ change: (inout Settings) -> Void = { _ in }
    ) -> (WorldScript, ScriptClient) {
        let script = WorldScript(change)
        let ana = script.client("ana")
        _ = ana.ask("JOIN \(channel)")
        for text in said {
            script.advance(1000)
            ana.send("PRIVMSG \(channel) :\(text)")
        }
        _ = ana.read()
        return (script, ana)
    }

    private func after366(_ lines: [String]) -> [String] {
        Array(lines.drop { !$0.contains(" 366 ") }.dropFirst())
    }

    private func plain(_ script: WorldScript, _ nick: String) -> ScriptClient {
        let person = script.connect()
        person.send("NICK \(nick)")
        script.advance(300)
        _ = person.read()
        return person
    }

    // MARK: On JOIN

    @Test func aPersonReadsTheLastMessagesWithTheirTime() {
        let (script, _) = script(["one", "\u{1}ACTION waves\u{1}"])
        let bo = plain(script, "bo")
        #expect(
            after366(bo.ask("JOIN #cats")) == [
                ":parley.test NOTICE bo :last 2 of #cats",
                ":ana!ana@host.test PRIVMSG #cats :[2026-05-28 20:26] one",
                ":ana!ana@host.test PRIVMSG #cats :[2026-05-28 20:26] * ana waves",
                ":parley.test NOTICE bo :live now",
            ])
    }

    @Test func aBareClientGetsNoticesOfTheServer() {
        let (script, ana) = script(["one", "\u{1}ACTION waves\u{1}"])
        ana.send("NOTICE #cats :mind the gap")
        let bo = script.client("bo")
        #expect(
            after366(bo.ask("JOIN #cats")) == [
                ":parley.test NOTICE #cats :last 3 of #cats",
                ":parley.test NOTICE #cats :[20:26] <ana> one",
                ":parley.test NOTICE #cats :[20:26] * ana waves",
                ":parley.test NOTICE #cats :[20:26] -ana- mind the gap",
                ":parley.test NOTICE #cats :live now",
            ])
    }

    @Test func daysLaterTheClockAloneWouldNotDo() {
        let (script, _) = script(["one"])
        script.moment.wall += 3 * 86_400_000
        let bo = script.client("bo")
        #expect(bo.ask("JOIN #cats").contains(":parley.test NOTICE #cats :[2026-05-28 20:26] <ana> one"))
    }

    @Test func whoKnowsBatchesGetsOne() throws {
        let (script, _) = script(["one", "two"])
        let bo = script.client("bo", capabilities: "batch server-time message-tags")
        let lines = after366(bo.ask("JOIN #cats"))
        try #require(lines.count == 4)
        let reference = try #require(lines[0].split(separator: " ").first { $0.hasPrefix("+") }?.dropFirst())
        #expect(lines[0] == ":parley.test BATCH +\(reference) chathistory #cats")
        #expect(lines[1].hasPrefix("@batch=\(reference);time=2026-05-28T20:26:41.000Z;msgid="))
        #expect(lines[1].hasSuffix(" :ana!ana@host.test PRIVMSG #cats :one"))
        #expect(lines[3] == ":parley.test BATCH -\(reference)")
    }

    @Test func whoAsksForItselfGetsNothingByItself() {
        let (script, _) = script(["one"])
        let bo = script.client("bo", capabilities: allHistory)
        #expect(after366(bo.ask("JOIN #cats")).isEmpty)
    }

    @Test func anEmptyHistoryIsNotMentioned() {
        let (script, _) = script([])
        #expect(after366(script.client("bo").ask("JOIN #cats")).isEmpty)
        #expect(after366(plain(script, "cy").ask("JOIN #new")).isEmpty)
    }

    @Test func replayedIsWhatTheSettingsSay() {
        let (script, _) = script((1...9).map { "line \($0)" }) { $0.replay = 3 }
        let lines = after366(plain(script, "bo").ask("JOIN #cats"))
        #expect(lines.count == 5)
        #expect(lines[1].hasSuffix("line 7"))
        let (silent, _) = self.script(["one"]) { $0.replay = 0 }
        #expect(after366(silent.client("bo").ask("JOIN #cats")).isEmpty)
    }

    @Test func visibilityJoinedShowsNothingFromBefore() {
        let (script, ana) = script(["secret"]) { $0.historySinceJoin = true }
        let bo = script.client("bo")
        #expect(after366(bo.ask("JOIN #cats")).isEmpty)
        #expect(bo.ask("HISTORY #cats") == [":parley.test NOTICE #cats :nothing to show of #cats"])
        ana.send("PRIVMSG #cats :for both")
        let lines = bo.ask("HISTORY #cats")
        #expect(lines.contains { $0.hasSuffix("<ana> for both") })
        #expect(!lines.contains { $0.contains("secret") })
    }

    @Test func aLongLineIsSplitAndNothingOfItIsLost() {
        let text = String(repeating: "ä", count: 230)
        let (script, _) = script([text])
        let lines = after366(plain(script, "bo").ask("JOIN #cats")).dropFirst().dropLast()
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.utf8.count <= 510 && !$0.contains("\u{FFFD}") })
        #expect(lines.map { $0.split(separator: "] ", maxSplits: 1)[1] }.joined() == text)
    }

    @Test func aReaderThatFailsIsSaidAndNothingHangs() {
        let (script, ana) = script(["one"])
        script.historyFailure = "disk"
        let bo = plain(script, "bo")
        let lines = after366(bo.ask("JOIN #cats"))
        #expect(lines.count == 1)
        #expect(lines[0].contains("could not be read now"))
        ana.send("PRIVMSG #cats :live")
        #expect(bo.read() == [":ana!ana@host.test PRIVMSG #cats :live"])
        let cy = script.client("cy", capabilities: allHistory)
        _ = cy.ask("JOIN #cats")
        #expect(
            cy.ask("@label=l CHATHISTORY LATEST #cats * 5") == [
                "@label=l :parley.test FAIL CHATHISTORY MESSAGE_ERROR LATEST #cats :The history of #cats could not be read now"
            ])
    }

    @Test func whoQuitsAtOnceStillGetsTheReplay() {
        let (script, _) = script(["one"])
        let bo = plain(script, "bo")
        script.holdsPages = true
        bo.send("JOIN #cats")
        bo.send("QUIT")
        #expect(!bo.isClosed)
        script.holdsPages = false
        script.apply(.tick)
        let lines = bo.read()
        #expect(lines.contains { $0.hasSuffix("] one") })
        #expect(lines.last == "ERROR :Quit")
        #expect(bo.isClosed)
    }

    @Test func whatIsSaidMeanwhileComesAfterTheReplay() {
        let (script, ana) = script(["before"])
        let bo = script.client("bo")
        script.holdsPages = true
        bo.send("JOIN #cats")
        ana.send("PRIVMSG #cats :after")
        #expect(!bo.read().contains { $0.contains("after") })
        script.holdsPages = false
        script.apply(.tick)
        let said = bo.read().filter { $0.contains("before") || $0.contains("after") }
        #expect(said.map { $0.hasSuffix("before") } == [true, false])
    }

    // MARK: HISTORY

    @Test func historyTellsAsMuchAsIsAskedFor() {
        let (script, _) = script((1...9).map { "line \($0)" })
        let bo = plain(script, "bo")
        _ = bo.ask("JOIN #cats")
        let lines = bo.ask("HISTORY #cats 2")
        #expect(lines.count == 4)
        #expect(lines[0] == ":parley.test NOTICE bo :last 2 of #cats")
        #expect(lines[1].hasSuffix("] line 8"))
        // Typed where one talks, without the channel.
        #expect(bo.ask("HISTORY 3").count == 5)
        #expect(bo.ask("/history").count == 11)
        script.advance(3_600_000)
        #expect(bo.ask("HISTORY #cats 30m") == [":parley.test NOTICE bo :nothing to show of #cats"])
        #expect(bo.ask("HISTORY #cats 2h").count == 11)
    }

    @Test func historyFromADateOnSaysHowToGoOn() {
        let (script, ana) = script((1...9).map { "line \($0)" }) { $0.page = 4 }
        let bo = plain(script, "bo")
        _ = bo.ask("JOIN #cats")
        let lines = bo.ask("HISTORY #cats 2026-05-28")
        #expect(lines.count == 6)
        #expect(lines[0] == ":parley.test NOTICE bo :4 of #cats from 2026-05-28 00:00 on")
        #expect(lines[1].hasSuffix("] line 1") && lines[4].hasSuffix("] line 4"))
        #expect(lines[5] == ":parley.test NOTICE bo :there is more: HISTORY #cats 2026-05-28T20:26:44.001Z")
        #expect(bo.ask("HISTORY #cats 2026-05-28T20:26:44.001Z")[1].hasSuffix("] line 5"))
        #expect(bo.ask("history #cats 2026-05-28 20:26").count == 6)
        #expect(bo.ask("HISTORY 2026-05-29") == [":parley.test NOTICE bo :nothing to show of #cats"])
        ana.send("PRIVMSG #cats :last")
        #expect(bo.ask("HISTORY #cats 2026-05-28T20:26:49.100Z").suffix(2).first?.hasSuffix("] last") == true)
        #expect(bo.ask("HISTORY #cats 2026-05-28T20:26:49.100Z").last == ":parley.test NOTICE bo :live now")
    }

    @Test(arguments: [
        ("HISTORY #cats many", "FAIL HISTORY INVALID_PARAMS many"),
        ("HISTORY #cats 0", "FAIL HISTORY INVALID_PARAMS 0"),
        ("HISTORY #cats 2026-13-01", "FAIL HISTORY INVALID_PARAMS 2026-13-01"),
        ("HISTORY #dogs", "FAIL HISTORY INVALID_TARGET #dogs"),
        ("HISTORY nobody", "FAIL HISTORY INVALID_TARGET nobody"),
        ("HISTORY", " 461 bo HISTORY :"),
    ])
    func historyHelpsWhoErrs(line: String, expected: String) {
        let (script, _) = script(["one"])
        let bo = script.client("bo")
        _ = bo.ask("JOIN #cats")
        _ = bo.ask("PART #dogs")
        let answer =
            line == "HISTORY" ? script.client("cy").ask(line).map { $0.replacing("cy", with: "bo") } : bo.ask(line)
        #expect(answer.count == 1)
        #expect(answer[0].contains(expected))
    }

    @Test func onlyMembersRead() {
        let (script, _) = script(["one"])
        let bo = script.client("bo", capabilities: allHistory)
        let refused = ":parley.test FAIL CHATHISTORY INVALID_TARGET LATEST #cats :Messages could not be retrieved"
        #expect(bo.ask("CHATHISTORY LATEST #cats * 10") == [refused])
        #expect(
            bo.ask("CHATHISTORY LATEST #none * 10") == [refused.replacing("#cats", with: "#none")],
            "what is not there and what is forbidden look alike")
        _ = bo.ask("JOIN #cats")
        #expect(texts(bo.ask("CHATHISTORY LATEST #cats * 10")) == ["one"])
        _ = bo.ask("PART #cats")
        #expect(bo.ask("CHATHISTORY LATEST #cats * 10") == [refused])
    }

    @Test func directMessagesAreForTheTwo() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: allHistory)
        let bo = script.client("bo")
        let cy = script.client("cy", capabilities: allHistory)
        ana.send("PRIVMSG bo :hello bo")
        bo.send("PRIVMSG ana :hello ana")
        _ = bo.read()
        #expect(
            bo.ask("HISTORY ana") == [
                ":parley.test NOTICE bo :last 2 with ana", ":parley.test NOTICE bo :[20:26] <ana> hello bo",
                ":parley.test NOTICE bo :[20:26] <bo> hello ana", ":parley.test NOTICE bo :live now",
            ])
        let page = ana.ask("CHATHISTORY LATEST bo * 10")
        #expect(page.count == 4)
        #expect(page[1].hasSuffix(" :ana!ana@host.test PRIVMSG bo :hello bo"))
        #expect(page[2].hasSuffix(" :bo!bo@host.test PRIVMSG ana :hello ana"))
        #expect(cy.ask("CHATHISTORY LATEST bo * 10").count == 2)
        // The other one is gone: its uid still finds what was said.
        let uid =
            script.log[0].conversation.a == script.log[0].uid.number
            ? script.log[0].conversation.b : script.log[0].conversation.a
        bo.send("QUIT")
        _ = ana.read()
        #expect(ana.ask("CHATHISTORY LATEST bo * 10").count == 4, "so does the nick, while nobody takes it")
        script.moment.wall += 8 * 86_400_000
        _ = ana.read()
        #expect(ana.ask("CHATHISTORY LATEST bo * 10").first?.contains("INVALID_TARGET") == true)
        #expect(ana.ask("CHATHISTORY LATEST =\(UID(number: uid).text.string) * 10").count == 4)
    }

    // MARK: CHATHISTORY

    private func texts(_ page: [String]) -> [String] {
        page.compactMap { line in line.contains(" PRIVMSG ") ? line.split(separator: " :").last.map(String.init) : nil }
    }

    private func msgid(_ line: String) -> String {
        line.split(whereSeparator: { $0 == ";" || $0 == " " }).first { $0.hasPrefix("msgid=") }.map(String.init) ?? ""
    }

    private func time(_ line: String) -> String {
        let word = line.split(whereSeparator: { $0 == ";" || $0 == " " || $0 == "@" }).first { $0.hasPrefix("time=") }
        return "timestamp=\(word?.dropFirst(5) ?? "")"
    }

    @Test func pagesByReference() throws {
        let (script, _) = script((1...9).map { "line \($0)" })
        let bo = script.client("bo", capabilities: allHistory.replacing("draft/event-playback", with: ""))
        _ = bo.ask("JOIN #cats")
        let all = bo.ask("CHATHISTORY LATEST #cats * 100")
        #expect(texts(all) == (1...9).map { "line \($0)" })
        for reference in [msgid, time] {
            let five = reference(all[5])
            #expect(texts(bo.ask("CHATHISTORY BEFORE #cats \(five) 2")) == ["line 3", "line 4"])
            #expect(texts(bo.ask("CHATHISTORY AFTER #cats \(five) 2")) == ["line 6", "line 7"])
            #expect(texts(bo.ask("CHATHISTORY LATEST #cats \(five) 9")) == (6...9).map { "line \($0)" })
            #expect(texts(bo.ask("CHATHISTORY AROUND #cats \(five) 3")) == ["line 4", "line 5", "line 6"])
            let eight = reference(all[8])
            #expect(texts(bo.ask("CHATHISTORY BETWEEN #cats \(five) \(eight) 9")) == ["line 6", "line 7"])
            #expect(texts(bo.ask("chathistory between #cats \(eight) \(five) 1")) == ["line 7"])
        }
    }

    @Test(arguments: [
        ("CHATHISTORY", "INVALID_PARAMS *"), ("CHATHISTORY LATEST #cats *", "INVALID_PARAMS LATEST"),
        ("CHATHISTORY BETWEEN #cats msgid=000000000001 9", "INVALID_PARAMS BETWEEN"),
        ("CHATHISTORY LATEST #cats * 9 9", "INVALID_PARAMS LATEST"),
        ("CHATHISTORY SOON #cats * 9", "INVALID_PARAMS SOON"),
        ("CHATHISTORY TARGETS timestamp=2026-01-01T00:00:00.000Z * 9", "INVALID_PARAMS TARGETS *"),
        ("CHATHISTORY TARGETS msgid=000000000001 * 9", "INVALID_PARAMS TARGETS msgid=000000000001"),
        ("CHATHISTORY TARGETS * 9", "INVALID_PARAMS TARGETS"),
        ("CHATHISTORY BEFORE #cats * 9", "INVALID_PARAMS BEFORE *"),
        ("CHATHISTORY LATEST #cats msgid=! 9", "INVALID_PARAMS LATEST msgid=!"),
        ("CHATHISTORY LATEST #cats timestamp=noon 9", "INVALID_PARAMS LATEST timestamp=noon"),
        ("CHATHISTORY LATEST #cats * 0", "INVALID_PARAMS LATEST 0"),
        ("CHATHISTORY LATEST #cats * -1", "INVALID_PARAMS LATEST -1"),
    ])
    func chathistoryRefuses(line: String, expected: String) {
        let (script, _) = script(["one"])
        let bo = script.client("bo", capabilities: allHistory)
        _ = bo.ask("JOIN #cats")
        let answer = bo.ask("@label=q \(line)")
        #expect(answer.count == 1)
        #expect(answer[0].hasPrefix("@label=q :parley.test FAIL CHATHISTORY \(expected) :"))
    }

    @Test func thePageIsBoundedByTheSettings() {
        let (script, _) = script((1...9).map { "line \($0)" }) { $0.page = 4 }
        let bo = script.client("bo", capabilities: "batch draft/chathistory")
        _ = bo.ask("JOIN #cats")
        #expect(texts(bo.ask("CHATHISTORY LATEST #cats * 1000")) == (6...9).map { "line \($0)" })
    }

    @Test func theLabelStandsOnTheBatch() {
        let (script, _) = script(["one"])
        let bo = script.client("bo", capabilities: allHistory)
        _ = bo.ask("JOIN #cats")
        let page = bo.ask("@label=h1 CHATHISTORY LATEST #cats * 5")
        #expect(page.first?.hasPrefix("@label=h1;draft/chathistory-end :parley.test BATCH +") == true)
        #expect(!page.dropFirst().contains { $0.contains("label=") || $0.contains("ACK") })
        let again = bo.ask("CHATHISTORY LATEST #cats * 5")
        #expect(again.first?.contains(" BATCH +") == true && again.first?.contains("label") == false)
        #expect(again.last != page.last, "a reference is used once")
        // In a form without chathistory batch the label's batch holds the lines.
        let cy = script.client("cy", capabilities: "batch labeled-response")
        _ = cy.ask("JOIN #cats")
        let told = cy.ask("@label=h2 HISTORY #cats")
        #expect(told.first?.hasPrefix("@label=h2 :parley.test BATCH +") == true)
        #expect(told.first?.hasSuffix(" labeled-response") == true)
        #expect(told.dropFirst().dropLast().allSatisfy { $0.hasPrefix("@batch=") })
    }

    @Test func withoutBatchTheLinesStandAlone() {
        let (script, _) = script(["one"])
        let bo = script.client("bo", capabilities: "draft/chathistory")
        _ = bo.ask("JOIN #cats")
        #expect(bo.ask("CHATHISTORY LATEST #cats * 5") == [":ana!ana@host.test PRIVMSG #cats :one"])
    }

    @Test func anEmptyPageIsAnEmptyBatch() {
        let (script, _) = script([])
        let bo = script.client("bo", capabilities: "batch draft/chathistory")
        _ = bo.ask("JOIN #cats")
        #expect(bo.ask("CHATHISTORY LATEST #cats * 5").count == 2)
    }

    @Test func eventsComeToWhoAskedForThem() {
        let (script, ana) = script(["one"])
        let cy = script.client("cy", capabilities: "message-tags")
        _ = cy.ask("JOIN #cats")
        cy.send("@+draft/react=yes TAGMSG #cats")
        cy.send("NICK dee")
        cy.send("PART #cats :bye")
        _ = ana.read()
        let bo = script.client("bo", capabilities: allHistory)
        _ = bo.ask("JOIN #cats")
        let page = bo.ask("CHATHISTORY LATEST #cats * 100").dropFirst().dropLast()
        let bodies = page.map { $0.split(separator: " :", maxSplits: 1)[1] }
        #expect(
            bodies == [
                "ana!ana@host.test JOIN #cats", "ana!ana@host.test PRIVMSG #cats :one", "cy!cy@host.test JOIN #cats",
                "cy!cy@host.test TAGMSG #cats", "cy!cy@host.test NICK :dee", "dee!cy@host.test PART #cats :bye",
                "bo!bo@host.test JOIN #cats",
            ])
        #expect(page.allSatisfy { $0.hasPrefix("@batch=") && $0.contains(";time=") && $0.contains(";msgid=") })
        #expect(page.contains { $0.contains("+draft/react=yes") })
        let eve = script.client("eve", capabilities: "batch message-tags draft/chathistory")
        _ = eve.ask("JOIN #cats")
        #expect(eve.ask("CHATHISTORY LATEST #cats * 100").count == 3)
    }

    @Test func answersKeepTheOrderOfTheQuestions() {
        let (script, _) = script(["one", "two"])
        let bo = script.client("bo", capabilities: "batch draft/chathistory")
        _ = bo.ask("JOIN #cats")
        script.holdsPages = true
        bo.send("CHATHISTORY LATEST #cats * 1")
        bo.send("PING x")
        bo.send("CHATHISTORY LATEST #cats * 2")
        #expect(bo.read().isEmpty)
        script.holdsPages = false
        script.apply(.tick)
        #expect(bo.read().map { $0.contains("PONG") } == [false, false, false, true, false, false, false, false])
    }
}
