import Bytes
import Chat
import TestKit
import Testing

@Suite struct OperatorTests {
    private func script() -> WorldScript {
        WorldScript {
            $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "admin")]
            $0.limits.failedAttempts = 3
        }
    }

    @Test func theRightPasswordMakesAnOperator() {
        let script = script()
        let ana = script.client("ana")
        #expect(
            ana.ask("OPER root pw") == [
                ":parley.test 381 ana :You are now an IRC operator", ":ana!ana@host.test MODE ana :+o",
            ])
        #expect(ana.ask("LUSERS")[1] == ":parley.test 252 ana 1 :operator(s) online")
        ana.send("QUIT")
        #expect(script.client("bo").ask("LUSERS")[1] == ":parley.test 252 bo 0 :operator(s) online")
        #expect(script.notes.contains { $0.text.string.contains("is operator root now, from 192.0.2.1") })
        #expect(!script.notes.contains { $0.text.string.contains("pw") })
    }

    @Test(arguments: ["root wrong", "nobody pw"])
    func aWrongOneDoesNot(_ words: String) {
        let script = script()
        let ana = script.client("ana")
        for _ in 0..<3 { #expect(ana.ask("OPER \(words)") == [":parley.test 464 ana :Password incorrect"]) }
        // The right one is not heard any more.
        let throttled = [":parley.test 464 ana :Password incorrect: too many tries; wait a minute"]
        #expect(ana.ask("OPER root pw") == throttled)
        #expect(script.notes.filter { $0.text.string.hasPrefix("wrong OPER") }.count == 3)
        #expect(!script.notes.contains { $0.text.string.contains("nobody") })
        script.advance(61_000)
        #expect(ana.ask("OPER root pw")[0] == ":parley.test 381 ana :You are now an IRC operator")
    }

    @Test func withoutOperatorsThereIsNoWay() {
        let ana = WorldScript().client("ana")
        #expect(
            ana.ask("OPER root pw") == [
                ":parley.test 491 ana :No O-lines for your host: this server has no operators"
            ])
        #expect(ana.ask("OPER root") == [":parley.test 461 ana OPER :Not enough parameters"])
    }

    @Test func inputWaitsForTheHasher() {
        let script = script()
        let ana = script.client("ana", capabilities: "labeled-response batch")
        script.isHasherSlow = true
        #expect(ana.ask("@label=x OPER root pw").isEmpty)
        let isBlocked = script.world.isInputBlocked(ana.id)
        #expect(isBlocked)
        script.isHasherSlow = false
        script.apply(.tick)
        let isBlockedStill = script.world.isInputBlocked(ana.id)
        #expect(!isBlockedStill)
        let answer = ana.read()
        #expect(answer.count == 4)
        #expect(answer[0].hasPrefix("@label=x :parley.test BATCH +"))
        #expect(answer[1].hasSuffix(" 381 ana :You are now an IRC operator"))
    }

    @Test func aClosedSessionGetsNoAnswer() {
        let script = script()
        let ana = script.client("ana")
        script.isHasherSlow = true
        ana.send("OPER root pw")
        ana.drop()
        script.isHasherSlow = false
        script.apply(.tick)
        #expect(ana.read().isEmpty)
    }

    @Test func aBusyHasherAsksToTryAgain() {
        let script = script()
        let ana = script.client("ana")
        script.isHasherBusy = true
        #expect(ana.ask("OPER root pw") == [":parley.test 263 ana OPER :Please wait a while and try again."])
    }

    @Test(arguments: ["KILL bo :x", "KILL ana :x", "WALLOPS :x", "REHASH", "KILL"])
    func othersMayNot(_ line: String) {
        let script = script()
        let ana = script.client("ana")
        let bo = script.client("bo")
        #expect(ana.ask(line) == [":parley.test 481 ana :Permission Denied - You're not an IRC operator"])
        #expect(!bo.isClosed && !ana.isClosed)
        #expect(script.reloads == 0)
    }

    @Test func killClosesWithItsReason() {
        let script = script()
        let ana = script.client("ana")
        let bo = script.client("bo")
        let cy = script.client("cy")
        _ = bo.ask("JOIN #cats")
        _ = cy.ask("JOIN #cats")
        _ = ana.ask("OPER root pw")
        _ = bo.read()
        #expect(ana.ask("KILL BO :spam").isEmpty)
        #expect(
            bo.read() == [":ana!ana@host.test KILL bo :spam", "ERROR :Closing link: Killed (ana (spam))"])
        #expect(bo.isClosed)
        #expect(cy.read().last == ":bo!bo@host.test QUIT :Killed (ana (spam))")
        #expect(script.notes.contains { $0.text.string.contains("killed bo") })
        #expect(ana.ask("KILL bo :again") == [":parley.test 401 ana bo :No such nick/channel"])
        #expect(ana.ask("KILL parley.test :x") == [":parley.test 483 ana :You can't kill a server!"])
        #expect(ana.ask("KILL") == [":parley.test 461 ana KILL :Not enough parameters"])
        #expect(ana.ask("KILL ana").last == "ERROR :Closing link: Killed (ana (no reason given))")
        #expect(ana.isClosed)
    }

    @Test func rehashAsksForTheConfiguration() {
        let script = script()
        let ana = script.client("ana")
        _ = ana.ask("OPER root pw")
        #expect(ana.ask("REHASH") == [":parley.test 382 ana parley.toml :Rehashing"])
        #expect(script.reloads == 1)
        #expect(script.notes.last?.text.string.contains("configuration") == true)
    }
}
