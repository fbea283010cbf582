import Bytes
import Chat
import TestKit
import Testing

@Suite struct RegistrationTests {
    private func numerics(_ lines: [String]) -> [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 1 && words[1].count == 3 && words[1].allSatisfy(\.isNumber) ? String(words[1]) : nil
        }
    }

    private func isWelcomed(_ lines: [String]) -> Bool { numerics(lines).contains("001") }

    // MARK: Clients

    @Test(arguments: [["NICK ana", "USER u 0 * :Ana"], ["USER u 0 * :Ana", "NICK ana"]])
    func aClientIsWelcomedWithTheWholeBurst(lines: [String]) throws {
        let script = WorldScript { $0.motd = ["hello"] }
        let ana = script.connect(isTLS: true)
        for line in lines { ana.send(line) }
        let burst = ana.read()
        let kinds = numerics(burst)
        #expect(kinds.prefix(4) == ["001", "002", "003", "004"])
        let motd = try #require(kinds.firstIndex(of: "375"))
        #expect(kinds[4..<motd].allSatisfy { $0.hasPrefix("0") || $0.hasPrefix("2") })
        #expect(kinds.suffix(3) == ["375", "372", "376"])
        #expect(burst.last == ":ana MODE ana :+Z")
        #expect(burst.allSatisfy { $0.utf8.count <= 510 })
    }

    @Test func aClientWaitsForTheEndOfNegotiation() {
        let script = WorldScript()
        let ana = script.connect()
        _ = ana.ask("CAP LS 302")
        #expect(ana.ask("NICK ana").isEmpty)
        #expect(ana.ask("USER u 0 * :Ana").isEmpty)
        script.advance(5_000)
        #expect(ana.read().isEmpty)
        #expect(isWelcomed(ana.ask("CAP END")))
        let bo = script.connect()
        bo.send("CAP LS")
        bo.send("CAP END")
        bo.send("NICK bo")
        #expect(isWelcomed(bo.ask("USER u 0 * :Bo")))
    }

    @Test func beforeItsNameAClientMayDoNothingElse() {
        let script = WorldScript()
        let ana = script.connect()
        _ = ana.ask("CAP LS 302")
        #expect(ana.ask("JOIN :") == [":parley.test 451 * :You have not registered"])
        #expect(numerics(ana.ask("JOIN #cats")) == ["451"])
        #expect(numerics(ana.ask("LIST")) == ["451"])
        #expect(ana.ask("PING x") == [":parley.test PONG parley.test :x"])
    }

    @Test(arguments: [
        ("USER u 0 * :", "461 ana USER :"), ("USER u 0 *", "461 ana USER :"), ("NICK :", "431 ana :"),
        ("NICK", "431 ana :"), ("NICK 9lives", "432 ana 9lives :"), ("NICK a,b", "432 ana a,b :"),
        ("NICK :a b", "432 ana a :"), ("NICK guest-abcde", "432 ana guest-abcde :"),
        ("NICK Guest-Abcde", "432 ana Guest-Abcde :"), ("PASS", "461 ana PASS :"), ("PING", "409 ana :"),
        ("CAP WHAT", "410 ana WHAT :"), ("CAP", "461 ana CAP :"),
    ])
    func oneErrorForEachMistake(line: String, expected: String) throws {
        let script = WorldScript()
        let ana = script.connect()
        ana.send("CAP LS 302")
        ana.send("NICK ana")
        let answer = ana.ask(line)
        try #require(answer.count == 1)
        #expect(answer[0].hasPrefix(":parley.test \(expected)"), "\(answer)")
    }

    /// Who negotiates capabilities may log in yet as who has the nick: it is refused at the end.
    @Test(arguments: ["taken", "TAKEN"])
    func aTakenNickIsRefusedOnce(nick: String) {
        let script = WorldScript()
        _ = script.client("taken")
        let ana = script.connect()
        #expect(
            ana.ask("NICK \(nick)") == [":parley.test 433 * \(nick) :Nickname is already in use. Type NICK anothername"]
        )
        let client = script.connect()
        client.send("CAP LS 302")
        _ = client.read()
        #expect(client.ask("NICK \(nick)").isEmpty)
        #expect(client.ask("USER u 0 * :Ana").isEmpty)
        #expect(client.ask("CAP END") == [":parley.test 433 * \(nick) :Nickname is already in use"])
        #expect(isWelcomed(client.ask("NICK ana")))
    }

    @Test func aNickCutToBeShownStaysText() {
        let script = WorldScript()
        let answer = script.client("ana").ask("NICK \(String(repeating: "a", count: 63))äö")
        #expect(answer[0].contains("432 ana \(String(repeating: "a", count: 63)) :"))
    }

    @Test func ofTwoWhoWantANickAtOnceOneGetsIt() {
        let script = WorldScript()
        let one = script.connect()
        let other = script.connect()
        one.send("NICK ana")
        other.send("NICK ana")
        #expect(isWelcomed(one.ask("USER u 0 * :One")))
        #expect(numerics(other.ask("USER u 0 * :Other")) == ["433"])
        #expect(isWelcomed(other.ask("NICK bo")))
    }

    @Test func nobodyRegistersTwice() {
        let script = WorldScript()
        let ana = script.client("ana")
        #expect(numerics(ana.ask("USER u 0 * :Again")) == ["462"])
        #expect(numerics(ana.ask("PASS again")) == ["462"])
    }

    @Test func theServersPasswordIsAsked() {
        let script = WorldScript { $0.password = "sesame" }
        let ana = script.connect()
        for line in ["PASS sesame", "NICK ana"] { ana.send(line) }
        #expect(isWelcomed(ana.ask("USER u 0 * :Ana")))
        let bo = script.connect()
        for line in ["PASS wrong", "NICK bo"] { bo.send(line) }
        let refused = bo.ask("USER u 0 * :Bo")
        #expect(numerics(refused) == ["464"])
        #expect(refused.last?.hasPrefix("ERROR :") == true)
        #expect(bo.isClosed)
        let cy = script.connect()
        cy.send("NICK cy")
        script.advance(300)
        #expect(cy.isClosed)
    }

    @Test func ownNickMayChangeItsCase() {
        let script = WorldScript()
        let ana = script.client("ana")
        #expect(ana.ask("NICK ana").isEmpty)
        #expect(ana.ask("NICK Ana") == [":ana!ana@host.test NICK :Ana"])
        #expect(script.client("bo").ask("PRIVMSG ANA :hi").isEmpty)
        #expect(ana.read().last == ":bo!bo@host.test PRIVMSG Ana :hi")
        #expect(ana.ask("NICK eva") == [":Ana!ana@host.test NICK :eva"])
        #expect(isWelcomed(WorldScript().connect().ask("PING x")) == false)
        let next = script.connect()
        next.send("NICK ana")
        #expect(isWelcomed(next.ask("USER u 0 * :Next")))
    }

    /// A program that waits for PONG before it says USER is not taken for a person; what it says next settles it.
    @Test func whoPingsAfterItsNickIsWaitedFor() {
        let script = WorldScript()
        let (client, person) = (script.connect(), script.connect())
        for (session, nick) in [(client, "ana"), (person, "bo")] {
            session.send("NICK \(nick)")
            #expect(session.ask("PING x").last == ":parley.test PONG parley.test :x")
        }
        let third = script.connect()
        third.send("NICK di")
        #expect(third.ask("PING x").count == 1)
        #expect(!isWelcomed(third.ask("QUIT")))
        script.advance(30_000)
        #expect(script.client("cy").ask("LUSERS").contains(":parley.test 253 cy 2 :unknown connection(s)"))
        #expect(isWelcomed(client.ask("USER u 0 * :Ana")))
        #expect(isWelcomed(person.ask("JOIN #cats")))
    }

    @Test func nicksOfASCIIAloneWhereTheOperatorWantsThat() {
        let ana = WorldScript { $0.allowsUnicodeNicks = false }.client("ana")
        let answer = ana.ask("NICK zoë")
        #expect(answer.count == 1 && answer[0].hasPrefix(":parley.test 432 ana zoë :Erroneous nickname: only ASCII"))
        #expect(ana.ask("NICK zoe") == [":ana!ana@host.test NICK :zoe"])
    }

    @Test func aSilentClientIsClosed() {
        let script = WorldScript()
        let ana = script.connect()
        ana.send("CAP LS 302")
        script.advance(61_000)
        #expect(ana.isClosed)
        #expect(ana.read().last?.hasPrefix("ERROR :") == true)
    }

    @Test func aSilentClientIsPingedAndThenClosed() {
        let script = WorldScript()
        let ana = script.client("ana")
        script.advance(121_000)
        #expect(ana.read() == ["PING :parley.test"])
        ana.send("PONG parley.test")
        script.advance(119_000)
        #expect(!ana.isClosed)
        script.advance(300_000)
        #expect(ana.isClosed)
    }

    @Test func pongFitsIntoALine() {
        let answer = WorldScript().client("ana").ask("PING \(String(repeating: "x", count: 505))")
        #expect(answer[0].utf8.count <= 510)
        #expect(answer[0].contains(String(repeating: "x", count: 450)))
    }

    // MARK: CAP

    @Test func capLsTellsValuesToWhoKnowsThem() {
        let script = WorldScript()
        let old = script.connect().ask("CAP LS")
        #expect(old.count == 1)
        #expect(!old[0].contains("="))
        #expect(old[0].hasPrefix(":parley.test CAP * LS :"))
        let new = script.connect().ask("CAP LS 302")
        #expect(new.contains { $0.contains("sasl=PLAIN") })
        #expect((old + new).allSatisfy { $0.utf8.count <= 510 })
    }

    @Test func capReqIsAllOrNothing() {
        let script = WorldScript()
        let ana = script.connect()
        #expect(ana.ask("CAP LIST") == [":parley.test CAP * LIST :"])
        #expect(ana.ask("CAP REQ :foo multi-prefix bar") == [":parley.test CAP * NAK :foo multi-prefix bar"])
        #expect(ana.ask("CAP LIST") == [":parley.test CAP * LIST :"])
        #expect(ana.ask("CAP REQ :multi-prefix setname") == [":parley.test CAP * ACK :multi-prefix setname"])
        #expect(ana.ask("CAP REQ :-setname") == [":parley.test CAP * ACK :-setname"])
        #expect(ana.ask("CAP LIST") == [":parley.test CAP * LIST :multi-prefix"])
        #expect(ana.ask("CAP REQ :-multi-prefix multi-prefix -multi-prefix").count == 1)
        #expect(ana.ask("CAP LIST") == [":parley.test CAP * LIST :"])
        #expect(ana.ask("CAP REQ :Multi-Prefix")[0].contains(" NAK "))
    }

    @Test func capNotifyStaysWith302() {
        let ana = WorldScript().connect()
        _ = ana.ask("CAP LS 302")
        #expect(ana.ask("CAP REQ :-cap-notify")[0].contains(" NAK "))
        #expect(ana.ask("CAP LIST") == [":parley.test CAP * LIST :cap-notify"])
    }

    @Test func longCapListsFit() {
        let ana = WorldScript().connect()
        let granted = ana.ask("CAP REQ :" + String(repeating: "setname ", count: 62))
        #expect(granted.count == 2)
        #expect(granted.allSatisfy { $0.utf8.count <= 510 && $0.contains(" ACK ") })
        let refused = ana.ask("CAP REQ :" + String(repeating: "unknown ", count: 62))
        #expect(refused.count == 1)
        #expect(refused[0].utf8.count <= 510)
        #expect(refused[0].contains(String(repeating: "unknown ", count: 13)))
    }

    @Test func capAfterRegistration() {
        let ana = WorldScript().client("ana")
        #expect(ana.ask("CAP REQ :server-time") == [":parley.test CAP ana ACK :server-time"])
        #expect(ana.ask("CAP END").isEmpty)
        #expect(ana.ask("CAP LIST") == [":parley.test CAP ana LIST :server-time"])
    }

    // MARK: Flood control

    @Test func aFloodIsSlowedAndNothingIsLost() {
        let script = WorldScript {
            $0.flood.enabled = true
            $0.flood.burst = 5
            $0.flood.rate = 10
        }
        let ana = script.client("ana")
        _ = ana.ask("JOIN #cats")
        var said = 0
        var pauses = 0
        while said < 40 {
            if script.world.isInputBlocked(ana.id) {
                pauses += 1
                script.advance(100)
                continue
            }
            ana.send("PRIVMSG #cats :line \(said)")
            said += 1
        }
        #expect(pauses > 10)
        #expect(script.log.count(where: \.kind.isMessage) == 40)
        script.advance(1_000)
        let isBlocked = script.world.isInputBlocked(ana.id)
        #expect(!isBlocked)
        #expect(!ana.isClosed)
    }

    @Test func aNetworkHasItsShareOfMessages() {
        let script = WorldScript {
            $0.flood.enabled = true
            $0.flood.networkBurst = 10
            $0.flood.networkRate = 1
        }
        func connect(_ network: UInt64) -> ScriptClient {
            let client = script.connect(network: network)
            client.send("JOIN #c")
            return client
        }
        let (ana, bo, cy, free) = (connect(1), connect(1), connect(2), connect(0))
        for _ in 0..<4 {
            for client in [ana, bo, cy, free] { client.send("PRIVMSG #c :x") }
        }
        for client in [ana, bo, cy, free] {
            let isBlocked = script.world.isInputBlocked(client.id)
            #expect(!isBlocked)
        }
        ana.send("PRIVMSG #c :x")
        bo.send("PRIVMSG #c :x")
        cy.send("PRIVMSG #c :x")
        let blocked = [ana, bo, cy, free].map { client in script.world.isInputBlocked(client.id) }
        #expect(blocked == [true, true, false, false])
        script.advance(3_000)
        let isBlocked = script.world.isInputBlocked(bo.id)
        #expect(!isBlocked)
    }

    @Test func whoComesByAGatewayCountsForTheirOwnNetwork() {
        let script = WorldScript {
            $0.gateways = [GatewaySettings(name: "web", hash: "hash:secret", hosts: ["192.0.2."])]
        }
        let client = script.connect()
        client.send("WEBIRC secret web host.example 198.51.100.7")
        client.send("NICK ana")
        #expect(script.moves.map(\.address) == ["198.51.100.7"] && script.moves[0].connection == client.id)
    }

    @Test func modesThatEverybodyHasAtFirst() {
        let script = WorldScript { $0.userModes = [.invisible, .wallops] }
        let ana = script.connect()
        for line in ["NICK ana", "USER u 0 * :Ana"] { ana.send(line) }
        #expect(ana.read().last == ":ana MODE ana :+iw")
        #expect(ana.ask("LUSERS")[0].contains("0 users and 1 invisible"))
        #expect(ana.ask("MODE ana -iw") == [":ana!u@host.test MODE ana :-iw"])
    }
}
