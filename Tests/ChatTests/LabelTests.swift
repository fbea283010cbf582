import Bytes
import Chat
import TestKit
import Testing

/// IRCv3 labeled-response.
@Suite struct LabelTests {
    private let script = WorldScript()
    private let ana: ScriptClient

    init() { ana = script.client("ana", capabilities: "labeled-response batch echo-message message-tags") }

    @Test func nothingToSayIsAnAck() {
        #expect(ana.ask("@label=a PONG x") == ["@label=a :parley.test ACK"])
        #expect(ana.ask("@label=b TAGMSG ana") == ["@label=b :parley.test ACK"])
    }

    @Test(arguments: [
        ("PING x", " PONG parley.test :x"), ("NONSENSE", " 421 ana NONSENSE :Unknown command"),
        ("JOIN", " 461 ana JOIN :Not enough parameters"), ("CAP LIST", " CAP ana LIST :"),
        ("PRIVMSG nobody :hi", " 401 ana nobody :"), ("NICK eva", ":ana!ana@host.test NICK :eva"),
        ("QUIT :bye", "ERROR :Quit: bye"),
    ])
    func oneLineCarriesTheLabel(line: String, expected: String) {
        let answer = ana.ask("@label=x1 \(line)")
        #expect(answer.count == 1)
        #expect(answer[0].hasPrefix("@label=x1 "))
        #expect(answer[0].contains(expected))
    }

    @Test func quitWithALabelCloses() {
        let bo = script.client("bo")
        _ = (ana.ask("JOIN #cats"), bo.ask("JOIN #cats"))
        ana.send("@label=x QUIT")
        #expect(ana.isClosed)
        #expect(bo.read() == [":ana!ana@host.test QUIT :Quit"])
    }

    @Test func severalLinesAreABatch() throws {
        let lines = ana.ask("@label=b1 JOIN #cats")
        let reference = try #require(lines[0].split(separator: "+").last?.split(separator: " ").first)
        #expect(lines[0] == "@label=b1 :parley.test BATCH +\(reference) labeled-response")
        #expect(lines.last == ":parley.test BATCH -\(reference)")
        #expect(lines.count >= 4)
        #expect(lines.dropFirst().dropLast().allSatisfy { $0.hasPrefix("@batch=\(reference)") })
        #expect(reference.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
    }

    @Test func severalEchoesAreABatch() {
        let (bo, cy) = (script.client("bo"), script.client("cy", capabilities: "message-tags labeled-response batch"))
        let lines = ana.ask("@label=m PRIVMSG bo,cy :hi")
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix("@label=m :parley.test BATCH +"))
        #expect(bo.read() == [":ana!ana@host.test PRIVMSG bo :hi"])
        #expect(!cy.read()[0].contains("label="))
    }

    @Test(arguments: ["PRIVMSG ana :note to self", "NOTICE ana :note to self"])
    func toOneselfTheEchoAloneIsLabeled(line: String) {
        let lines = ana.ask("@label=s \(line)")
        #expect(lines.count == 2)
        #expect(lines.count { $0.contains("label=s") } == 1)
        #expect(lines.allSatisfy { $0.hasSuffix(":ana!ana@host.test \(line)") })
    }

    @Test func tagsToOneself() {
        let lines = ana.ask("@label=s;+draft/react=yes TAGMSG ana")
        #expect(lines.count == 2)
        #expect(lines.count { $0.contains("label=s") } == 1)
        #expect(lines.allSatisfy { $0.contains("+draft/react=yes") && $0.hasSuffix(" TAGMSG ana") })
    }

    @Test func badTextIsRefusedWithTheLabel() {
        ana.sendBytes(Array("@label=xyz PRIVMSG #qux hi".utf8) + [0xAA])
        let lines = ana.read()
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("@label=xyz :parley.test FAIL PRIVMSG INVALID_UTF8 :"))
    }

    @Test func theStoresRefusalCarriesTheLabel() {
        _ = ana.ask("JOIN #cats")
        script.isStoreFull = true
        let lines = ana.ask("@label=f PRIVMSG #cats :lost")
        #expect(lines.filter { $0.contains("FAIL PRIVMSG STORE_FULL #cats") }.count == 1)
        #expect(lines.allSatisfy { $0.hasPrefix("@label=f ") })
    }

    @Test func labelsAreForWhoAskedAndOfBoundedLength() {
        let bo = script.client("bo", capabilities: "labeled-response")
        #expect(bo.ask("@label=x PING y") == [":parley.test PONG parley.test :y"], "without batch there is no label")
        let long = String(repeating: "l", count: 65)
        #expect(ana.ask("@label=\(long) PING y") == [":parley.test PONG parley.test :y"])
        #expect(ana.ask("@label=\(long.dropLast()) PING y")[0].hasPrefix("@label=\(long.dropLast()) "))
        #expect(ana.ask("@label= PING y") == [":parley.test PONG parley.test :y"])
    }
}
