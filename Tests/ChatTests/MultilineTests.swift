import Bytes
import Chat
import TestKit
import Testing

/// IRCv3 draft/multiline and client-initiated batches.
@Suite struct MultilineTests {
    private static let base = "message-tags batch server-time labeled-response"
    private let script = WorldScript()
    private let ana: ScriptClient
    private let bo: ScriptClient
    private let cy: ScriptClient

    init() {
        ana = script.client("ana", capabilities: Self.base + " echo-message draft/multiline")
        bo = script.client("bo", capabilities: Self.base + " draft/multiline")
        cy = script.client("cy", capabilities: "message-tags server-time")
        for client in [ana, bo, cy] { _ = client.ask("JOIN #cats") }
        clear()
    }

    private func clear() { for client in [ana, bo, cy] { _ = client.read() } }

    private func sendBatch(_ lines: [String], to target: String = "#cats", opening: String = "") {
        ana.send("\(opening)BATCH +1 draft/multiline \(target)")
        for line in lines { ana.send(line.hasPrefix("@") ? line : "@batch=1 PRIVMSG \(target) :\(line)") }
        ana.send("BATCH -1")
    }

    /// Without the tags but `batch` and `draft/multiline-concat`, the reference as `R`.
    private func shape(_ lines: [String]) throws -> [String] {
        let opening = try #require(lines.first { $0.contains(" BATCH +") })
        let reference = try #require(opening.split(separator: "+").last?.split(separator: " ").first)
        return lines.map { line in
            guard line.hasPrefix("@") else { return line.replacing(reference, with: "R") }
            let parts = line.split(separator: " ", maxSplits: 1)
            let tags = parts[0].dropFirst().split(separator: ";").filter {
                $0.hasPrefix("batch=") || $0.hasPrefix("label=") || $0.hasPrefix("draft/")
            }
            return (tags + [parts[1]]).joined(separator: " ").replacing(reference, with: "R")
        }
    }

    private func tag(_ key: String, _ line: String) -> Substring? {
        line.split(separator: " ")[0].dropFirst().split(separator: ";").first { $0.hasPrefix(key + "=") }
    }

    @Test func theLimitsStandInTheValue() {
        let listed = script.connect().ask("CAP LS 302").joined()
        #expect(listed.contains("draft/multiline=max-bytes=4096,max-lines=32"))
        #expect(script.connect().ask("CAP LS").joined().contains(" draft/multiline "))
    }

    @Test func whoKnowsItGetsABatchAndOthersLines() throws {
        sendBatch(
            ["hello", "", "#how is ", "@batch=1;draft/multiline-concat PRIVMSG #CATS :everyone?"],
            opening: "@label=xyz;+t=1 ")
        let expected = [
            ":ana!ana@host.test BATCH +R draft/multiline #cats",
            "batch=R :ana!ana@host.test PRIVMSG #cats :hello",
            "batch=R :ana!ana@host.test PRIVMSG #cats :",
            "batch=R :ana!ana@host.test PRIVMSG #cats :#how is ",
            "batch=R draft/multiline-concat :ana!ana@host.test PRIVMSG #cats :everyone?",
            ":ana!ana@host.test BATCH -R",
        ]
        let echo = ana.read()
        let heard = bo.read()
        #expect(try shape(heard) == expected)
        #expect(try shape(echo) == ["label=xyz \(expected[0])"] + expected.dropFirst())
        let msgid = try #require(tag("msgid", heard[0]))
        #expect(tag("msgid", echo[0]) == msgid)
        #expect(heard[0].contains(";+t=1 "))
        #expect(heard.dropFirst().allSatisfy { !$0.contains("msgid") && !$0.contains("label") && !$0.contains("+t") })
        let lines = cy.read()
        #expect(lines.map { $0.split(separator: " :").last } == ["hello", "#how is ", "everyone?"])
        #expect(lines.map { tag("msgid", $0) } == [msgid, nil, nil])
        #expect(lines.allSatisfy { $0.contains("+t=1") && tag("time", $0) == tag("time", heard[0]) })
        #expect(script.log.filter(\.kind.isMessage).map { $0.text.string } == ["hello\n\n#how is everyone?"])
    }

    @Test func noticesAndDirectMessagesToo() throws {
        sendBatch(["@batch=1 NOTICE bo :one", "@batch=1 NOTICE bo :two"], to: "bo")
        #expect(
            try shape(bo.read()) == [
                ":ana!ana@host.test BATCH +R draft/multiline bo", "batch=R :ana!ana@host.test NOTICE bo :one",
                "batch=R :ana!ana@host.test NOTICE bo :two", ":ana!ana@host.test BATCH -R",
            ])
        sendBatch(["one", "two"], to: "@#cats", opening: "@label=s ")
        #expect(try shape(ana.read().suffix(4)).first == "label=s :ana!ana@host.test BATCH +R draft/multiline @#cats")
        #expect(bo.read().isEmpty)
    }

    @Test func anotherAnswerBesideTheEchoMakesTheBatchNest() throws {
        _ = bo.ask("AWAY :lunch")
        clear()
        sendBatch(["one", "two"], to: "bo", opening: "@label=x ")
        let lines = ana.read()
        try #require(lines.count == 7)
        #expect(lines[0].hasPrefix("@label=x :parley.test BATCH +") && lines[0].hasSuffix(" labeled-response"))
        let outer = try #require(lines[0].split(separator: "+").last?.split(separator: " ").first)
        #expect(lines.indices.filter { lines[$0].hasPrefix("@batch=\(outer)") } == [1, 4, 5])
        #expect(lines[4].contains(" BATCH -") && lines[5].contains(" 301 ana bo :lunch"))
        #expect(lines[6] == ":parley.test BATCH -\(outer)")
    }

    @Test func withoutEchoALabelIsAnsweredAtTheEnd() {
        ana.send("CAP REQ -echo-message")
        clear()
        #expect(ana.ask("@label=x BATCH +1 draft/multiline #cats").isEmpty)
        #expect(ana.ask("@batch=1 PRIVMSG #cats :one").isEmpty)
        #expect(ana.ask("BATCH -1") == ["@label=x :parley.test ACK"])
    }

    @Test func whatIsTooLongForALineGoesOnInTheNext() throws {
        let words = String(repeating: "tschüß ", count: 60)
        sendBatch([words, "@batch=1;draft/multiline-concat PRIVMSG #cats :end"])
        let heard = bo.read()
        #expect(heard.allSatisfy { $0.split(separator: " ", maxSplits: 1)[1].utf8.count <= 510 })
        let texts = heard.dropFirst().dropLast().map { $0.split(separator: " #cats :", maxSplits: 1)[1] }
        #expect(texts.count == 3 && texts.joined() == words + "end" && texts[0].last == " ")
        #expect(heard.filter { $0.contains("multiline-concat") }.count == 2)
    }

    // MARK: History

    @Test func historyGivesTheMessageWhole() throws {
        sendBatch(["one", "", "two"])
        clear()
        _ = bo.ask("CAP REQ draft/chathistory")
        let page = bo.ask("CHATHISTORY LATEST #cats * 10")
        try #require(page.count == 7)
        let outer = try #require(page[0].split(separator: "+").last?.split(separator: " ").first)
        #expect(page[1].hasPrefix("@batch=\(outer);time=") && page[1].contains(" BATCH +"))
        #expect(tag("msgid", page[1]) != nil)
        let inner = try #require(page[1].split(separator: "+").last?.split(separator: " ").first)
        #expect(page[3] == "@batch=\(inner) :ana!ana@host.test PRIVMSG #cats :")
        #expect(page[5] == "@batch=\(outer) :ana!ana@host.test BATCH -\(inner)")
        let eva = script.client("eva", capabilities: "batch server-time message-tags")
        let replay = eva.ask("JOIN #cats").filter { $0.contains(" PRIVMSG ") }
        #expect(replay.map { $0.split(separator: " :").last } == ["one", "two"])
        #expect(replay.map { tag("msgid", $0) == nil } == [false, true])
    }

    @Test func historyInWordsHasEachLine() {
        sendBatch(["one", "", "two"])
        let eva = script.client("eva")
        let notices = eva.ask("JOIN #cats").filter { $0.contains("<ana>") }
        #expect(notices.map { $0.split(separator: "] ").last } == ["<ana> one", "<ana> two"])
        let person = script.connect()
        let lines = person.ask("JOIN #cats").filter { $0.contains(" PRIVMSG ") }
        #expect(lines.map { $0.split(separator: "] ").last } == ["one", "two"])
    }

    // MARK: Errors

    @Test(arguments: [
        (["@batch=2 PRIVMSG #cats :x"], "MULTILINE_INVALID :"),
        (["PRIVMSG #cats :x"], "MULTILINE_INVALID :"),
        (["JOIN #dogs"], "MULTILINE_INVALID :"),
        (["@batch=1 TAGMSG #cats"], "MULTILINE_INVALID :"),
        (["BATCH +2 draft/multiline #cats"], "MULTILINE_INVALID :"),
        (["BATCH -2"], "MULTILINE_INVALID :"),
        (["@batch=1;draft/multiline-concat PRIVMSG #cats :"], "MULTILINE_INVALID :"),
        (["@batch=1 NOTICE #cats :x"], "MULTILINE_INVALID :"),
        (["@batch=1 PRIVMSG bo :x"], "MULTILINE_INVALID_TARGET #cats bo :"),
        (["@batch=1 PRIVMSG"], "MULTILINE_INVALID_TARGET #cats * :"),
        (Array(repeating: "@batch=1 PRIVMSG #cats x", count: 32), "MULTILINE_MAX_LINES 32 :"),
        (
            Array(repeating: "@batch=1 PRIVMSG #cats \(String(repeating: "x", count: 400))", count: 11),
            "MULTILINE_MAX_BYTES 4096 :"
        ),
    ])
    func oneErrorAndNothingIsSaid(lines: [String], expected: String) {
        ana.send("@label=x BATCH +1 draft/multiline #cats")
        for line in ["@batch=1 PRIVMSG #cats :first"] + lines { ana.send(line) }
        ana.send("BATCH -1")
        let answer = ana.read()
        #expect(answer.count == 1)
        #expect(answer[0].hasPrefix("@label=x :parley.test FAIL BATCH \(expected)"), "\(answer)")
        #expect(bo.read().isEmpty)
        #expect(ana.ask("PRIVMSG #cats :after").count == 1)
    }

    @Test(arguments: [
        "BATCH +1 other #cats", "BATCH +1 draft/multiline", "BATCH +1 draft/multiline #cats,bo", "BATCH +1",
        "@batch=0 BATCH +1 draft/multiline #cats",
    ])
    func whatCannotBeOpenedIsNotSaidLineByLine(opening: String) {
        #expect(ana.ask(opening).first?.hasPrefix(":parley.test FAIL BATCH MULTILINE_INVALID :") == true)
        #expect(ana.ask("@batch=1 PRIVMSG #cats :x").isEmpty)
        #expect(ana.ask("BATCH -1").isEmpty)
        #expect(bo.read().isEmpty)
    }

    @Test(arguments: ["BATCH 1", "BATCH -1", "BATCH +", "BATCH +a.b draft/multiline #cats"])
    func whatIsNoBatch(line: String) {
        #expect(ana.ask(line).first?.hasPrefix(":parley.test FAIL BATCH MULTILINE_INVALID :") == true)
    }

    @Test func blankLinesAloneSayNothing() {
        sendBatch(["", ""])
        #expect(ana.read().map { $0.contains("FAIL BATCH MULTILINE_INVALID") } == [true])
    }

    @Test func withoutTheCapabilityNoBatchIsOpened() {
        #expect(cy.ask("BATCH +1 draft/multiline #cats").first?.contains("FAIL BATCH MULTILINE_INVALID") == true)
        #expect(cy.ask("@batch=1 PRIVMSG #cats :x").isEmpty)
        #expect(bo.read().isEmpty)
    }

    @Test func errorsOfTheMessageComeAtTheEnd() {
        sendBatch(["one", "two"], to: "#none")
        #expect(ana.read() == [":parley.test 403 ana #none :No such channel"])
        script.isStoreFull = true
        sendBatch(["one", "two"], opening: "@label=f ")
        let answer = ana.read()
        #expect(answer.count == 1)
        #expect(answer[0].hasPrefix("@label=f :parley.test FAIL BATCH STORE_FULL #cats :"))
        #expect(bo.read().isEmpty && cy.read().isEmpty)
    }

    @Test func anOpenBatchIsAnsweredAndGivenUpInTime() {
        ana.send("BATCH +1 draft/multiline #cats")
        #expect(ana.ask("PING x") == [":parley.test PONG parley.test :x"])
        script.advance(20_000)
        ana.send("@batch=1 PRIVMSG #cats :one")
        script.advance(29_000)
        #expect(ana.read().isEmpty)
        script.advance(2_000)
        let told = ana.read()
        #expect(told.count == 1 && told[0].hasPrefix(":parley.test FAIL BATCH TIMEOUT 1 :"))
        #expect(ana.ask("@batch=1 PRIVMSG #cats :two").isEmpty)
        #expect(ana.ask("BATCH -1").isEmpty)
        #expect(bo.read().isEmpty)
    }

    @Test func whoGoesTakesTheOpenBatchAlong() {
        ana.send("BATCH +1 draft/multiline #cats")
        ana.send("@batch=1 PRIVMSG #cats :one")
        ana.send("QUIT")
        #expect(bo.read().map { $0.contains(" QUIT ") } == [true])
    }

    @Test func linesCountAgainstTheChannelsPace() {
        bo.send("PART #cats")
        _ = bo.ask("JOIN #dogs")
        _ = bo.ask("MODE #dogs +f 3:10")
        _ = ana.ask("JOIN #dogs")
        sendBatch(["1", "2", "3", "4"], to: "#dogs")
        #expect(ana.read().map { $0.contains(" 404 ana #dogs :") } == [true])
        sendBatch(["1", "2", "3"], to: "#dogs")
        #expect(ana.read().count == 5)
    }
}
