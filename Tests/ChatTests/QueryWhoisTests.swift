import Bytes
import Chat
import TestKit
import Testing

@Suite struct QueryWhoisTests {
    private func script() -> WorldScript {
        WorldScript { $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "admin")] }
    }

    @Test func anotherUser() {
        let script = script()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = ana.ask("JOIN #cats,#dogs")
        _ = ana.ask("AWAY :lunch")
        script.advance(5000)
        let expected = [
            ":parley.test 311 bo ana ana host.test * :ana", ":parley.test 319 bo ana :@#cats @#dogs",
            ":parley.test 312 bo ana parley.test :Parley chat server",
            ":parley.test 317 bo ana 5 1780000000 :seconds idle, signon time", ":parley.test 301 bo ana :lunch",
            ":parley.test 318 bo ana :End of /WHOIS list",
        ]
        #expect(bo.ask("WHOIS ANA") == expected)
        #expect(bo.ask("WHOIS parley.test ana") == expected)
        #expect(bo.ask("WHOIS ana ana") == expected)
    }

    @Test func operatorsAndOneselfSeeAddresses() {
        let script = script()
        let ana = script.client("ana")
        let bo = script.client("bo")
        let own = ana.ask("WHOIS ana")
        #expect(own.contains(":parley.test 338 ana ana ana@host.test 192.0.2.1 :Is actually using host"))
        #expect(own.contains(":parley.test 379 ana ana :is using modes +"))
        #expect(!bo.ask("WHOIS ana").contains { $0.contains("192.0.2.1") })
        _ = bo.ask("OPER root pw")
        #expect(bo.ask("WHOIS ana").contains(":parley.test 338 bo ana ana@host.test 192.0.2.1 :Is actually using host"))
        #expect(ana.ask("WHOIS bo").contains(":parley.test 313 ana bo :is an IRC operator"))
    }

    @Test func aSecureConnectionIsTold() {
        let script = script()
        let ana = script.connect(isTLS: true)
        ana.send("NICK ana")
        ana.send("USER ana 0 * :Ana")
        let bo = script.client("bo")
        #expect(bo.ask("WHOIS ana").contains(":parley.test 671 bo ana :is using a secure connection"))
        #expect(!ana.ask("WHOIS bo").contains { $0.contains(" 671 ") })
    }

    @Test func whoIsAbsent() {
        let bo = script().client("bo")
        #expect(
            bo.ask("WHOIS ana") == [
                ":parley.test 401 bo ana :No such nick/channel", ":parley.test 318 bo ana :End of /WHOIS list",
            ])
        #expect(bo.ask("WHOIS") == [":parley.test 431 bo :No nickname given"])
        #expect(bo.ask("WHOIS :") == [":parley.test 431 bo :No nickname given"])
    }

    @Test func theUidIsForThoseWhoKnowOfIt() {
        let script = script()
        _ = script.client("ana")
        let bo = script.client("bo", capabilities: "parley.chat/uid")
        #expect(bo.ask("WHOIS ana").contains { $0.hasPrefix(":parley.test 320 bo ana :is the identity u") })
        #expect(!script.client("cy").ask("WHOIS ana").contains { $0.contains(" 320 ") })
        let person = script.connect()
        person.send("NICK dee")
        #expect(person.ask("WHOIS ana").contains { $0.hasPrefix(":parley.test 320 dee ana :is the identity u") })
        #expect(person.ask("WHOIS zed")[0].hasSuffix("No such nick/channel. WHO lists who is here, WHOWAS who was"))
    }

    @Test func manyChannelsTakeSeveralLines() {
        let script = script()
        let ana = script.client("ana")
        let names = (0..<20).map { "#\(String(repeating: "x", count: 50))\($0)" }
        for name in names { _ = ana.ask("JOIN \(name)") }
        let lines = script.client("bo").ask("WHOIS ana").filter { $0.contains(" 319 ") }
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.utf8.count <= 510 })
        let told = lines.flatMap { $0.split(separator: ":").last!.split(separator: " ") }.map { String($0.dropFirst()) }
        #expect(told == names)
    }

    @Test func whowasIsNewestFirst() {
        let script = script()
        let bo = script.client("bo")
        for user in ["one", "two", "three"] {
            let ana = script.connect()
            ana.send("NICK ana")
            ana.send("USER \(user) 0 * :Ana \(user)")
            ana.send("QUIT")
        }
        func entry(_ user: String) -> [String] {
            [
                ":parley.test 314 bo ana \(user) host.test * :Ana \(user)",
                ":parley.test 312 bo ana parley.test :Thu, 28 May 2026 20:26:40 +0000",
            ]
        }
        let end = [":parley.test 369 bo ana :End of WHOWAS"]
        let all = entry("three") + entry("two") + entry("one") + end
        #expect(bo.ask("WHOWAS ana") == all)
        #expect(bo.ask("WHOWAS ana 2") == entry("three") + entry("two") + end)
        for count in ["0", "-1", "many"] { #expect(bo.ask("WHOWAS ana \(count)") == all) }
        #expect(bo.ask("WHOWAS a*").count == 7)
        #expect(
            bo.ask("WHOWAS cy") == [
                ":parley.test 406 bo cy :There was no such nickname", ":parley.test 369 bo cy :End of WHOWAS",
            ])
        #expect(bo.ask("WHOWAS") == [":parley.test 431 bo :No nickname given"])
    }

    @Test func whowasIsBounded() {
        let script = WorldScript { $0.limits.whowas = 3 }
        let bo = script.client("bo")
        for _ in 0..<10 { script.client("ana").send("QUIT") }
        #expect(bo.ask("WHOWAS ana").filter { $0.contains(" 314 ") }.count == 3)
    }

    @Test func userhostAndIson() {
        let script = script()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = ana.ask("OPER root pw")
        _ = ana.ask("AWAY :lunch")
        #expect(bo.ask("USERHOST ana BO nobody") == [":parley.test 302 bo :ana*=-ana@host.test bo=+bo@host.test"])
        #expect(bo.ask("USERHOST nobody") == [":parley.test 302 bo :"])
        #expect(bo.ask("USERHOST") == [":parley.test 461 bo USERHOST :Not enough parameters"])
        #expect(bo.ask("USERHOST bo bo bo bo bo bo")[0].split(separator: " ").count == 8)
        #expect(bo.ask("ISON nobody ANA :bo cy") == [":parley.test 303 bo :ana bo"])
        #expect(bo.ask("ISON cy") == [":parley.test 303 bo :"])
    }
}
