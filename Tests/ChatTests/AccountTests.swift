import Bytes
import Chat
import TestKit
import Testing

/// What the account tests say again and again.
extension WorldScript {
    static let password = "correct-horse"

    /// A client that registered an account named as its nick, and is still there.
    func registered(_ nick: String, capabilities: String = "") -> ScriptClient {
        let client = client(nick, capabilities: capabilities)
        client.send("REGISTER * * \(Self.password)")
        _ = client.read()
        return client
    }

    /// A client that came in by SASL PLAIN.
    func loggedIn(_ account: String, nick: String? = nil, capabilities: String = "") -> ScriptClient {
        let client = connect()
        client.send("CAP REQ :sasl \(capabilities)")
        client.plain(account, Self.password)
        client.send("NICK \(nick ?? account)")
        client.send("USER u 0 * :\(account)")
        client.send("CAP END")
        return client
    }
}

extension ScriptClient {
    func plain(_ account: String, _ password: String) {
        send("AUTHENTICATE PLAIN")
        send("AUTHENTICATE \(Base64.encode(Array("\0\(account)\0\(password)".utf8)))")
    }

    func numerics(_ line: String) -> [String] {
        ask(line).map { String($0.split(separator: " ").dropFirst().first ?? "") }
    }
}

@Suite struct AccountTests {
    @Test func registeringKeepsWhoOneIs() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo", capabilities: "account-notify")
        _ = ana.ask("JOIN #cats")
        _ = bo.ask("JOIN #cats")
        let uid = ana.ask("IDENTITY")[0].split(separator: " ")[3]
        #expect(
            ana.ask("REGISTER * * correct-horse") == [
                ":parley.test REGISTER SUCCESS ana :Account created; you are logged in as ana",
                ":parley.test 900 ana ana!ana@host.test ana :You are now logged in as ana",
            ])
        #expect(bo.read() == [":ana!ana@host.test ACCOUNT ana"])
        #expect(ana.ask("IDENTITY")[0].contains("NOTE IDENTITY \(uid) ana 1 :You are ana, an account"))
        ana.send("QUIT")
        let back = script.loggedIn("ana")
        let lines = back.read()
        #expect(lines.contains(":parley.test 900 * *!*@host.test ana :You are now logged in as ana"))
        #expect(lines.contains(":ana!u@host.test JOIN #cats"))
        #expect(lines.contains { $0.contains(" 353 ana = #cats :") && $0.contains("@ana") })
        #expect(back.ask("IDENTITY")[0].contains(" \(uid) ana "))
    }

    @Test func everyRefusalHasItsCode() {
        let script = WorldScript { $0.accounts.registrationsPerHour = 100 }
        _ = script.registered("ana")
        _ = script.client("root")
        let bo = script.client("bo")
        func code(_ line: String) -> String {
            let words = bo.ask(line).first?.split(separator: " ") ?? []
            return words.dropFirst().prefix(4).joined(separator: " ")
        }
        #expect(code("REGISTER bo *") == "461 bo REGISTER :Not")
        #expect(code("REGISTER ana * correct-horse") == "FAIL REGISTER ACCOUNT_EXISTS ana")
        #expect(code("REGISTER ANA * correct-horse") == "FAIL REGISTER ACCOUNT_EXISTS ANA")
        #expect(code("REGISTER root * correct-horse") == "FAIL REGISTER ACCOUNT_EXISTS root")
        #expect(code("REGISTER #x * correct-horse") == "FAIL REGISTER BAD_ACCOUNT_NAME #x")
        #expect(code("REGISTER guest-abcde * correct-horse") == "FAIL REGISTER BAD_ACCOUNT_NAME guest-abcde")
        #expect(code("REGISTER guest * correct-horse") == "FAIL REGISTER BAD_ACCOUNT_NAME guest")
        #expect(code("REGISTER NickServ * correct-horse") == "FAIL REGISTER BAD_ACCOUNT_NAME NickServ")
        #expect(code("REGISTER u000000000001 * correct-horse") == "FAIL REGISTER BAD_ACCOUNT_NAME u000000000001")
        #expect(code("REGISTER bo * short") == "FAIL REGISTER WEAK_PASSWORD bo")
        #expect(code("REGISTER bo nowhere correct-horse") == "FAIL REGISTER INVALID_EMAIL bo")
        script.isHasherBusy = true
        #expect(code("REGISTER bo * correct-horse") == "FAIL REGISTER TEMPORARILY_UNAVAILABLE bo")
        script.isHasherBusy = false
        #expect(code("REGISTER other * correct-horse") == "REGISTER SUCCESS other :Account")
        #expect(code("REGISTER third * correct-horse") == "FAIL REGISTER ALREADY_AUTHENTICATED third")
    }

    @Test func settingsDecideWhoRegistersWhat() {
        let script = WorldScript {
            $0.accounts.customNames = false
            $0.accounts.beforeConnect = false
            $0.accounts.needsEmail = true
        }
        let ana = script.client("ana")
        #expect(
            ana.ask("CAP LS 302").joined().contains(" draft/account-registration=email-required "))
        #expect(ana.ask("REGISTER bo * correct-horse")[0].contains("FAIL REGISTER ACCOUNT_NAME_MUST_BE_NICK bo :"))
        #expect(ana.ask("REGISTER * * correct-horse")[0].contains("FAIL REGISTER INVALID_EMAIL ana :"))
        #expect(ana.ask("REGISTER * ana@cats.example correct-horse")[0].contains("REGISTER SUCCESS ana :"))
        let early = script.connect()
        early.send("CAP LS 302")
        early.send("NICK bo")
        #expect(
            early.ask("REGISTER * * correct-horse").last?.contains("FAIL REGISTER COMPLETE_CONNECTION_REQUIRED * :")
                == true)
    }

    @Test func registeringBeforeConnecting() {
        let script = WorldScript()
        let ana = script.connect()
        #expect(
            ana.ask("CAP LS 302").joined().contains(
                " draft/account-registration=before-connect,custom-account-name "))
        #expect(ana.ask("REGISTER * * correct-horse")[0].contains("FAIL REGISTER NEED_NICK * :"))
        ana.send("NICK ana")
        #expect(ana.ask("REGISTER * * correct-horse")[0].contains("REGISTER SUCCESS ana :"))
        ana.send("USER u 0 * :Ana")
        #expect(ana.ask("CAP END").first?.contains(" 001 ana ") == true)
        #expect(ana.ask("IDENTITY")[0].contains(" ana 1 :"))
        // The nick of somebody who is here is nobody's to register.
        _ = script.client("root")
        let thief = script.connect()
        thief.send("NICK root")
        #expect(thief.ask("REGISTER * * correct-horse").contains { $0.contains("FAIL REGISTER ACCOUNT_EXISTS root :") })
    }

    @Test func whatKeepsPeopleOutHoldsForRegistering() {
        let script = WorldScript { $0.password = "door" }
        let ana = script.connect()
        ana.send("CAP LS 302")
        ana.send("NICK ana")
        #expect(ana.ask("REGISTER * * correct-horse")[0].contains("FAIL REGISTER TEMPORARILY_UNAVAILABLE * :"))
        ana.send("PASS door")
        #expect(ana.ask("REGISTER * * correct-horse")[0].contains("REGISTER SUCCESS ana :"))
    }

    @Test func registrationsAreLimitedByAddress() {
        let script = WorldScript { $0.accounts.registrationsPerHour = 2 }
        for nick in ["ana", "bo"] { _ = script.registered(nick) }
        let cy = script.client("cy")
        #expect(cy.ask("REGISTER * * correct-horse")[0].contains("FAIL REGISTER TEMPORARILY_UNAVAILABLE cy :"))
        script.advance(3_700_000)
        #expect(script.client("dora").ask("REGISTER * * correct-horse")[0].contains("REGISTER SUCCESS dora :"))
    }

    @Test func twoWhoWantOneNameAtOnce() {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        script.isHasherSlow = true
        ana.send("REGISTER cat * correct-horse")
        #expect(bo.ask("REGISTER Cat * correct-horse")[0].contains("FAIL REGISTER ACCOUNT_EXISTS Cat :"))
        script.isHasherSlow = false
        script.apply(.tick)
        #expect(ana.read()[0].contains("REGISTER SUCCESS cat :"))
        // Who leaves meanwhile frees the name.
        script.isHasherSlow = true
        bo.send("REGISTER dog * correct-horse")
        bo.drop()
        script.isHasherSlow = false
        script.apply(.tick)
        #expect(script.client("eva").ask("REGISTER dog * correct-horse")[0].contains("REGISTER SUCCESS dog :"))
    }

    // MARK: The name is the account's

    @Test func aRegisteredNickBelongsToItsAccount() {
        let script = WorldScript()
        script.registered("ana").send("QUIT")
        let bo = script.client("bo")
        #expect(bo.numerics("NICK ana") == ["433"])
        #expect(bo.numerics("NICK An\u{430}") != ["433"], "another look in the script's tables")
        let thief = script.connect()
        #expect(thief.ask("NICK ANA").last?.contains(" 433 ") == true)
        // While SASL may follow, NICK is not refused yet.
        let late = script.connect()
        late.send("CAP LS 302")
        _ = late.read()
        #expect(late.ask("NICK ana") == [])
        late.send("USER u 0 * :Ana")
        #expect(late.numerics("CAP END") == ["433"])
        #expect(late.ask("NICK eva").first?.contains(" 001 eva ") == true)
        let owner = script.connect()
        owner.send("CAP LS 302")
        owner.send("NICK ana")
        owner.send("USER u 0 * :Ana")
        owner.plain("ana", WorldScript.password)
        #expect(owner.ask("CAP END").first?.contains(" 001 ana ") == true)
    }

    @Test func looksCountForAccountsToo() {
        let script = WorldScript()
        script.registered("eve").send("QUIT")
        let bo = script.client("bo")
        #expect(bo.numerics("NICK \u{435}ve") == ["433"])
        #expect(bo.ask("REGISTER \u{435}ve * correct-horse")[0].contains("ACCOUNT_EXISTS"))
        // Two ASCII names are told apart by who types them.
        script.registered("bell").send("QUIT")
        #expect(bo.numerics("NICK be11") == ["NICK"])
        let eve = script.loggedIn("eve")
        #expect(eve.numerics("NICK \u{435}ve").last == "NICK")
    }

    @Test func namesOutliveARestart() {
        var stored = StoredState()
        stored.accountNames = [
            AccountName(name: "Ana", look: "ana", uid: UID(number: 1)),
            AccountName(name: "late", look: "late", uid: UID(number: 2), expires: 1_780_000_100),
        ]
        let script = WorldScript(stored: stored)
        let bo = script.client("bo")
        #expect(bo.numerics("NICK ana") == ["433"])
        #expect(bo.numerics("NICK late") == ["433"])
        script.advance(2 * 3_600_000)
        #expect(script.client("cy").numerics("NICK late") == ["NICK"], "it was not verified in time")
        #expect(script.memory.changes.contains(.account(.remove(UID(number: 2)))))
    }
}
