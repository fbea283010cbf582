import Bytes
import Chat
import TestKit
import Testing

/// The classic faults of IRC servers.
@Suite struct HostileTests {
    @Test(arguments: ["SERVER evil.test 1 :x", "CAPAB START 1202", "UID x", "SVSNICK ana bo 1", "ENCAP * SU ana bo"])
    func whatServersTellEachOtherIsUnknown(line: String) {
        let script = WorldScript()
        let ana = script.client("ana")
        let answer = ana.ask(line)
        #expect(answer.count == 1 && answer[0].hasPrefix(":parley.test 421 ana \(line.split(separator: " ")[0]) :"))
        let client = script.connect()
        _ = client.ask("CAP LS 302")
        #expect(client.ask(line) == [":parley.test 451 * :You have not registered"])
        #expect(ana.ask("PING x") == [":parley.test PONG parley.test :x"])
    }

    @Test func twoWhoWantOneNickAtOnce() {
        let script = WorldScript()
        let (first, second) = (script.connect(), script.connect())
        for client in [first, second] { client.send("NICK ana") }
        #expect(first.ask("USER a 0 * :A").first?.hasPrefix(":parley.test 001 ana ") == true)
        let refused = second.ask("USER b 0 * :B")
        #expect(refused == [":parley.test 433 * ana :Nickname is already in use"])
        #expect(second.ask("NICK bo").first?.hasPrefix(":parley.test 001 bo ") == true)
        for client in [first, second] { client.send("NICK cy") }
        #expect(first.read().last == ":ana!a@host.test NICK :cy")
        #expect(second.read().last == ":parley.test 433 bo cy :Nickname is already in use")
    }
}
