import Bytes
import Chat
import TestKit
import Testing

@Suite struct EraseTests {
    private func script(_ store: MemoryStore = MemoryStore()) -> WorldScript {
        WorldScript({ $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "admin")] }, store: store)
    }

    private func uid(_ client: ScriptClient) -> String {
        client.ask("IDENTITY")[0].split(separator: " ").map(String.init)[3]
    }

    @Test func aPersonIsErasedWithItsPlacesAndItsName() {
        let store = MemoryStore()
        let script = script(store)
        let ana = script.client("ana")
        let bo = script.client("bo")
        ana.send("JOIN #cats")
        ana.send("TOPIC #cats :mine")
        bo.send("JOIN #cats")
        bo.send("OPER root pw")
        let number = uid(ana)
        _ = bo.read()
        let answers = bo.ask("ERASE ana")
        #expect(answers.contains { $0.hasPrefix(":parley.test NOTE ERASE DONE \(number) :") })
        #expect(answers.contains(":ana!ana@host.test QUIT :Erased"))
        #expect(store.changes.last == .erase(UID(number)!))
        #expect(bo.ask("TOPIC #cats").contains { $0.contains(" 333 bo #cats parley.test ") })
        #expect(bo.ask("WHOWAS ana")[0].contains(" 406 "))
        #expect(script.notes.contains { $0.text.string.contains("erased \(number)") })
        // Whoever comes under that name is somebody else, without the founder's rank.
        let other = script.client("ana")
        #expect(!other.ask("JOIN #cats").contains { $0.contains("@ana") })
    }

    @Test func whoIsNotHereIsErasedByItsUID() {
        let script = script()
        let ana = script.client("ana")
        let number = uid(ana)
        ana.send("QUIT")
        let bo = script.client("bo")
        bo.send("OPER root pw")
        _ = bo.read()
        #expect(bo.ask("ERASE =\(number)")[0].hasPrefix(":parley.test NOTE ERASE DONE \(number) :"))
        #expect(bo.ask("ERASE =u1")[0].hasPrefix(":parley.test 401 bo =u1 :"))
        #expect(bo.ask("ERASE nobody")[0].hasPrefix(":parley.test 401 bo nobody :"))
    }

    @Test func onlyOperatorsErase() {
        let script = script()
        _ = script.client("bo")
        #expect(script.client("ana").ask("ERASE bo")[0].hasPrefix(":parley.test 481 ana :"))
    }
}

extension UID {
    fileprivate init?(_ text: String) { self.init(ByteString(text)) }

    private init?(_ text: ByteString) {
        guard let uid = text.withView({ UID($0) }) else { return nil }
        self = uid
    }
}
