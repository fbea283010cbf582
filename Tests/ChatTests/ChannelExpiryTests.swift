import Bytes
import Chat
import TestKit
import Testing

@Suite struct ChannelExpiryTests {
    private static let day: Int64 = 86_400_000

    private static func drops(_ script: WorldScript) -> Int {
        script.changes.count { if case .dropChannel = $0 { true } else { false } }
    }

    @Test func anUnusedChannelIsDroppedWithItsHistory() {
        let script = WorldScript { $0.channelExpiry = 2 * Self.day }
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = ana.ask("JOIN #old")
        _ = bo.ask("JOIN #used")
        _ = ana.ask("PART #old")
        script.moment.wall += Self.day
        _ = bo.ask("PING x")
        #expect(Self.drops(script) == 0)
        script.moment.wall += 2 * Self.day
        _ = bo.ask("PING x")
        #expect(Self.drops(script) == 1)
        #expect(bo.ask("LIST #old").count { $0.contains(" 322 ") } == 0)
        #expect(bo.ask("LIST #used").count { $0.contains(" 322 ") } == 1)
    }

    @Test func zeroKeepsChannelsForever() {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #old")
        _ = ana.ask("PART #old")
        script.moment.wall += 10_000 * Self.day
        #expect(ana.ask("LIST #old").count { $0.contains(" 322 ") } == 1)
    }
}
