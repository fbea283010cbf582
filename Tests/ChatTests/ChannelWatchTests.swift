import Bytes
import Chat
import TestKit
import Testing

/// docs/PROTOCOL.md, Channels: CHANNELS.
@Suite struct ChannelWatchTests {
    private let script = WorldScript()
    private let ana: ScriptClient
    private let bo: ScriptClient

    init() {
        ana = script.client("ana")
        bo = script.client("bo")
        _ = ana.ask("JOIN #cats")
        _ = ana.ask("TOPIC #cats :purr")
    }

    private func later() -> [String] {
        script.advance(600)
        return bo.read()
    }

    @Test func theWholeListFirst() {
        _ = ana.ask("JOIN #secret")
        _ = ana.ask("MODE #secret +s")
        #expect(
            bo.ask("CHANNELS SUB") == [
                ":parley.test CHANNELS ADD #cats 1 1 :purr",
                ":parley.test NOTE CHANNELS END * :That is all for now; changes follow until CHANNELS UNSUB",
            ])
        let cy = script.client("cy", capabilities: "batch")
        let lines = cy.ask("channels sub")
        #expect(lines.count == 4)
        #expect(lines[0].hasSuffix(" parley.chat/channels") && lines[3].contains(" BATCH -"))
        #expect(lines[1...2].allSatisfy { $0.hasPrefix("@batch=") })
    }

    @Test func whatChangesIsToldOnceForAMoment() {
        _ = bo.ask("CHANNELS SUB")
        _ = ana.ask("JOIN #dogs")
        #expect(later() == [":parley.test CHANNELS ADD #dogs 2 1 :"])
        for nick in ["cy", "di", "ed"] { _ = script.client(nick).ask("JOIN #dogs") }
        _ = ana.ask("TOPIC #dogs :woof")
        #expect(later() == [":parley.test CHANNELS MOD #dogs 2 4 :woof"])
        _ = ana.ask("PART #dogs")
        _ = ana.ask("JOIN #dogs")
        #expect(later().isEmpty)
        _ = ana.ask("QUIT")
        #expect(later() == [":parley.test CHANNELS MOD #cats 1 0 :purr", ":parley.test CHANNELS MOD #dogs 2 3 :woof"])
    }

    @Test func aSecretOrDroppedChannelGoesAndARenamedOneStays() {
        _ = bo.ask("CHANNELS SUB")
        _ = ana.ask("RENAME #cats #lions")
        #expect(later() == [":parley.test CHANNELS MOD #lions 1 1 :purr"])
        _ = ana.ask("MODE #lions +s")
        #expect(later() == [":parley.test CHANNELS DEL #lions 1 0 :"])
        _ = ana.ask("TOPIC #lions :roar")
        #expect(later().isEmpty)
        _ = ana.ask("MODE #lions -s")
        #expect(later() == [":parley.test CHANNELS ADD #lions 1 1 :roar"])
        _ = ana.ask("DROP #lions")
        #expect(later() == [":parley.test CHANNELS DEL #lions 1 0 :"])
    }

    @Test func itEndsWhenAskedAndWithTheConnection() {
        _ = bo.ask("CHANNELS SUB")
        #expect(bo.ask("CHANNELS UNSUB") == [":parley.test NOTE CHANNELS END * :You are told no more of the channels"])
        _ = ana.ask("JOIN #dogs")
        #expect(later().isEmpty)
        let cy = script.client("cy")
        _ = cy.ask("CHANNELS SUB")
        cy.drop()
        _ = ana.ask("JOIN #birds")
        #expect(later().isEmpty)
        #expect(bo.ask("CHANNELS LIST").first?.contains("FAIL CHANNELS UNKNOWN_COMMAND LIST ") == true)
    }

    @Test func whoComesLaterGetsTheListAsItIsNow() {
        _ = bo.ask("CHANNELS SUB")
        _ = ana.ask("JOIN #dogs")
        let cy = script.client("cy")
        #expect(cy.ask("CHANNELS SUB").count == 3)
        #expect(bo.read() == [":parley.test CHANNELS ADD #dogs 2 1 :"])
        script.advance(600)
        #expect(cy.read().isEmpty && bo.read().isEmpty)
    }

    private static func many() -> WorldScript {
        var stored = StoredState()
        stored.channels = (1...10_000).map { number in
            StoredState.Channel(
                state: ChannelState(id: number, name: ByteString("#c\(number)"), created: 1, founder: .none))
        }
        stored.lastChannelID = 10_000
        return WorldScript({ $0.limits.channelsPerUser = 20_000 }, stored: stored)
    }

    @Test("To a slow reader the list comes piece by piece, and a change of what it was not told yet is no change")
    func inPieces() {
        let script = Self.many()
        let bo = script.client("bo", capabilities: "batch labeled-response message-tags")
        let ana = script.client("ana")
        script.deaf = [bo.id]
        let first = bo.ask("@label=l CHANNELS SUB")
        #expect(first[0].hasPrefix("@label=l :parley.test BATCH +") && first.count < 1_000)
        ana.send("JOIN #c1,#c9999,#new")
        ana.send("TOPIC #c9999 :late")
        script.advance(600)
        let changes = bo.read()
        #expect(changes.count == 2)
        #expect(changes[0].hasSuffix("CHANNELS MOD #c1 1 1 :") && changes[1].contains("CHANNELS ADD #new 10001 1 :"))
        #expect(bo.ask("PING x").count == 1)
        script.deaf = []
        script.advance(1)
        let rest = bo.read()
        #expect(first.count + rest.count == 1 + 10_000 + 1 + 1)
        #expect(rest.contains { $0.hasSuffix("CHANNELS ADD #c9999 9999 1 :late") })
        #expect(rest.last?.contains(" BATCH -") == true)
        #expect(script.awaitingRoom.isEmpty)
        ana.send("TOPIC #c9999 :later")
        script.advance(600)
        #expect(bo.read().count == 1)
    }

    @Test func tenThousandChannelsAreOneLineEach() {
        let script = Self.many()
        let bo = script.client("bo")
        #expect(bo.ask("CHANNELS SUB").count == 10_001)
        let ana = script.client("ana")
        for number in 1...10_000 { ana.send("JOIN #c\(number)") }
        for _ in 0..<3 {
            ana.send("PART #c1")
            ana.send("JOIN #c1")
        }
        script.advance(600)
        #expect(bo.read().count == 10_000)
    }
}
