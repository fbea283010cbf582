import Bytes
import Chat
import TestKit
import Testing

/// What +s and +i hide must not come out by any query.
@Suite struct QuerySecrecyTests {
    /// `#hidden` is +s; ana is in it and in `#open`.
    private func script() -> WorldScript {
        var stored = StoredState()
        var state = ChannelState(id: 1, name: "#hidden", created: 1, founder: .none)
        state.modes = "nst"
        stored.channels = [StoredState.Channel(state: state)]
        stored.lastChannelID = 1
        let script = WorldScript(
            { $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "admin")] }, stored: stored)
        return script
    }

    @Test(arguments: ["WHO #hidden", "WHO ana", "WHO *", "WHO ana %cn", "WHOIS ana", "WHOIS ana ana", "USERHOST ana"])
    func aSecretChannelIsNotNamed(_ query: String) {
        let script = script()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #hidden")
        let bo = script.client("bo")
        #expect(!bo.ask(query).dropLast().contains { $0.contains("#hidden") })
        // Operators are no members either.
        _ = bo.ask("OPER root pw")
        #expect(!bo.ask(query).dropLast().contains { $0.contains("#hidden") })
        #expect(!script.connect().ask(query).dropLast().contains { $0.contains("#hidden") })
    }

    @Test func itIsAnsweredAsOneThatDoesNotExist() {
        let script = script()
        _ = script.client("ana").ask("JOIN #hidden")
        let bo = script.client("bo")
        #expect(bo.ask("WHO #hidden") == [":parley.test 315 bo #hidden :End of WHO list"])
    }

    @Test func membersSeeIt() {
        let script = script()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = ana.ask("JOIN #open,#hidden")
        _ = bo.ask("JOIN #hidden")
        #expect(bo.ask("WHO #hidden").count == 3)
        #expect(bo.ask("WHO ana")[0] == ":parley.test 352 bo #hidden ana host.test parley.test ana H :0 ana")
        #expect(bo.ask("WHOIS ana").contains(":parley.test 319 bo ana :@#open #hidden"))
        #expect(script.client("cy").ask("WHOIS ana").contains(":parley.test 319 cy ana :@#open"))
        #expect(ana.ask("WHOIS ana").contains(":parley.test 319 ana ana :@#open #hidden"))
    }

    @Test func aRealAddressFindsNobodyElse() {
        let script = script()
        let ana = script.connect(address: "198.51.100.7")
        ana.send("NICK ana")
        ana.send("USER ana 0 * :Ana")
        let bo = script.client("bo")
        #expect(bo.ask("WHO 198.51.100.7").count == 1)
        #expect(ana.ask("WHO 198.51.100.7").count >= 2)
        _ = bo.ask("OPER root pw")
        #expect(bo.ask("WHO 198.51.100.*").count == 2)
    }
}
