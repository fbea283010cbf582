import Bytes
import Chat
import TestKit
import Testing

@Suite struct QueryWhoTests {
    private let end = ":End of WHO list"

    @Test(arguments: ["ana", "ANA", "an*"])
    func oneUser(_ mask: String) {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = ana.ask("JOIN #cats")
        _ = bo.ask("JOIN #cats")
        #expect(
            bo.ask("WHO \(mask)") == [
                ":parley.test 352 bo #cats ana host.test parley.test ana H@ :0 ana",
                ":parley.test 315 bo \(mask) \(end)",
            ])
    }

    @Test func everyoneAndNobody() {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = script.client("bo")
        for mask in ["*", "0"] {
            #expect(
                ana.ask("WHO \(mask)") == [
                    ":parley.test 352 ana * ana host.test parley.test ana H :0 ana",
                    ":parley.test 352 ana * bo host.test parley.test bo H :0 bo",
                    ":parley.test 315 ana \(mask) \(end)",
                ])
        }
        #expect(ana.ask("WHO").count == 3)
        #expect(ana.ask("WHO nobody") == [":parley.test 315 ana nobody \(end)"])
        #expect(ana.ask("WHO #nowhere") == [":parley.test 315 ana #nowhere \(end)"])
    }

    @Test func aPersonAsksBeforeHavingAName() {
        let script = WorldScript()
        _ = script.client("ana")
        #expect(
            script.connect().ask("WHO") == [
                ":parley.test 352 * * ana host.test parley.test ana H :0 ana", ":parley.test 315 * * \(end)",
            ])
    }

    @Test func flagsTellAwayOperatorRanksAndBot() {
        let script = WorldScript { $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "admin")] }
        let ana = script.client("ana")
        let bo = script.client("bo", capabilities: "multi-prefix")
        _ = ana.ask("JOIN #cats")
        _ = bo.ask("JOIN #cats")
        _ = ana.ask("OPER root pw")
        _ = ana.ask("AWAY :lunch")
        #expect(
            bo.ask("WHO #CATS") == [
                ":parley.test 352 bo #cats ana host.test parley.test ana G*@ :0 ana",
                ":parley.test 352 bo #cats bo host.test parley.test bo H :0 bo",
                ":parley.test 315 bo #CATS \(end)",
            ])
        #expect(bo.ask("WHO #cats o").count == 2)
        #expect(bo.ask("WHO bo o").count == 1)
    }

    @Test func whoxFieldsStandInTheirOrder() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = ana.ask("JOIN #cats")
        _ = bo.ask("JOIN #cats")
        script.advance(3000)
        for fields in ["tcuihsnfdlaor", "roaldfnshiuct"] {
            #expect(
                bo.ask("WHO ana %\(fields),123")[0]
                    == ":parley.test 354 bo 123 #cats ana 255.255.255.255 host.test parley.test ana H@ 0 3 0 n/a :ana")
        }
        #expect(ana.ask("WHO ana %i") == [":parley.test 354 ana 192.0.2.1", ":parley.test 315 ana ana \(end)"])
        #expect(bo.ask("WHO ana %tn,1234")[0] == ":parley.test 354 bo 0 ana")
        #expect(bo.ask("WHO ana %r")[0] == ":parley.test 354 bo :ana")
        #expect(bo.ask("WHO ana %na")[0] == ":parley.test 354 bo ana 0")
        #expect(bo.ask("WHO #cats o%n,1") == [":parley.test 315 bo #cats \(end)"])
    }

    @Test func anAddressThatBeginsWithAColonStaysOneParameter() {
        let script = WorldScript()
        let ana = script.connect(address: "::1")
        ana.send("NICK ana")
        ana.send("USER ana 0 * :Ana")
        #expect(ana.ask("WHO ana %in")[0] == ":parley.test 354 ana 0::1 ana")
    }

    @Test func manyMatchesAreCut() {
        let script = WorldScript { $0.limits.whoMatches = 2 }
        let ana = script.client("ana")
        for nick in ["bo", "cy"] { _ = script.client(nick) }
        let lines = ana.ask("WHO *")
        #expect(lines.count == 4)
        #expect(lines[2] == ":parley.test 416 ana WHO :Too many matches; the first 2 were told")
    }

    @Test func aLongLineIsCutAtItsName() {
        let script = WorldScript { $0.limits.realnameLength = 600 }
        let ana = script.connect()
        ana.send("NICK ana")
        ana.send("USER ana 0 * :\(String(repeating: "é", count: 300))")
        let line = ana.ask("WHO ana")[0]
        #expect(line.utf8.count <= 510 && line.utf8.count >= 508)
        #expect(line.hasSuffix("é"))
    }
}
