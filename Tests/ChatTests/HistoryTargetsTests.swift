import Bytes
import Chat
import TestKit
import Testing

private let capabilities = "batch server-time message-tags labeled-response draft/chathistory"

/// CHATHISTORY TARGETS, and when a page says that it is the last (draft/chathistory-end).
@Suite struct HistoryTargetsTests {
    private let early = "timestamp=2020-01-01T00:00:00.000Z"
    private let late = "timestamp=2100-01-01T00:00:00.000Z"

    /// Names in the order of the answer.
    private func names(_ lines: [String]) -> [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard let at = words.firstIndex(of: "TARGETS"), words.count > at + 2 else { return nil }
            return String(words[at + 1])
        }
    }

    private func times(_ lines: [String]) -> [String] {
        lines.compactMap { $0.contains(" TARGETS ") ? $0.split(separator: " ").last.map(String.init) : nil }
    }

    /// ana talks in two channels and with bo and cy, all in the same millisecond; #quiet has events only.
    private func script() -> (WorldScript, ScriptClient) {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: capabilities)
        let bo = script.client("bo")
        let cy = script.client("cy")
        _ = ana.ask("JOIN #one,#two,#quiet")
        ana.send("TOPIC #quiet :hush")
        ana.send("PRIVMSG #one :1")
        ana.send("PRIVMSG bo :2")
        ana.send("PRIVMSG #two :3")
        cy.send("PRIVMSG ana :4")
        bo.send("PRIVMSG cy :none of ana's")
        _ = ana.read()
        return (script, ana)
    }

    @Test func channelsAndPeopleInTheOrderOfTheirNewestMessage() {
        let (_, ana) = script()
        let lines = ana.ask("@label=t CHATHISTORY TARGETS \(early) \(late) 50")
        #expect(lines.first?.hasPrefix("@label=t;draft/chathistory-end :parley.test BATCH +") == true)
        #expect(lines.first?.hasSuffix(" draft/chathistory-targets") == true)
        #expect(names(lines) == ["#one", "bo", "#two", "cy"])
        #expect(lines.dropFirst().dropLast().allSatisfy { $0.contains(" :parley.test CHATHISTORY TARGETS ") })
        #expect(Set(times(lines)).count == 4, "no two have the same time")
        #expect(times(lines) == times(lines).sorted())
        ana.send("PRIVMSG #one :5")
        #expect(names(ana.ask("CHATHISTORY TARGETS \(early) \(late) 50")) == ["bo", "#two", "cy", "#one"])
    }

    @Test func boundsAreExclusiveAndCountFromTheFirst() {
        let (_, ana) = script()
        let all = times(ana.ask("CHATHISTORY TARGETS \(early) \(late) 50")).map { "timestamp=\($0)" }
        #expect(names(ana.ask("CHATHISTORY TARGETS \(early) \(late) 2")) == ["#one", "bo"])
        #expect(names(ana.ask("CHATHISTORY TARGETS \(late) \(early) 2")) == ["#two", "cy"])
        #expect(names(ana.ask("CHATHISTORY TARGETS \(all[0]) \(all[3]) 9")) == ["bo", "#two"])
        #expect(names(ana.ask("CHATHISTORY TARGETS \(all[3]) \(all[0]) 1")) == ["#two"])
        #expect(names(ana.ask("CHATHISTORY TARGETS \(all[0]) \(all[0]) 9")) == [])
        // The newest message counts, not one within.
        ana.send("PRIVMSG #one :again")
        #expect(names(ana.ask("CHATHISTORY TARGETS \(early) \(all[1]) 9")) == [])
    }

    @Test func pagingFindsEachOnce() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: capabilities)
        for number in 1...40 {
            _ = ana.ask("JOIN #c\(number)")
            ana.send("PRIVMSG #c\(number) :x")
        }
        var found: [String] = []
        var from = early
        while true {
            let lines = ana.ask("CHATHISTORY TARGETS \(from) \(late) 7")
            found += names(lines)
            if lines[0].contains("draft/chathistory-end") { break }
            #expect(names(lines).count == 7)
            from = "timestamp=\(times(lines).last ?? "")"
        }
        #expect(found == (1...40).map { "#c\($0)" })
    }

    @Test func whoIsGoneIsNamedByUid() {
        let (script, ana) = script()
        let uid = script.log.first { $0.text == "4" }?.uid
        script.client("dee").send("QUIT")
        let cy = script.client("cyr")
        cy.send("QUIT")
        ana.send("PING x")
        #expect(uid != nil)
        #expect(names(ana.ask("CHATHISTORY TARGETS \(early) \(late) 50")).last == "cy")
    }

    @Test func nothingFromBeforeTheReaderMayRead() {
        let script = WorldScript({ $0.historySinceJoin = true })
        let ana = script.client("ana")
        _ = ana.ask("JOIN #one")
        ana.send("PRIVMSG #one :before")
        let bo = script.client("bo", capabilities: capabilities)
        _ = bo.ask("JOIN #one")
        #expect(names(bo.ask("CHATHISTORY TARGETS \(early) \(late) 50")) == [])
        ana.send("PRIVMSG #one :after")
        #expect(names(bo.ask("CHATHISTORY TARGETS \(early) \(late) 50")) == ["#one"])
        _ = bo.ask("PART #one")
        #expect(names(bo.ask("CHATHISTORY TARGETS \(early) \(late) 50")) == [])
    }

    @Test func withoutBatchTheLinesStandAlone() {
        let (script, _) = script()
        let cy = script.client("dee", capabilities: "draft/chathistory")
        _ = cy.ask("JOIN #one")
        let lines = cy.ask("CHATHISTORY TARGETS \(early) \(late) 50")
        #expect(lines.count == 1 && lines[0].hasPrefix(":parley.test CHATHISTORY TARGETS #one 20"))
    }

    @Test func aReaderThatFailsIsSaid() {
        let (script, ana) = script()
        script.historyFailure = "disk"
        #expect(
            ana.ask("@label=t CHATHISTORY TARGETS \(early) \(late) 50") == [
                "@label=t :parley.test FAIL CHATHISTORY MESSAGE_ERROR TARGETS :Messages could not be retrieved"
            ])
    }

    // MARK: draft/chathistory-end

    @Test(arguments: [
        ("LATEST #cats * 9", true), ("LATEST #cats * 10", true), ("LATEST #cats * 8", false),
        ("LATEST #cats FIRST 8", true), ("LATEST #cats FIRST 7", false), ("BEFORE #cats FIRST 5", true),
        ("BEFORE #cats LAST 8", true), ("BEFORE #cats LAST 7", false), ("AFTER #cats FIRST 7", false),
        ("AFTER #cats FIRST 8", true), ("AFTER #cats LAST 8", true), ("BETWEEN #cats FIRST LAST 7", true),
        ("BETWEEN #cats LAST FIRST 6", false), ("AROUND #cats FIRST 9", true), ("AROUND #cats FIRST 8", false),
    ])
    func thePageSaysWhenItIsTheLast(question: String, isEnd: Bool) throws {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: capabilities)
        _ = ana.ask("JOIN #cats")
        for number in 1...9 { ana.send("PRIVMSG #cats :\(number)") }
        let messages = script.log.filter(\.kind.isMessage)
        let first = "msgid=\(MessageID.text(try #require(messages.first).position))"
        let last = "msgid=\(MessageID.text(try #require(messages.last).position))"
        let lines = ana.ask(
            "CHATHISTORY \(question.replacing("FIRST", with: first).replacing("LAST ", with: "\(last) "))")
        #expect(lines[0].hasPrefix("@draft/chathistory-end :parley.test BATCH +") == isEnd, "\(lines)")
        #expect(lines[0].contains("BATCH +"))
    }

    @Test func withoutMessageTagsNoTagSaysIt() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "batch draft/chathistory")
        _ = ana.ask("JOIN #cats")
        #expect(ana.ask("CHATHISTORY LATEST #cats * 9")[0].hasPrefix(":parley.test BATCH +"))
    }

    /// What a reader is not shown takes no place in its page.
    @Test func pagesAreFullWhateverLiesBetween() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "message-tags")
        _ = ana.ask("JOIN #cats")
        for number in 1...6 {
            ana.send("PRIVMSG #cats :\(number)")
            for _ in 1...3 { ana.send("@+draft/react=x TAGMSG #cats") }
            ana.send("SETNAME :Ana \(number)")
        }
        let bo = script.client("bo", capabilities: "batch server-time draft/chathistory draft/event-playback")
        _ = bo.ask("JOIN #cats")
        #expect(bo.ask("CHATHISTORY BEFORE #cats timestamp=2100-01-01T00:00:00.000Z 7").count == 9)
        let cy = script.client("cy", capabilities: "batch server-time draft/chathistory")
        _ = cy.ask("JOIN #cats")
        #expect(cy.ask("CHATHISTORY LATEST #cats * 4").count == 6)
    }

    // MARK: Times

    @Test func timesRiseStrictlyInARushAndWhenTheClockIsSetBack() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = ana.ask("JOIN #cats")
        for _ in 1...2_500 {
            ana.send("PRIVMSG #cats :x")
            ana.send("PRIVMSG bo :x")
        }
        script.moment.wall -= 3_600_000
        for _ in 1...10 {
            ana.send("PRIVMSG #cats :x")
            bo.send("PRIVMSG ana :x")
        }
        for (_, records) in Dictionary(grouping: script.log, by: \.conversation) {
            #expect(zip(records, records.dropFirst()).allSatisfy { $0.time < $1.time })
        }
    }
}
