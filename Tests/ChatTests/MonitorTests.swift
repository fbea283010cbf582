import Bytes
import Chat
import TestKit
import Testing

/// IRCv3 monitor and extended-monitor.
@Suite struct MonitorTests {
    private let script = WorldScript { $0.limits.monitor = 3 }
    private let ana: ScriptClient

    init() { ana = script.client("ana") }

    @Test func comingAndGoingIsTold() {
        #expect(ana.ask("MONITOR + bo") == [":parley.test 731 ana :bo"])
        let bo = script.client("Bo")
        #expect(ana.read() == [":parley.test 730 ana :Bo!Bo@host.test"])
        bo.send("QUIT")
        #expect(ana.read() == [":parley.test 731 ana :Bo"])
    }

    @Test func aChangeOfNickIsComingAndGoing() {
        _ = ana.ask("MONITOR + bo,eva")
        let cy = script.client("cy")
        #expect(ana.read().isEmpty)
        cy.send("NICK bo")
        #expect(ana.read() == [":parley.test 730 ana :bo!cy@host.test"])
        cy.send("NICK BO")
        #expect(ana.read().isEmpty)
        cy.send("NICK eva")
        #expect(ana.read() == [":parley.test 731 ana :BO", ":parley.test 730 ana :eva!cy@host.test"])
    }

    @Test func aSecondConnectionOfSomebodyIsNoComing() {
        let bo = script.client("bo")
        _ = ana.ask("MONITOR + bo")
        let token = bo.ask("IDENTITY TOKEN")[0].split(separator: " ")[4]
        let other = script.connect()
        for line in ["PASS guest:\(token)", "NICK bo", "USER bo 0 * :bo"] { other.send(line) }
        other.send("QUIT")
        #expect(ana.read().isEmpty)
        bo.send("QUIT")
        #expect(ana.read() == [":parley.test 731 ana :bo"])
    }

    @Test func theListIsKeptShownAndCleared() {
        _ = script.client("bo")
        #expect(ana.ask("MONITOR + eva,bo") == [":parley.test 730 ana :bo!bo@host.test", ":parley.test 731 ana :eva"])
        // Added already: nothing new is told.
        #expect(ana.ask("MONITOR + BO").isEmpty)
        #expect(ana.ask("MONITOR L") == [":parley.test 732 ana :bo,eva", ":parley.test 733 ana :End of MONITOR list"])
        #expect(ana.ask("MONITOR s") == [":parley.test 730 ana :bo!bo@host.test", ":parley.test 731 ana :eva"])
        #expect(ana.ask("MONITOR - EVA").isEmpty)
        #expect(ana.ask("MONITOR L")[0] == ":parley.test 732 ana :bo")
        #expect(ana.ask("MONITOR C").isEmpty)
        #expect(ana.ask("MONITOR L") == [":parley.test 733 ana :End of MONITOR list"])
        _ = script.client("eva")
        #expect(ana.read().isEmpty)
    }

    @Test func theListIsTheConnections() {
        _ = ana.ask("MONITOR + bo")
        ana.send("QUIT")
        let again = script.client("ana")
        _ = script.client("bo")
        #expect(again.read().isEmpty)
        #expect(again.ask("MONITOR L").count == 1)
    }

    @Test func whatDoesNotFitIsRefused() {
        #expect(
            ana.ask("MONITOR + a,b,c,d,e") == [
                ":parley.test 731 ana :a,b,c", ":parley.test 734 ana 3 d,e :Monitor list is full.",
            ])
        #expect(ana.ask("MONITOR L")[0] == ":parley.test 732 ana :a,b,c")
    }

    @Test(arguments: [
        ("MONITOR", "461 ana MONITOR :"), ("MONITOR +", "461 ana MONITOR :"), ("MONITOR + ,", "461 ana MONITOR :"),
        ("MONITOR + *!*@host.test", "432 ana *!*@host.test :"), ("MONITOR X", "FAIL MONITOR INVALID_PARAMS X :"),
    ])
    func oneErrorForEachMistake(line: String, expected: String) {
        let answer = ana.ask(line)
        #expect(answer.count == 1)
        #expect(answer.first?.hasPrefix(":parley.test \(expected)") == true, "\(answer)")
    }

    @Test func longListsAreSplitOverLines() {
        let script = WorldScript { $0.limits.monitor = 100 }
        let ana = script.client("ana")
        let nicks = (10..<35).map { "a-rather-long-nick-number-\($0)" }
        for part in [nicks[..<15], nicks[15...]] { _ = ana.ask("MONITOR + \(part.joined(separator: ","))") }
        let lines = ana.ask("MONITOR L").filter { $0.contains(" 732 ") }
        #expect(lines.count == 2)
        for line in lines { #expect(line.utf8.count <= 510) }
        let told = lines.flatMap { $0.split(separator: ":").last!.split(separator: ",").map(String.init) }
        #expect(told == nicks)
    }

    @Test func changesAreToldToWatchersWhoAsk() {
        let bo = script.client("bo", capabilities: "away-notify setname")
        let cy = script.client("cy", capabilities: "extended-monitor away-notify setname")
        let di = script.client("di", capabilities: "away-notify setname")
        for watcher in [cy, di, script.client("eva", capabilities: "extended-monitor")] {
            _ = watcher.ask("MONITOR + bo")
        }
        _ = (bo.ask("AWAY :lunch"), bo.ask("SETNAME :Bo B"))
        #expect(cy.read() == [":bo!bo@host.test AWAY :lunch", ":bo!bo@host.test SETNAME :Bo B"])
        #expect(di.read().isEmpty)
        // Who shares a channel too hears it once.
        _ = (cy.ask("JOIN #cats"), bo.ask("JOIN #cats"), cy.read())
        _ = bo.ask("AWAY")
        #expect(cy.read() == [":bo!bo@host.test AWAY"])
    }
}
