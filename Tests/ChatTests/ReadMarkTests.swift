import Bytes
import Chat
import TestKit
import Testing

/// MARKREAD (IRCv3 draft/read-marker).
@Suite struct ReadMarkTests {
    private let early = "timestamp=2020-03-15T10:00:00.000Z"
    private let later = "timestamp=2021-03-15T10:00:00.123Z"

    private func token(_ client: ScriptClient) -> String {
        client.ask("IDENTITY TOKEN")[0].split(separator: " ")[4].description
    }

    private func back(_ script: WorldScript, _ token: String, capabilities: String = "draft/read-marker")
        -> ScriptClient
    {
        let client = script.connect()
        client.send("CAP REQ :\(capabilities)")
        client.send("PASS guest:\(token)")
        client.send("NICK ana")
        client.send("USER ana 0 * :Ana")
        client.send("CAP END")
        return client
    }

    @Test func whatIsMarkedIsToldAndNeverGoesBack() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "draft/read-marker")
        _ = ana.ask("JOIN #Cats")
        #expect(ana.ask("MARKREAD #cats") == [":parley.test MARKREAD #Cats *"])
        #expect(ana.ask("MARKREAD #cats \(later)") == [":parley.test MARKREAD #Cats \(later)"])
        #expect(ana.ask("MARKREAD #cats \(early)") == [":parley.test MARKREAD #Cats \(later)"])
        #expect(ana.ask("MARKREAD #cats \(later)") == [":parley.test MARKREAD #Cats \(later)"])
        #expect(ana.ask("MARKREAD #cats") == [":parley.test MARKREAD #Cats \(later)"])
        // Who is marked is not told.
        let bo = script.client("bo", capabilities: "draft/read-marker")
        #expect(bo.ask("MARKREAD ana") == [":parley.test MARKREAD ana *"])
        _ = ana.read()
        #expect(bo.ask("MARKREAD ana \(later)") == [":parley.test MARKREAD ana \(later)"])
        #expect(ana.read().isEmpty)
        #expect(ana.ask("MARKREAD bo") == [":parley.test MARKREAD bo *"])
    }

    @Test func whatCannotHaveBeenReadYetIsNotMarked() {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #cats")
        #expect(
            ana.ask("MARKREAD #cats timestamp=2100-01-01T00:00:00.000Z") == [
                ":parley.test MARKREAD #cats timestamp=2026-05-28T20:26:40.000Z"
            ])
        // A rush may be ahead of the clock; it can be read all the same.
        for _ in 1...5 { ana.send("PRIVMSG #cats :x") }
        #expect(
            ana.ask("MARKREAD #cats timestamp=2026-05-28T20:26:40.004Z") == [
                ":parley.test MARKREAD #cats timestamp=2026-05-28T20:26:40.004Z"
            ])
    }

    @Test(arguments: [
        ("MARKREAD", "NEED_MORE_PARAMS"), ("MARKREAD #cats *", "INVALID_PARAMS #cats *"),
        ("MARKREAD #cats timestamp=noon", "INVALID_PARAMS #cats timestamp=noon"),
        ("MARKREAD #dogs timestamp=2020-03-15T10:00:00.000Z", "INVALID_PARAMS #dogs"),
        ("MARKREAD nobody timestamp=2020-03-15T10:00:00.000Z", "INVALID_PARAMS nobody"),
    ])
    func whoErrsIsTold(line: String, expected: String) {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #cats")
        let answer = ana.ask(line)
        #expect(answer.count == 1)
        #expect(answer[0].hasPrefix(":parley.test FAIL MARKREAD \(expected) :"))
    }

    @Test func withoutRoomNothingIsMarked() {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #cats")
        script.isStoreFull = true
        _ = ana.ask("PRIVMSG #cats :x")
        #expect(ana.ask("MARKREAD #cats \(early)")[0].contains(" FAIL MARKREAD INTERNAL_ERROR #cats :"))
        #expect(ana.ask("MARKREAD #cats") == [":parley.test MARKREAD #cats *"])
    }

    @Test func itFollowsAJoinBeforeTheNames() throws {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "draft/read-marker no-implicit-names")
        #expect(ana.ask("JOIN #cats").last == ":parley.test MARKREAD #cats *")
        ana.send("MARKREAD #cats \(early)")
        ana.send("PART #cats")
        _ = ana.ask("CAP REQ -no-implicit-names")
        let lines = ana.ask("JOIN #cats")
        let mark = try #require(lines.firstIndex(of: ":parley.test MARKREAD #cats \(early)"))
        let end = try #require(lines.firstIndex { $0.contains(" 366 ") })
        #expect(mark < end)
        #expect(!script.client("bo").ask("JOIN #cats").contains { $0.contains("MARKREAD") })
    }

    @Test func theSessionsOfAnIdentityShareIt() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "draft/read-marker")
        _ = ana.ask("JOIN #cats")
        let token = token(ana)
        let other = back(script, token)
        let bare = back(script, token, capabilities: "batch")
        _ = (other.read(), bare.read(), ana.read())
        #expect(bare.ask("MARKREAD #cats \(early)") == [":parley.test MARKREAD #cats \(early)"])
        #expect(ana.read() == [":parley.test MARKREAD #cats \(early)"])
        #expect(other.read() == [":parley.test MARKREAD #cats \(early)"])
        _ = ana.ask("MARKREAD #cats \(early)")
        #expect(other.read().isEmpty && bare.read().isEmpty, "what did not move is nothing new")
    }

    @Test func itOutlivesTheIdentitysSessions() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "draft/read-marker")
        let bo = script.client("bo")
        _ = ana.ask("JOIN #cats")
        let token = token(ana)
        ana.send("MARKREAD #cats \(early)")
        ana.send("MARKREAD bo \(later)")
        ana.send("QUIT")
        _ = bo.ask("NICK boris")
        let lines = back(script, token)
        #expect(lines.read().contains(":parley.test MARKREAD #cats \(early)"))
        #expect(lines.ask("MARKREAD boris") == [":parley.test MARKREAD boris \(later)"])
        _ = lines.ask("RENAME #cats #lions")
        #expect(lines.ask("MARKREAD #lions") == [":parley.test MARKREAD #lions \(early)"])
    }

    @Test func theOldestMarkGivesWay() {
        let script = WorldScript { $0.limits.readMarks = 3 }
        let ana = script.client("ana")
        for number in 1...4 {
            _ = ana.ask("JOIN #c\(number)")
            _ = ana.ask("MARKREAD #c\(number) timestamp=202\(5 - number)-01-01T00:00:00.000Z")
        }
        #expect(ana.ask("MARKREAD #c4") == [":parley.test MARKREAD #c4 *"])
        #expect(ana.ask("MARKREAD #c1") == [":parley.test MARKREAD #c1 timestamp=2024-01-01T00:00:00.000Z"])
        #expect(script.memory.correspondence.values.map(\.marks.count) == [3])
    }
}
