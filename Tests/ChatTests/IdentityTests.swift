import Bytes
import Chat
import TestKit
import Testing

@Suite struct IdentityTests {
    private func token(_ client: ScriptClient) -> String {
        let note = client.ask("IDENTITY TOKEN").first { $0.contains("NOTE IDENTITY TOKEN ") } ?? ""
        return note.split(separator: " ").dropFirst(4).first.map(String.init) ?? ""
    }

    private func uid(_ client: ScriptClient) -> String {
        let note = client.ask("IDENTITY").first { $0.contains("NOTE IDENTITY u") } ?? ""
        return note.split(separator: " ").dropFirst(3).first.map(String.init) ?? ""
    }

    private func returning(
        _ script: WorldScript, _ token: String, nick: String?, capabilities: String = ""
    ) -> ScriptClient {
        let client = script.connect()
        if !capabilities.isEmpty { client.send("CAP REQ :\(capabilities)") }
        client.send("PASS guest:\(token)")
        if let nick {
            client.send("NICK \(nick)")
            client.send("USER u 0 * :Back")
        }
        if !capabilities.isEmpty { client.send("CAP END") }
        return client
    }

    private func base64(_ text: String) -> String { Base64.encode(Array(text.utf8)).string }

    @Test func theTokenIsToldOnce() throws {
        let script = WorldScript { $0.showGuestToken = true }
        let ana = script.connect()
        ana.send("NICK ana")
        script.advance(300)
        let told = try #require(ana.read().first { $0.contains("PASS guest:") })
        let token = try #require(told.split(separator: "PASS guest:")[1].split(separator: " ").first)
        #expect(told.utf8.count <= 510)
        #expect(token.hasPrefix("u"))
        ana.send("QUIT")
        let back = returning(script, String(token), nick: "ana")
        #expect(!back.read().contains { $0.contains("guest:") })
        #expect(token.hasPrefix(uid(back)))
    }

    @Test func identityTellsWhoOneIs() {
        let script = WorldScript()
        let ana = script.client("ana")
        let uid = uid(ana)
        #expect(uid.count == 13)
        #expect(
            ana.ask("IDENTITY") == [
                ":parley.test NOTE IDENTITY \(uid) * 1 :You are ana, a guest, with 1 session"
            ])
        #expect(ana.ask("IDENTITY WHAT")[0].contains("FAIL IDENTITY INVALID_PARAMS WHAT :"))
        #expect(ana.ask("IDENTITY RESUME")[0].contains(" 461 ana IDENTITY :"))
        let nobody = script.connect()
        nobody.send("CAP LS")
        _ = nobody.read()
        #expect(nobody.ask("IDENTITY")[0].contains(" 451 "))
    }

    @Test func aGuestComesBackWithNickChannelsAndRanks() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = ana.ask("JOIN #mine,#other")
        _ = bo.ask("JOIN #mine")
        let token = token(ana)
        let uid = uid(ana)
        ana.send("PART #other")
        ana.send("QUIT")
        _ = bo.read()
        let back = returning(script, token, nick: "ana")
        let lines = back.read()
        #expect(lines.first?.contains(" 001 ana ") == true)
        #expect(lines.contains(":ana!u@host.test JOIN #mine"))
        #expect(!lines.contains { $0.contains("#other") })
        #expect(lines.contains { $0.contains(" 353 ana = #mine :") && $0.contains("@ana") })
        #expect(self.uid(back) == uid)
        let seen = bo.read()
        #expect(seen.contains(":ana!u@host.test JOIN #mine"))
        #expect(seen.contains(":parley.test MODE #mine +o ana"))
    }

    @Test func aNickThatIsTakenMeanwhileIsReplaced() {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #cats")
        let token = token(ana)
        ana.send("QUIT")
        _ = script.client("ana")
        let person = returning(script, token, nick: nil)
        let lines = person.ask("JOIN #dogs")
        #expect(lines.first?.contains(" 001 guest-") == true)
        #expect(lines.contains { $0.hasSuffix(" JOIN #cats") })
        #expect(lines.contains { $0.hasSuffix(" JOIN #dogs") })
    }

    @Test func aTokenAloneIsEnoughForAPerson() {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #cats")
        let token = token(ana)
        ana.send("QUIT")
        let person = returning(script, token, nick: nil)
        script.advance(300)
        #expect(person.read().first?.contains(" 001 ana ") == true)
        person.send("QUIT")
        let last = returning(script, token, nick: nil)
        script.apply(.inputEnded(last.id))
        #expect(last.read().first?.contains(" 001 ana ") == true)
    }

    @Test func theNickThatTheServerGaveComesBackToo() {
        let script = WorldScript()
        let guest = script.connect()
        let joined = guest.ask("JOIN #cats")
        let nick = joined[0].split(separator: " ")[2]
        let token = token(guest)
        guest.send("QUIT")
        #expect(returning(script, token, nick: String(nick)).read().first?.contains(" 001 \(nick) ") == true)
    }

    @Test func wrongTokensAreRefusedAndThrottled() {
        let script = WorldScript()
        let ana = script.client("ana")
        let token = token(ana)
        let wrong = String(token.dropLast()) + (token.hasSuffix("0") ? "1" : "0")
        let client = returning(script, wrong, nick: nil)
        let lines = client.read()
        #expect(lines.first?.contains(" 464 * :") == true)
        #expect(lines.last?.hasPrefix("ERROR :") == true)
        #expect(client.isClosed)
        #expect(ana.ask("IDENTITY RESUME \(wrong)")[0].contains("FAIL IDENTITY INVALID_TOKEN :"))
        #expect(ana.ask("IDENTITY RESUME x.y.z")[0].contains("FAIL IDENTITY INVALID_TOKEN :"))
        for _ in 0..<10 { _ = ana.ask("IDENTITY RESUME \(wrong)") }
        let other = script.client("bo")
        #expect(other.ask("IDENTITY RESUME \(token)")[0].contains("Too many wrong passwords or tokens"))
        script.advance(61_000)
        #expect(other.ask("IDENTITY RESUME \(token)").last?.contains("NOTE IDENTITY u") == true)
        #expect(!script.notes.contains { $0.text.string.contains(wrong) }, "tokens are never logged")
    }

    @Test func revokeVoidsEarlierTokens() {
        let script = WorldScript()
        let ana = script.client("ana")
        let old = token(ana)
        #expect(ana.ask("IDENTITY REVOKE")[0].contains("NOTE IDENTITY TOKEN "))
        let new = token(ana)
        #expect(new != old)
        ana.send("QUIT")
        #expect(returning(script, old, nick: nil).isClosed)
        #expect(returning(script, new, nick: "ana").read().first?.contains(" 001 ana ") == true)
    }

    @Test func resumeTurnsOneIntoAnother() {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #cats")
        let token = token(ana)
        let uid = uid(ana)
        ana.send("QUIT")
        let bo = script.client("bo")
        let witness = script.client("cy")
        _ = bo.ask("JOIN #dogs")
        _ = witness.ask("JOIN #dogs,#cats")
        let lines = bo.ask("IDENTITY RESUME \(token)")
        #expect(
            lines.prefix(3) == [
                ":bo!bo@host.test PART #dogs :Became another identity", ":bo NICK :ana", ":ana!bo@host.test JOIN #cats",
            ])
        #expect(lines.last?.contains("NOTE IDENTITY \(uid) * 1 :You are ana") == true)
        let seen = witness.read()
        #expect(seen.first == ":bo!bo@host.test QUIT :Became another identity")
        #expect(seen.dropFirst().first == ":ana!bo@host.test JOIN #cats")
        #expect(bo.ask("IDENTITY RESUME \(token)").first?.contains("already") == true)
        // Before registration it is a way in for a person.
        bo.send("QUIT")
        let person = script.connect()
        #expect(person.ask("IDENTITY RESUME \(token)").first?.contains(" 001 ana ") == true)
    }

    // MARK: Several sessions

    @Test func sessionsOfOneIdentityAreOneUser() {
        let script = WorldScript()
        let one = script.client("ana", capabilities: "echo-message")
        let bo = script.client("bo")
        _ = bo.ask("JOIN #cats")
        _ = one.ask("JOIN #cats")
        let token = token(one)
        _ = bo.read()
        let two = returning(script, token, nick: "ana", capabilities: "echo-message")
        let shown = two.read()
        #expect(shown.contains { $0.contains(" 001 ana ") })
        #expect(shown.contains(":ana!ana@host.test JOIN #cats"))
        #expect(shown.contains { $0.contains(" 366 ana #cats ") })
        #expect(bo.read().isEmpty, "nobody came")
        #expect(one.ask("IDENTITY")[0].contains(" * 2 :"))

        two.send("PRIVMSG #cats :from two")
        #expect(one.read() == [":ana!ana@host.test PRIVMSG #cats :from two"])
        one.send("PRIVMSG bo :to you")
        #expect(two.read().last == ":ana!ana@host.test PRIVMSG bo :to you")
        bo.send("PRIVMSG ana :to both")
        #expect(one.read().last == ":bo!bo@host.test PRIVMSG ana :to both")
        #expect(two.read().last == ":bo!bo@host.test PRIVMSG ana :to both")
        two.send("JOIN #dogs")
        #expect(one.read().first == ":ana!ana@host.test JOIN #dogs")
        one.send("NICK eva")
        #expect(two.read().last == ":ana!ana@host.test NICK :eva")

        _ = bo.read()
        one.send("QUIT")
        #expect(bo.read().isEmpty)
        two.drop()
        #expect(bo.read() == [":eva!ana@host.test QUIT :Connection reset"])
    }

    @Test func aGuestThatKeptNothingIsCalledAsBefore() {
        let script = WorldScript()
        let ana = script.client("ana")
        let token = token(ana)
        ana.send("QUIT")
        #expect(script.identities.isEmpty, "nothing of it is stored")
        let back = returning(script, token, nick: nil)
        script.advance(300)
        #expect(back.read().contains { $0.contains(" 001 ana ") })
        back.send("QUIT")
        _ = script.client("ana")
        let second = returning(script, token, nick: nil)
        script.advance(300)
        #expect(second.read().contains { $0.contains(" 001 guest-") }, "somebody else has the nick")
    }

    @Test func manyThatProvedAtOnceAreNotMoreThanTheLimit() {
        let script = WorldScript { $0.limits.sessionsPerIdentity = 2 }
        let ana = script.client("ana")
        let token = token(ana)
        let waiting = (0..<3).map { _ in
            let client = script.connect()
            client.send("CAP LS 302")
            client.send("PASS guest:\(token)")
            client.send("NICK ana")
            client.send("USER u 0 * :Ana")
            return client
        }
        for client in waiting { client.send("CAP END") }
        #expect(waiting.map(\.isClosed) == [false, true, true])
        #expect(waiting[1].read().last == "ERROR :This identity has 2 sessions already")
        #expect(ana.ask("IDENTITY")[0].contains(" * 2 :"))
    }

    @Test func everySessionIsToldWhatAnotherOneSaid() {
        let script = WorldScript()
        let one = script.client("ana")
        let bo = script.client("bo")
        let token = token(one)
        let two = returning(script, token, nick: "ana")
        let person = returning(script, token, nick: nil)
        script.advance(300)
        _ = (two.read(), person.read(), bo.read())
        one.send("PRIVMSG bo :hi")
        #expect(two.read() == [":ana!ana@host.test PRIVMSG bo :hi"])
        #expect(person.read() == [":ana!ana@host.test PRIVMSG bo :hi"])
    }

    @Test func anotherNickRenamesBeforeTheWelcome() {
        let script = WorldScript()
        let one = script.client("ana")
        let token = token(one)
        let two = returning(script, token, nick: "eva")
        #expect(two.read().first?.contains(" 001 eva ") == true)
        #expect(one.read() == [":ana!ana@host.test NICK :eva"])
    }

    @Test func sessionsOfAnIdentityAreLimited() {
        let script = WorldScript { $0.limits.sessionsPerIdentity = 2 }
        let one = script.client("ana")
        let token = token(one)
        #expect(returning(script, token, nick: "ana").read().first?.contains(" 001 ") == true)
        #expect(returning(script, token, nick: nil).isClosed)
    }

    // MARK: SASL

    private func negotiating(_ script: WorldScript) -> ScriptClient {
        let client = script.connect()
        client.send("CAP LS 302")
        client.send("CAP REQ :sasl")
        _ = client.read()
        return client
    }

    @Test func saslPlainBringsAGuestBack() {
        let script = WorldScript()
        let ana = script.client("ana")
        _ = ana.ask("JOIN #cats")
        let token = token(ana)
        let uid = uid(ana)
        ana.send("QUIT")
        for authorization in ["", uid] {
            let client = negotiating(script)
            #expect(client.ask("AUTHENTICATE PLAIN") == ["AUTHENTICATE +"])
            let answer = client.ask("AUTHENTICATE \(base64("\(authorization)\0\(uid)\0\(token)"))")
            #expect(answer == [":parley.test 903 * :SASL authentication successful"])
            client.send("NICK ana")
            client.send("USER u 0 * :Ana")
            #expect(client.ask("CAP END").first?.contains(" 001 ana ") == true)
            #expect(self.uid(client) == uid)
            client.send("QUIT")
        }
    }

    @Test func saslAnonymousMakesANewGuest() {
        let script = WorldScript()
        let client = negotiating(script)
        #expect(client.ask("AUTHENTICATE anonymous") == ["AUTHENTICATE +"])
        #expect(client.ask("AUTHENTICATE +")[0].contains(" 903 "))
        client.send("NICK ana")
        client.send("USER u 0 * :Ana")
        #expect(client.ask("CAP END").first?.contains(" 001 ana ") == true)
    }

    @Test func saslRefusesAndRegistrationGoesOn() {
        let script = WorldScript()
        let client = negotiating(script)
        #expect(client.ask("AUTHENTICATE FOO").map { $0.split(separator: " ")[1] } == ["908", "904"])
        let refused = [
            "!!!", base64("no parts"), base64("\0jilles\0sesame"), base64("other\0u000000000001\0u000000000001.0.x"),
            base64("\0u000000000001\0u000000000001.0.x"),
        ]
        for answer in refused {
            _ = client.ask("AUTHENTICATE PLAIN")
            #expect(client.ask("AUTHENTICATE \(answer)").map { $0.split(separator: " ")[1] } == ["904"])
        }
        _ = client.ask("AUTHENTICATE PLAIN")
        #expect(client.ask("AUTHENTICATE *").map { $0.split(separator: " ")[1] } == ["906"])
        _ = client.ask("AUTHENTICATE PLAIN")
        #expect(client.ask("AUTHENTICATE \(String(repeating: "A", count: 401))")[0].contains(" 905 "))
        client.send("NICK ana")
        client.send("USER u 0 * :Ana")
        #expect(client.ask("CAP END").first?.contains(" 001 ana ") == true)
        _ = client.ask("AUTHENTICATE ANONYMOUS")
        #expect(client.ask("AUTHENTICATE +")[0].contains(" 907 ana "))
    }

    @Test func saslInPartsOfFourHundred() {
        let client = negotiating(WorldScript())
        _ = client.ask("AUTHENTICATE PLAIN")
        #expect(client.ask("AUTHENTICATE \(String(repeating: "A", count: 400))").isEmpty)
        #expect(client.ask("AUTHENTICATE +")[0].contains(" 904 "))
    }
}
