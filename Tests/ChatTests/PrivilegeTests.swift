import Bytes
import Chat
import TestKit
import Testing

@Suite struct PrivilegeTests {
    private func script(_ privileges: Set<Privilege>, _ change: (inout Settings) -> Void = { _ in }) -> WorldScript {
        WorldScript {
            $0.operators = [
                OperatorSettings(name: "root", hash: "hash:pw"),
                OperatorSettings(name: "help", hash: "hash:pw", kind: "helper"),
            ]
            $0.operatorClasses = ["helper": privileges]
            change(&$0)
        }
    }

    @Test(arguments: [
        ("KILL bo :x", Privilege.kill), ("KLINE a@b :x", .kline), ("UNKLINE a@b", .kline),
        ("DLINE 192.0.2.99 :x", .dline),
        ("UNDLINE 192.0.2.99", .dline), ("RESV x", .resv), ("UNRESV x", .resv), ("SHUN a@b :x", .shun),
        ("UNSHUN a@b", .shun), ("LOCKDOWN off", .lockdown), ("REHASH", .rehash), ("WALLOPS :x", .wallops),
    ])
    func eachCommandNeedsItsOwn(_ line: String, _ privilege: Privilege) {
        for isGiven in [true, false] {
            let all = Set(Privilege.allCases)
            let script = script(isGiven ? [privilege] : all.subtracting([privilege]))
            let ana = script.client("ana")
            _ = script.client("bo")
            _ = ana.ask("OPER help pw")
            let before = script.notes.count
            let answer = ana.ask(line)
            let refusal = ":parley.test 723 ana \(privilege.rawValue) :Insufficient oper privileges."
            #expect(answer.contains(refusal) != isGiven, "\(answer)")
            let isNoted = script.notes.dropFirst(before).contains { $0.text.string.hasPrefix("operator ana (") }
            #expect(isNoted == (isGiven && !line.hasPrefix("UN")))
        }
    }

    @Test func addressesAreForWhoMaySeeThem() {
        for isGiven in [true, false] {
            let script = script(isGiven ? [.seeAddresses] : [])
            let ana = script.client("ana")
            _ = script.client("bo")
            _ = ana.ask("OPER help pw")
            #expect(ana.ask("WHOIS bo").contains { $0.contains(" 338 ana bo bo@host.test 192.0.2.1 ") } == isGiven)
        }
    }

    @Test func channelsOfOthersAreDroppedByWhoMay() {
        let script = script([.drop])
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = bo.ask("JOIN #cats")
        _ = ana.ask("OPER help pw")
        #expect(ana.ask("DROP #cats").contains { $0.contains(" DROPPED ") })
        #expect(script.notes.last?.text.string.hasSuffix("dropped #cats") == true)
        let other = self.script([])
        let eve = other.client("eve")
        _ = other.client("bo").ask("JOIN #cats")
        _ = eve.ask("OPER help pw")
        #expect(eve.ask("DROP #cats")[0].contains(" 482 "))
    }

    @Test func aReloadChangesWhatAClassMay() {
        let script = script([.rehash])
        let ana = script.client("ana")
        _ = ana.ask("OPER help pw")
        #expect(ana.ask("REHASH")[0].contains(" 382 "))
        var settings = script.world.settings
        settings.operatorClasses = [:]
        script.apply(.reloaded(settings))
        #expect(ana.ask("REHASH") == [":parley.test 723 ana rehash :Insufficient oper privileges."])
    }

    // MARK: Lockdown

    @Test func nobodyNewComesInButWhoHasAToken() throws {
        let script = script([])
        let ana = script.client("ana")
        let bo = script.client("bo")
        let line = try #require(bo.ask("IDENTITY TOKEN").first { $0.contains("IDENTITY TOKEN ") })
        let token = try #require(line.split(separator: " ").first { $0.contains(".0.") })
        bo.send("QUIT")
        _ = ana.ask("OPER root pw")
        #expect(ana.ask("LOCKDOWN new") == [":parley.test NOTICE ana :LOCKDOWN is new now"])
        let eve = script.connect()
        eve.send("NICK eve")
        let refused = eve.ask("USER eve 0 * :Eve")
        let text = "This server lets nobody new in at the moment; come back later"
        #expect(refused == [":parley.test 465 eve :\(text)", "ERROR :Closing link: \(text)"])
        #expect(eve.isClosed)
        let person = script.connect()
        person.send("NICK eve")
        #expect(person.ask("JOIN #cats").last == "ERROR :Closing link: \(text)")
        let back = script.connect()
        back.send("PASS guest:\(token)")
        back.send("NICK bo")
        #expect(back.ask("USER bo 0 * :bo")[0].hasPrefix(":parley.test 001 bo "))
        #expect(ana.ask("LOCKDOWN") == [":parley.test NOTICE ana :LOCKDOWN is new"])
        _ = ana.ask("LOCKDOWN OFF")
        #expect(!script.client("eve").isClosed)
        #expect(ana.ask("LOCKDOWN x") == [":parley.test FAIL LOCKDOWN INVALID_PARAMS x :Choose off, new or accounts"])
    }

    @Test func onlyAccountsJoin() {
        let script = script([])
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = bo.ask("JOIN #cats")
        _ = ana.ask("OPER root pw")
        _ = ana.ask("LOCKDOWN accounts")
        let text = "Cannot join channel: only accounts may join while the server is locked down"
        #expect(bo.ask("JOIN #dogs") == [":parley.test 477 bo #dogs :\(text)"])
        #expect(bo.ask("JOIN #cats").isEmpty)
        #expect(script.client("eve").ask("JOIN #cats") == [":parley.test 477 eve #cats :\(text)"])
        #expect(ana.ask("JOIN #cats")[0].hasSuffix(" JOIN #cats"))
        bo.send("PRIVMSG #cats :still here")
        #expect(ana.read().last == ":bo!bo@host.test PRIVMSG #cats :still here")
        _ = ana.ask("LOCKDOWN off")
        #expect(bo.ask("JOIN #dogs")[0].hasSuffix(" JOIN #dogs"))
    }

    // MARK: LIST

    @Test func freshGuestsWaitForTheList() {
        let script = script([]) { $0.limits.listDelay = 30_000 }
        let ana = script.client("ana")
        let visitor = script.connect()
        script.advance(10_500)
        let refusal = "263 ana LIST :Please wait a while and try again: guests get the list in 20 s"
        #expect(ana.ask("LIST") == [":parley.test \(refusal)"])
        #expect(visitor.ask("LIST").count == 1)
        script.advance(19_500)
        #expect(ana.ask("LIST").count == 2 && visitor.ask("LIST").count == 2)
        let root = script.client("root")
        #expect(root.ask("LIST").count == 1)
        _ = root.ask("OPER root pw")
        #expect(root.ask("LIST").count == 2)
    }
}
