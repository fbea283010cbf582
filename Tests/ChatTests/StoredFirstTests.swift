import Bytes
import Chat
import TestKit
import Testing

/// Nothing is told as done that the store did not take, and nothing of it is done then.
@Suite struct StoredFirstTests {
    private func script() -> WorldScript {
        WorldScript {
            $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "admin")]
            $0.accounts.hasMail = true
        }
    }

    private func code(_ script: WorldScript) -> String {
        let line = script.mails.last?.text.first { $0.string.hasPrefix("    ") }?.string ?? ""
        return String(line.split(separator: " ").dropFirst(2).first ?? "")
    }

    /// The answer while the store has no room. Afterwards it has, and `line` works.
    private func refused(_ client: ScriptClient, _ line: String, _ script: WorldScript) -> [String] {
        script.isStoreFull = true
        let answer = client.ask(line)
        script.isStoreFull = false
        script.apply(.storeRecovered)
        _ = client.read()
        return answer
    }

    @Test func registeringIsNotToldBeforeItIsStored() {
        let script = script()
        let ana = script.client("ana")
        let told = refused(ana, "REGISTER * * correct-horse", script)
        #expect(told.count == 1 && told[0].contains("FAIL REGISTER TEMPORARILY_UNAVAILABLE ana :"))
        #expect(script.memory.accounts.isEmpty)
        #expect(ana.ask("IDENTITY")[0].contains(" * 1 :"))
        #expect(ana.ask("REGISTER * * correct-horse")[0].contains("REGISTER SUCCESS ana"), "the name is free again")
    }

    @Test func noMailLeavesWithACodeThatIsNotStored() {
        let script = script()
        let ana = script.client("ana")
        let told = refused(ana, "REGISTER * ana@cats.example correct-horse", script)
        #expect(told.count == 1 && told[0].contains("FAIL REGISTER TEMPORARILY_UNAVAILABLE ana :"))
        #expect(script.mails.isEmpty)
        #expect(ana.ask("REGISTER * ana@cats.example correct-horse")[0].contains("VERIFICATION_REQUIRED"))
        let verified = refused(ana, "VERIFY ana \(code(script))", script)
        #expect(verified.count == 1 && verified[0].contains("FAIL VERIFY TEMPORARILY_UNAVAILABLE ana :"))
        #expect(ana.ask("IDENTITY")[0].contains(" * 1 :"))
        #expect(ana.ask("VERIFY ana \(code(script))")[0].contains("VERIFY SUCCESS ana"))

        let sent = refused(script.client("bo"), "RESETPASS ana", script)
        #expect(sent.count == 1 && sent[0].contains("FAIL RESETPASS TEMPORARILY_UNAVAILABLE ana :"))
        #expect(script.mails.count == 1)
    }

    @Test func passwordsAndTokens() {
        let script = script()
        let ana = script.registered("ana")
        let token = ana.ask("IDENTITY TOKEN")
        #expect(
            refused(ana, "PASSWD correct-horse four-other-words", script)[0].contains(
                "FAIL PASSWD TEMPORARILY_UNAVAILABLE ana :"))
        let revoked = refused(ana, "IDENTITY REVOKE", script)
        #expect(revoked.count == 1 && revoked[0].contains("FAIL IDENTITY STORE_FULL u"))
        #expect(ana.ask("IDENTITY TOKEN") == token, "it is good still")
        #expect(ana.ask("PASSWD correct-horse four-other-words")[0].contains("NOTE PASSWD CHANGED ana :"))
        let changed = ana.ask("IDENTITY TOKEN")
        #expect(changed != token)
        #expect(ana.ask("IDENTITY REVOKE")[0] != changed[0])
    }

    @Test func certificatesAndTheEnd() {
        let script = script()
        let ana = script.registered("ana")
        let one = String(repeating: "ab", count: 32)
        let failure = "The server cannot store this now; nothing was changed. Try again in a while"
        #expect(refused(ana, "NS CERT ADD \(one)", script)[0].hasSuffix(failure))
        #expect(ana.ask("NS CERT LIST").last?.hasSuffix(":0 certificates") == true)
        #expect(ana.ask("NS CERT ADD \(one)")[0].contains("Added"))
        #expect(refused(ana, "NS CERT DEL \(one)", script)[0].hasSuffix(failure))
        #expect(ana.ask("NS CERT LIST").last?.hasSuffix(":1 certificate") == true)
        #expect(refused(ana, "UNREGISTER correct-horse", script)[0].contains("FAIL UNREGISTER TEMPORARILY_UNAVAILABLE"))
        #expect(ana.ask("IDENTITY")[0].contains(" ana 1 :"))
        #expect(ana.ask("UNREGISTER correct-horse")[0].contains("NOTE UNREGISTER DONE"))
    }

    @Test func whatOthersAreToldOfOneself() {
        let script = script()
        let ana = script.client("ana", capabilities: "draft/metadata-2 batch")
        let bo = script.client("bo", capabilities: "draft/metadata-2 batch")
        for client in [ana, bo] { _ = client.ask("JOIN #cats") }
        _ = bo.ask("METADATA * SUB homepage")
        #expect(refused(ana, "METADATA * SET homepage :mine", script)[0].contains("FAIL METADATA STORE_FULL ana :"))
        #expect(bo.read().isEmpty)
        #expect(ana.ask("METADATA * GET homepage").contains { $0.contains(" 766 ") })
        #expect(ana.ask("METADATA * SET homepage :mine")[0].contains(" 761 ana ana homepage * :mine"))
        #expect(bo.read().contains { $0.contains(" METADATA ana homepage * :mine") })
        #expect(refused(ana, "METADATA * CLEAR", script)[0].contains("FAIL METADATA STORE_FULL ana :"))
        #expect(ana.ask("METADATA * GET homepage").contains { $0.contains(" 761 ") })
    }

    @Test func whatOperatorsDo() {
        let script = script()
        let ana = script.registered("ana")
        let root = script.client("root")
        _ = root.ask("OPER root pw")
        for command in ["SUSPEND ana", "ACCOUNT DELETE ana", "ACCOUNT PASSWD ana four-other-words"] {
            let name = command.split(separator: " ")[0]
            #expect(refused(root, command, script)[0].contains("FAIL \(name) TEMPORARILY_UNAVAILABLE ana :"))
            #expect(ana.ask("IDENTITY")[0].contains(" ana 1 :"))
        }
        #expect(
            refused(root, "ACCOUNT ADD cat * four-other-words", script)[0].contains("TEMPORARILY_UNAVAILABLE cat :"))
        #expect(refused(root, "ERASE ana", script)[0].contains("FAIL ERASE TEMPORARILY_UNAVAILABLE u"))
        let ban = refused(root, "KLINE *@192.0.2.77 :no", script)
        #expect(ban.last?.hasSuffix("; it cannot be stored now, and a restart before it can undoes it") == true)
        #expect(root.ask("KLINE")[0].contains("192.0.2.77"))
    }

    @Test func whatIsStoredIsDoneAlsoForWhoIsGone() {
        let script = script()
        let one = script.registered("ana")
        let two = script.loggedIn("ana")
        let token = two.ask("IDENTITY TOKEN")
        script.holdsBatches = true
        one.send("IDENTITY REVOKE")
        one.drop()
        script.holdsBatches = false
        script.apply(.tick)
        #expect(two.ask("IDENTITY TOKEN") != token)
    }
}
