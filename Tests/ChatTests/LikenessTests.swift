import Bytes
import Chat
import TestKit
import Testing

/// Nicks that look like one in use. In these tests the Cyrillic `е` looks like `e`, and `1` like `l`.
@Suite struct LikenessTests {
    private let script = WorldScript()

    @Test func aNickThatLooksLikeOneInUseIsTaken() {
        let eve = script.client("eve")
        let bo = script.client("bo")
        #expect(bo.ask("NICK \u{435}ve") == [":parley.test 433 bo \u{435}ve :Nickname is already in use"])
        #expect(bo.ask("NICK Ev\u{435}").first?.contains(" 433 ") == true)
        #expect(eve.ask("NICK \u{435}ve") == [":eve!eve@host.test NICK :\u{435}ve"], "one's own")
        #expect(bo.ask("NICK eve").first?.contains(" 433 ") == true)
        #expect(eve.ask("NICK eve").count == 1)
        eve.send("QUIT")
        #expect(bo.ask("NICK \u{435}ve") == [":bo!bo@host.test NICK :\u{435}ve"])
    }

    @Test func whoComesInIsToldToo() {
        _ = script.client("eve")
        let newcomer = script.connect()
        newcomer.send("USER x 0 * :x")
        #expect(newcomer.ask("NICK \u{435}ve") == [":parley.test 433 * \u{435}ve :Nickname is already in use"])
        let person = script.connect()
        #expect(person.ask("NICK \u{435}ve").first?.contains(" 433 * ") == true)
        // Two at once: who completes first has it.
        let (one, other) = (script.connect(), script.connect())
        one.send("NICK b\u{435}n")
        other.send("NICK ben")
        other.send("USER ben 0 * :x")
        #expect(other.read().contains { $0.contains(" 001 ben ") })
        one.send("USER ben 0 * :x")
        #expect(one.read().map { $0.contains(" 433 ") } == [true])
    }

    @Test func asciiNicksNeverStandInEachOthersWay() {
        _ = script.client("ann1")
        let bo = script.client("bo")
        #expect(bo.ask("NICK annl") == [":bo!bo@host.test NICK :annl"])
        #expect(script.client("cy").ask("NICK ANN1").first?.contains(" 433 ") == true)
    }

    @Test func theWayBackIsOpenToWhoHadTheNick() throws {
        let script = WorldScript { $0.showGuestToken = true }
        let eve = script.client("\u{435}ve")
        let told = eve.ask("IDENTITY TOKEN")
        let token = try #require(told.first?.split(separator: " ").first { $0.hasPrefix("u") && $0.contains(".") })
        let again = script.connect()
        again.send("PASS guest:\(token)")
        again.send("NICK eve")
        again.send("USER eve 0 * :x")
        #expect(again.read().contains { $0.contains(" 001 eve ") })
    }
}
