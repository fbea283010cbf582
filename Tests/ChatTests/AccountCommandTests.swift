import Bytes
import Chat
import TestKit
import Testing

/// What an account's owner, NickServ and operators do with it.
@Suite struct AccountCommandTests {
    private func mailing() -> WorldScript { WorldScript { $0.accounts.hasMail = true } }

    /// The code in the newest mail.
    private func code(_ script: WorldScript) -> String {
        let line = script.mails.last?.text.first { $0.string.hasPrefix("    ") }?.string ?? ""
        return String(line.split(separator: " ").dropFirst(2).first ?? "")
    }

    // MARK: VERIFY and mail

    @Test func anAddressIsProvedByItsCode() throws {
        let script = mailing()
        let ana = script.client("ana")
        #expect(
            ana.ask("REGISTER * ana@cats.example correct-horse")[0].contains(
                "REGISTER VERIFICATION_REQUIRED ana :A code is on its way to ana@cats.example"))
        #expect(script.mails.map(\.to) == ["ana@cats.example"])
        let code = code(script)
        #expect(code.count == 8)
        #expect(!"\(script.memory.accounts)".contains(code), "what is kept does not tell the code")
        #expect(ana.ask("VERIFY ana 00000000")[0].contains("FAIL VERIFY INVALID_CODE ana :"))
        #expect(ana.ask("VERIFY bo \(code)")[0].contains("FAIL VERIFY INVALID_CODE bo :"))
        #expect(ana.ask("IDENTITY")[0].contains(" * 1 :"))
        #expect(
            ana.ask("VERIFY ANA \(code.uppercased())") == [
                ":parley.test VERIFY SUCCESS ana :Account verified",
                ":parley.test 900 ana ana!ana@host.test ana :You are now logged in as ana",
            ])
        #expect(ana.ask("VERIFY ana \(code)")[0].contains("FAIL VERIFY ALREADY_AUTHENTICATED ana :"))
        #expect(script.client("bo").ask("VERIFY ana \(code)")[0].contains("FAIL VERIFY INVALID_CODE ana :"))
    }

    @Test func codesExpireAndTheNameIsFreeAgain() {
        let script = mailing()
        let ana = script.client("ana")
        _ = ana.ask("REGISTER cat ana@cats.example correct-horse")
        let code = code(script)
        script.advance(86_400_000 + 3_700_000)
        let bo = script.client("bo")
        #expect(bo.ask("VERIFY cat \(code)")[0].contains("FAIL VERIFY INVALID_CODE cat :"))
        #expect(bo.ask("REGISTER cat * correct-horse")[0].contains("REGISTER SUCCESS cat :"))
    }

    @Test func aMailThatCannotBeSentRegistersNothing() {
        let script = mailing()
        script.isMailFailing = true
        let ana = script.client("ana")
        #expect(
            ana.ask("REGISTER * ana@cats.example correct-horse")[0].contains(
                "FAIL REGISTER TEMPORARILY_UNAVAILABLE ana :"))
        #expect(script.memory.accounts.isEmpty)
        script.isMailFailing = false
        #expect(ana.ask("REGISTER * ana@cats.example correct-horse")[0].contains("VERIFICATION_REQUIRED"))
        // Another one in its place: the first is forgotten.
        #expect(ana.ask("REGISTER cat ana@cats.example correct-horse")[0].contains("VERIFICATION_REQUIRED cat"))
        #expect(script.client("bo").ask("REGISTER ana2 * correct-horse")[0].contains("SUCCESS"))
        #expect(script.memory.accounts.values.map(\.name).sorted { $0.string < $1.string } == ["ana2", "cat"])
    }

    // MARK: LOGOUT, PASSWD, UNREGISTER

    @Test func loggingOutMakesANewGuest() {
        let script = WorldScript()
        let ana = script.registered("ana")
        let bo = script.client("bo", capabilities: "account-notify")
        _ = ana.ask("JOIN #cats,#club")
        _ = bo.ask("JOIN #cats")
        _ = ana.ask("MODE #club +R")
        let uid = ana.ask("IDENTITY")[0].split(separator: " ")[3]
        let lines = ana.ask("LOGOUT")
        #expect(lines.last == ":parley.test 901 \(nick(lines)) ana!ana@host.test :You are now logged out")
        #expect(nick(lines).hasPrefix("guest-"), "the nick is the account's")
        #expect(lines.contains { $0.contains(" PART #club :Logged out") })
        let seen = bo.read()
        #expect(seen.first == ":ana!ana@host.test ACCOUNT *")
        #expect(seen.contains(":parley.test MODE #cats -o \(nick(lines))"))
        #expect(!ana.ask("IDENTITY")[0].contains(uid))
        #expect(ana.ask("LOGOUT")[0].contains("FAIL LOGOUT ACCOUNT_REQUIRED :"))
        let back = script.loggedIn("ana")
        #expect(back.read().contains { $0.hasSuffix(" JOIN #club") })
        #expect(back.ask("IDENTITY")[0].contains(uid))
    }

    private func nick(_ lines: [String]) -> String {
        String(lines.last?.split(separator: " ").dropFirst(2).first ?? "")
    }

    @Test func oneOfSeveralSessionsLogsOutAlone() {
        let script = WorldScript()
        let one = script.registered("ana")
        _ = one.ask("JOIN #cats")
        let two = script.loggedIn("ana")
        _ = two.read()
        let lines = two.ask("LOGOUT")
        #expect(lines.contains { $0.contains(" PART #cats :") })
        #expect(lines.last?.contains(" 901 guest-") == true)
        #expect(one.ask("IDENTITY")[0].contains(" ana 1 :"))
        #expect(two.ask("IDENTITY")[0].contains(" * 1 :"))
    }

    @Test func aPasswordIsChangedByWhoKnowsTheOldOne() {
        let script = WorldScript()
        let ana = script.registered("ana")
        let token = ana.ask("IDENTITY TOKEN")[0].split(separator: " ")[4]
        #expect(ana.ask("PASSWD wrong-horse four-other-words")[0].contains("FAIL PASSWD INVALID_CREDENTIALS ana :"))
        #expect(ana.ask("PASSWD correct-horse short")[0].contains("FAIL PASSWD WEAK_PASSWORD ana :"))
        #expect(ana.ask("PASSWD correct-horse four-other-words")[0].contains("NOTE PASSWD CHANGED ana :"))
        ana.send("QUIT")
        let old = script.connect()
        old.send("PASS ana:correct-horse")
        #expect(old.isClosed)
        let stolen = script.connect()
        stolen.send("PASS guest:\(token)")
        #expect(stolen.isClosed, "tokens told before are void")
        let new = script.connect()
        new.send("PASS ana:four-other-words")
        new.send("NICK ana")
        #expect(new.ask("USER u 0 * :Ana").first?.contains(" 001 ana ") == true)
        #expect(script.client("bo").ask("PASSWD correct-horse four-other-words")[0].contains("ACCOUNT_REQUIRED"))
    }

    @Test func anAccountThatIsUnregisteredLeavesItsNameBlocked() {
        let script = WorldScript()
        let ana = script.registered("ana")
        let token = ana.ask("IDENTITY TOKEN")[0].split(separator: " ")[4]
        #expect(ana.ask("UNREGISTER wrong-horse")[0].contains("FAIL UNREGISTER INVALID_CREDENTIALS ana :"))
        let lines = ana.ask("UNREGISTER correct-horse")
        #expect(lines[0].contains("NOTE UNREGISTER DONE ana :"))
        #expect(lines.last?.contains(" 901 guest-") == true)
        #expect(ana.numerics("NICK ana") == ["433"])
        #expect(ana.ask("REGISTER ana * correct-horse")[0].contains("FAIL REGISTER ACCOUNT_EXISTS ana :"))
        let back = script.connect()
        back.send("PASS ana:correct-horse")
        #expect(back.isClosed)
        let resumed = script.connect()
        resumed.send("PASS guest:\(token)")
        #expect(resumed.isClosed)
    }

    @Test func aForgottenPasswordIsReplacedByMail() {
        let script = mailing()
        let ana = script.client("ana")
        _ = ana.ask("REGISTER * ana@cats.example correct-horse")
        _ = ana.ask("VERIFY ana \(code(script))")
        ana.send("QUIT")
        let bo = script.client("bo")
        let told = bo.ask("RESETPASS ana")
        #expect(told[0].contains("NOTE RESETPASS SENT ana :"))
        #expect(
            bo.ask("RESETPASS nobody") == told.map { $0.replacing(" ana ", with: " nobody ") },
            "nothing tells which accounts exist")
        #expect(script.mails.count == 2)
        let code = code(script)
        #expect(bo.ask("RESETPASS ana 00000000 four-other-words")[0].contains("FAIL RESETPASS INVALID_CODE ana :"))
        #expect(bo.ask("RESETPASS ana \(code) short")[0].contains("FAIL RESETPASS WEAK_PASSWORD ana :"))
        #expect(bo.ask("RESETPASS ana \(code) four-other-words")[0].contains("NOTE RESETPASS CHANGED ana :"))
        #expect(bo.ask("RESETPASS ana \(code) other-words-four")[0].contains("INVALID_CODE"), "a code is good once")
        #expect(bo.ask("NS IDENTIFY ana four-other-words")[0].contains(" 900 bo "))
        for _ in 0..<5 { _ = bo.ask("RESETPASS ana") }
        #expect(script.mails.count == 4, "three an hour")
        #expect(WorldScript().client("cy").ask("RESETPASS ana")[0].contains("FAIL RESETPASS TEMPORARILY_UNAVAILABLE"))
    }

    // MARK: NickServ

    @Test func nickServDoesWhatTheCommandsDo() {
        let script = WorldScript()
        let ana = script.client("ana")
        func ask(_ line: String) -> [String] {
            ana.ask("PRIVMSG NickServ :\(line)").map {
                $0.replacing(":NickServ!NickServ@parley.test NOTICE ana :", with: "- ")
            }
        }
        #expect(ask("HELP").count > 5)
        #expect(ask("REGISTER")[0] == "- Write REGISTER <password> [email]")
        #expect(ask("REGISTER short")[0].hasPrefix("- A password has at least"))
        #expect(ask("REGISTER correct-horse")[0] == "- Account created; you are now logged in as ana")
        #expect(ask("PASSWD correct-horse four-other-words")[0].hasPrefix("- The password is changed"))
        #expect(ask("WHAT")[0].hasPrefix("- WHAT: I do not know that"))
        _ = ask("LOGOUT")
        let bo = script.client("bo")
        #expect(
            bo.ask("NICKSERV IDENTIFY ana wrong-words-here")[0].hasSuffix("The account or its password is not right"))
        #expect(bo.ask("NS IDENTIFY nobody four-other-words")[0].hasSuffix("The account or its password is not right"))
        let lines = bo.ask("PRIVMSG NickServ :IDENTIFY ana four-other-words")
        #expect(lines.contains { $0.hasSuffix(" NOTICE bo :You are now logged in as ana") })
        #expect(bo.ask("IDENTITY")[0].contains(" ana 1 :You are bo"))
        #expect(bo.ask("NOTICE NickServ :HELP").isEmpty)
        #expect(bo.numerics("NICK NickServ") == ["433"])
        #expect(!script.memory.log.contains { $0.text.string.contains("words") }, "what is said to it is not kept")
    }

    @Test func certificatesOfAnAccount() {
        let script = WorldScript()
        let ana = script.registered("ana")
        let one = String(repeating: "ab", count: 32)
        func cert(_ line: String, _ who: ScriptClient) -> String {
            String(who.ask("NS CERT \(line)").last?.split(separator: " :", maxSplits: 1).last ?? "")
        }
        #expect(cert("ADD", ana).hasPrefix("Your connection showed no certificate"))
        #expect(cert("ADD xyz", ana).hasPrefix("A fingerprint is SHA-256"))
        #expect(cert("ADD \(one.uppercased())", ana).hasPrefix("Added \(one)"))
        #expect(cert("LIST", ana) == "1 certificate")
        let bo = script.registered("bo")
        #expect(cert("ADD \(one)", bo) == "This certificate is another account's")
        #expect(cert("DEL \(one)", bo) == "There is no such certificate")
        #expect(cert("DEL \(one)", ana) == "Removed \(one)")
        #expect(cert("ADD \(one)", bo).hasPrefix("Added"))
        #expect(cert("WHAT", bo).hasPrefix("Write CERT"))
        #expect(cert("LIST", script.client("cy")) == "Log in first, with IDENTIFY")
    }

    // MARK: Operators

    @Test func operatorsSuspendAndTheLogSaysSo() {
        let script = WorldScript {
            $0.operators = [
                OperatorSettings(name: "root", hash: "hash:secret"),
                OperatorSettings(name: "half", hash: "hash:secret", kind: "half"),
            ]
            $0.operatorClasses = ["half": [.kill]]
        }
        let ana = script.registered("ana")
        let root = script.client("root")
        #expect(root.numerics("SUSPEND ana") == ["481"])
        _ = root.ask("OPER half secret")
        #expect(root.numerics("SUSPEND ana") == ["723"])
        _ = root.ask("OPER root secret")
        #expect(root.ask("SUSPEND nobody")[0].contains("FAIL SUSPEND NO_SUCH_ACCOUNT nobody :"))
        #expect(root.ask("SUSPEND ANA :stolen")[0].hasSuffix(":The account ana is suspended; 1 connections closed"))
        #expect(ana.isClosed)
        #expect(ana.read().last == "ERROR :Closing link: Account suspended: stolen")
        let back = script.connect()
        #expect(
            back.ask("PASS ana:correct-horse")[0].contains(
                " 464 * :Password incorrect: This account is suspended: stolen"))
        #expect(root.ask("UNSUSPEND ana")[0].hasSuffix(":The account ana is not suspended"))
        #expect(script.loggedIn("ana").read().contains { $0.contains(" 001 ana ") })
        #expect(script.notes.contains { $0.text.string.contains("suspended account ana: stolen") })
        #expect(script.notes.contains { $0.text.string.contains("lifted the suspension of account ana") })
    }
}
