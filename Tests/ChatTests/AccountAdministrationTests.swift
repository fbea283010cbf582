import Bytes
import Chat
import TestKit
import Testing

/// docs/PROTOCOL.md, Operators: ACCOUNT, and ERASE of who has an account.
@Suite struct AccountAdministrationTests {
    private let script = WorldScript {
        $0.operators = [
            OperatorSettings(name: "root", hash: "hash:pw", kind: "admin"),
            OperatorSettings(name: "helper", hash: "hash:pw", kind: "helpers"),
        ]
        $0.operatorClasses = ["helpers": [.accounts]]
    }

    private func root(_ name: String = "root") -> ScriptClient {
        let root = script.client(name)
        _ = root.ask("OPER \(name) pw")
        return root
    }

    private func uid(_ client: ScriptClient) -> String {
        client.ask("IDENTITY")[0].split(separator: " ").map(String.init)[3]
    }

    @Test func anAddedAccountIsThereForWhoComesLater() {
        let root = root()
        let guest = script.client("ana")
        #expect(root.ask("ACCOUNT ADD ana * short")[0].contains("FAIL ACCOUNT WEAK_PASSWORD ana :"))
        #expect(root.ask("ACCOUNT ADD guest-ana * correct-horse")[0].contains("FAIL ACCOUNT BAD_ACCOUNT_NAME"))
        #expect(root.ask("ACCOUNT ADD ana nowhere correct-horse")[0].contains("FAIL ACCOUNT INVALID_EMAIL ana :"))
        #expect(
            root.ask("ACCOUNT ADD ana * :correct horse")[0].contains("NOTE ACCOUNT ADDED ana :The account ana is u"))
        #expect(root.ask("ACCOUNT ADD ANA * correct-horse")[0].contains("FAIL ACCOUNT ACCOUNT_EXISTS ANA :"))
        #expect(root.ask("NS SAREGISTER bo correct-horse")[0].contains("NOTE ACCOUNT ADDED bo :"))
        #expect(guest.ask("NS SAREGISTER cy correct-horse")[0].contains(" 481 ana :"))
        #expect(root.ask("IDENTITY")[0].contains(" * 1 :"), "nobody is logged in by it")
        #expect(guest.ask("IDENTITY")[0].contains(" * 1 :You are ana"), "the nick stays until its bearer leaves")
        guest.send("QUIT")
        let ana = script.connect()
        ana.send("PASS :ana:correct horse")
        ana.send("NICK ana")
        #expect(ana.ask("USER u 0 * :Ana").first?.contains(" 001 ana ") == true)
        #expect(script.notes.contains { $0.text.string.contains("operator root (u") && $0.text.string.contains("ana") })
        #expect(!script.notes.contains { $0.text.string.contains("horse") })
    }

    @Test func passwordsAreSetWithoutTheOldOne() {
        let ana = script.registered("ana")
        let token = ana.ask("IDENTITY TOKEN")
        #expect(root().ask("ACCOUNT PASSWD ana four-other-words")[0].contains("NOTE ACCOUNT CHANGED ana :"))
        #expect(ana.ask("IDENTITY TOKEN") != token)
        #expect(ana.ask("PASSWD four-other-words correct-horse")[0].contains("NOTE PASSWD CHANGED"))
        let helper = root("helper")
        #expect(helper.numerics("ACCOUNT PASSWD ana four-other-words") == ["723"])
        #expect(helper.numerics("ACCOUNT CERT ana ADD \(String(repeating: "ab", count: 32))") == ["723"])
        #expect(helper.ask("ACCOUNT CERT ana LIST")[0].contains("NOTE ACCOUNT END ana :0 certificates"))
        #expect(script.client("bo").numerics("ACCOUNT LIST") == ["481"])
    }

    @Test func deletedAccountsLeaveTheirNameBlocked() {
        let ana = script.registered("ana")
        let root = root()
        #expect(root.ask("ACCOUNT DELETE nobody")[0].contains("FAIL ACCOUNT NO_SUCH_ACCOUNT nobody :"))
        #expect(root.ask("ACCOUNT DELETE ANA")[0].contains("NOTE ACCOUNT DONE ANA :"))
        #expect(ana.read().contains { $0.contains(" 901 guest-") })
        #expect(ana.numerics("NICK ana") == ["433"])
        #expect(root.ask("ACCOUNT DELETE ana")[0].contains("FAIL ACCOUNT NO_SUCH_ACCOUNT"))
        #expect(root.ask("ACCOUNT ADD ana * correct-horse")[0].contains("FAIL ACCOUNT ACCOUNT_EXISTS"))
        #expect(script.notes.contains { $0.text.string.contains("deleted account ana") })
    }

    @Test func certificates() {
        _ = script.registered("ana")
        _ = script.registered("bo")
        let root = root()
        let one = String(repeating: "ab", count: 32)
        #expect(root.ask("ACCOUNT CERT ana ADD xyz")[0].contains("FAIL ACCOUNT INVALID_PARAMS :A fingerprint"))
        #expect(root.ask("ACCOUNT CERT ana ADD \(one)")[0].contains("NOTE ACCOUNT ADDED ana :Added \(one)"))
        #expect(root.ask("ACCOUNT CERT ana LIST")[0].contains("NOTE ACCOUNT CERTIFICATE ana :\(one)"))
        #expect(root.ask("ACCOUNT CERT bo ADD \(one)")[0].contains("FAIL ACCOUNT IN_USE bo :"))
        #expect(root.ask("ACCOUNT CERT bo DEL \(one)")[0].contains("FAIL ACCOUNT NO_SUCH_CERTIFICATE bo :"))
        #expect(root.ask("ACCOUNT CERT ana DEL \(one)")[0].contains("NOTE ACCOUNT REMOVED ana :"))
        #expect(root.ask("ACCOUNT CERT nobody LIST")[0].contains("FAIL ACCOUNT NO_SUCH_ACCOUNT"))
        #expect(root.ask("ACCOUNT CERT ana WHAT")[0].contains("FAIL ACCOUNT INVALID_PARAMS WHAT"))
        #expect(root.ask("ACCOUNT WHAT")[0].contains("FAIL ACCOUNT INVALID_PARAMS WHAT"))
        #expect(root.numerics("ACCOUNT ADD ana") == ["461"])
    }

    @Test func listsAreToldInPages() {
        let root = root()
        for i in 0..<250 { _ = root.ask("ACCOUNT ADD cat\(1000 + i) * correct-horse") }
        _ = root.ask("ACCOUNT ADD dog dog@cats.example correct-horse")
        _ = root.ask("SUSPEND dog :barks")
        let first = root.ask("ACCOUNT LIST")
        #expect(first.count == 201)
        let last = first.last?.split(separator: " ").map(String.init) ?? []
        #expect(last.count > 5 && last[3] == "END" && last[5] == "cat1199")
        let rest = root.ask("ACCOUNT LIST * cat1199")
        #expect(rest.count == 52)
        #expect(rest[50].contains(" suspended ") && rest[50].hasSuffix(" dog@cats.example :barks"))
        #expect(rest.last?.contains("NOTE ACCOUNT END * :That is all") == true)
        #expect(root.ask("ACCOUNT LIST dog cat1199").count == 2)
    }

    // MARK: ERASE

    @Test func aPersonIsErasedByItsAccountsName() {
        let ana = script.registered("ana")
        let number = uid(ana)
        _ = ana.ask("NICK otherwise")
        ana.send("QUIT")
        let root = root()
        #expect(root.ask("ERASE ana")[0].contains("NOTE ERASE DONE \(number) :"))
        #expect(script.memory.accounts.isEmpty)
        #expect(
            script.client("bo").ask("REGISTER ana * correct-horse")[0].contains("SUCCESS"), "nothing knows the name")
    }

    @Test func whoIsMeantIsNotGuessed() {
        let guest = script.client("ana")
        let root = root()
        _ = root.ask("ACCOUNT ADD ana * correct-horse")
        let told = root.ask("ERASE ana")[0]
        #expect(told.contains("FAIL ERASE AMBIGUOUS ana :=\(uid(guest)) has the nick, =u"))
        #expect(root.ask("ERASE =\(uid(guest))")[0].contains("NOTE ERASE DONE"))
        #expect(guest.isClosed)
        #expect(root.ask("ERASE ana")[0].contains("NOTE ERASE DONE"))
    }

    @Test func nobodyComesInAsWhoIsErasedMeanwhile() {
        let ana = script.registered("ana")
        _ = ana.ask("JOIN #cats")
        let number = uid(ana)
        ana.send("QUIT")
        let root = root()
        let back = script.connect()
        script.isHasherSlow = true
        back.send("PASS ana:correct-horse")
        #expect(root.ask("ERASE ana")[0].contains("NOTE ERASE DONE \(number) :"))
        script.isHasherSlow = false
        script.apply(.tick)
        #expect(back.isClosed)
        #expect(back.read().contains { $0.contains(" 464 ") && $0.contains("erased") })
    }

    /// It proved to be the one before, and would come in now.
    @Test func whoIsNearlyInComesInAsSomebodyElse() {
        let ana = script.registered("ana")
        let number = uid(ana)
        ana.send("QUIT")
        let root = root()
        for command in ["ACCOUNT PASSWD ana four-other-words", "ACCOUNT DELETE ana", "ERASE =\(number)"] {
            let back = script.connect()
            back.send("CAP LS 302")
            back.send("PASS ana:\(command.contains("DELETE") ? "four-other-words" : "correct-horse")")
            back.send("USER u 0 * :Ana")
            #expect(root.ask(command)[0].contains(" NOTE "))
            back.send("NICK someone")
            back.send("CAP END")
            #expect(back.isClosed || uid(back) != number)
        }
    }
}
