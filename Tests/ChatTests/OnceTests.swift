import Bytes
import Chat
import TestKit
import Testing

private let once = "message-tags echo-message parley.chat/idempotent"

/// docs/PROTOCOL.md, Sending again: `parley.chat/cid`.
@Suite struct OnceTests {
    private let script = WorldScript()
    private let ana: ScriptClient
    private let bo: ScriptClient

    init() {
        ana = script.client("ana", capabilities: once)
        bo = script.client("bo", capabilities: "message-tags")
        for client in [ana, bo] { _ = client.ask("JOIN #cats") }
        _ = ana.read()
    }

    private func say(_ client: ScriptClient, _ cid: String, _ text: String, to target: String = "#cats") throws
        -> String
    {
        let echo = try #require(client.ask("@parley.chat/cid=\(cid) PRIVMSG \(target) :\(text)").first)
        #expect(echo.hasSuffix(" PRIVMSG \(target) :\(text)"))
        return try #require(echo.messageID)
    }

    @Test func theSameAgainIsEchoedWithTheFirstIdAndHeardOnce() throws {
        let first = try say(ana, "1", "hi")
        #expect(try say(ana, "1", "hi") == first)
        #expect(try say(ana, "2", "hi") != first)
        #expect(bo.read().count == 2)
        #expect(script.log.count(where: \.kind.isMessage) == 2)
    }

    @Test func theNameIsTheIdentitysOwnAndOfOneConversation() throws {
        let first = try say(ana, "1", "hi")
        #expect(try say(ana, "1", "hi", to: "bo") != first)
        _ = bo.ask("CAP REQ :\(once)")
        #expect(try say(bo, "1", "hi") != first)
        #expect(bo.ask("@parley.chat/cid=1 PRIVMSG #cats,ana :hi").count == 2)
        #expect(script.log.count(where: \.kind.isMessage) == 4)
    }

    @Test func itIsForgottenAfterADay() throws {
        let first = try say(ana, "1", "hi")
        script.moment.wall += 86_400_000 - 1_000
        #expect(try say(ana, "1", "hi") == first)
        script.moment.wall += 2_000
        #expect(try say(ana, "1", "hi") != first)
    }

    @Test func aLostConnectionAndANewOneOfTheSameIdentity() throws {
        let token = try #require(
            ana.ask("IDENTITY TOKEN").first?.split(separator: " ").first { $0.hasPrefix("u") && $0.contains(".") })
        let first = try say(ana, "1", "hi")
        _ = bo.read()
        ana.drop()
        let again = script.connect()
        for line in ["CAP REQ :\(once)", "PASS guest:\(token)", "NICK ana", "USER ana 0 * :ana", "CAP END"] {
            again.send(line)
        }
        _ = again.read()
        #expect(try say(again, "1", "hi") == first)
        #expect(!bo.read().contains { $0.contains("PRIVMSG") })
    }

    @Test func twoSessionsAtTheSameMoment() throws {
        let token = try #require(
            ana.ask("IDENTITY TOKEN").first?.split(separator: " ").first { $0.hasPrefix("u") && $0.contains(".") })
        let other = script.connect()
        for line in ["CAP REQ :\(once)", "PASS guest:\(token)", "NICK ana", "USER ana 0 * :ana", "CAP END"] {
            other.send(line)
        }
        for client in [other, ana, bo] { _ = client.read() }
        script.holdsPages = true
        for client in [ana, other] { client.send("@parley.chat/cid=1 PRIVMSG #cats :hi") }
        script.holdsPages = false
        script.apply(.tick)
        #expect(bo.read().count == 1)
        #expect(Set((ana.read() + other.read()).compactMap(\.messageID)).count == 1)
    }

    @Test func messagesKeepTheirOrder() throws {
        script.holdsPages = true
        ana.send("@parley.chat/cid=1 PRIVMSG #cats :one")
        let isBlocked = script.world.isInputBlocked(ana.id)
        #expect(isBlocked)
        script.apply(.inputEnded(ana.id))
        script.holdsPages = false
        script.apply(.tick)
        #expect(bo.read().map(\.withoutTags.commandWord) == ["PRIVMSG", "QUIT"])
    }

    @Test func aRefusedMessageIsNotKnownByItsName() throws {
        script.isStoreFull = true
        #expect(ana.ask("@parley.chat/cid=1 PRIVMSG #cats :hi").first?.contains("FAIL PRIVMSG STORE_FULL") == true)
        script.isStoreFull = false
        script.apply(.storeRecovered)
        _ = try say(ana, "1", "hi")
        #expect(bo.read().count == 1)
    }

    @Test func aReaderThatFailsSendsNothing() {
        script.historyFailure = "disk"
        let lines = ana.ask("@parley.chat/cid=1 PRIVMSG #cats :hi")
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix(":parley.test FAIL PRIVMSG INTERNAL_ERROR #cats "))
        #expect(bo.read().isEmpty)
    }

    @Test func withoutTheCapabilityTheTagIsNothing() {
        for _ in 0..<2 { bo.send("@parley.chat/cid=1 PRIVMSG #cats :hi") }
        #expect(ana.read().count == 2)
        #expect(!script.log.contains { !$0.cid.isEmpty })
    }

    @Test func aNameThatIsTooLongOrEmptyIsRefused() {
        for cid in ["", String(repeating: "x", count: 65)] {
            #expect(
                ana.ask("@parley.chat/cid=\(cid) PRIVMSG #cats :hi") == [
                    ":parley.test FAIL PRIVMSG INVALID_CID #cats :The tag parley.chat/cid has 1 to 64 bytes; nothing was sent"
                ])
        }
        #expect(bo.read().isEmpty)
        #expect(
            ana.ask("CAP LS 302").joined(separator: " ").contains("parley.chat/idempotent=max-length=64,seconds=86400"))
    }

    @Test func aMessageOfSeveralLinesToo() throws {
        _ = ana.ask("CAP REQ :batch draft/multiline labeled-response")
        func send(_ label: String) -> [String] {
            _ = ana.read()
            for line in [
                "@label=\(label);parley.chat/cid=1 BATCH +a draft/multiline #cats", "@batch=a PRIVMSG #cats :one",
                "@batch=a PRIVMSG #cats :two", "BATCH -a",
            ] {
                ana.send(line)
            }
            return ana.read()
        }
        let first = send("l")
        #expect(bo.read().count == 2)
        let second = send("m")
        #expect(first[0].messageID == second[0].messageID)
        #expect(first[0].contains("label=l") && second[0].contains("label=m"))
        #expect(bo.read().isEmpty)
    }
}
