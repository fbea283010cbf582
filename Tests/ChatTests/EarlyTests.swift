import Bytes
import Chat
import TestKit
import Testing

/// What clients may say before registration (IRCv3 pre-away and extended-isupport), and what they then do not get.
@Suite struct EarlyTests {
    private func opening(_ script: WorldScript, _ capabilities: String) -> ScriptClient {
        let client = script.connect()
        client.send("CAP REQ :\(capabilities)")
        _ = client.read()
        return client
    }

    private func register(_ client: ScriptClient, _ nick: String, token: Substring? = nil) -> [String] {
        if let token { client.send("PASS guest:\(token)") }
        for line in ["NICK \(nick)", "USER \(nick) 0 * :\(nick)", "CAP END"] { client.send(line) }
        return client.read()
    }

    private func token(of client: ScriptClient) -> Substring {
        client.ask("IDENTITY TOKEN")[0].split(separator: " ")[4]
    }

    @Test(arguments: ["AWAY :lunch", "ISUPPORT", "MONITOR + bo"])
    func withoutTheCapabilityItIsTooEarly(line: String) {
        let client = opening(WorldScript(), "batch")
        #expect(client.ask(line) == [":parley.test 451 * :You have not registered"])
    }

    // MARK: pre-away

    @Test(arguments: [("AWAY :lunch", "lunch"), ("AWAY *", "Away")])
    func awayBeforeRegistrationHoldsAfterIt(line: String, shown: String) {
        let script = WorldScript()
        let watcher = script.client("watcher")
        _ = watcher.ask("MONITOR + ana")
        let ana = opening(script, "draft/pre-away away-notify")
        #expect(ana.ask(line) == [":parley.test 306 * :You have been marked as being away"])
        #expect(!register(ana, "ana").contains { $0.contains(" AWAY :") })
        #expect(watcher.read() == [":parley.test 730 watcher :ana!ana@host.test"])
        #expect(watcher.ask("PRIVMSG ana :hi") == [":parley.test 301 watcher ana :\(shown)"])
    }

    @Test func backBeforeRegistrationIsBack() {
        let script = WorldScript()
        let ana = opening(script, "draft/pre-away")
        _ = ana.ask("AWAY :lunch")
        #expect(ana.ask("AWAY") == [":parley.test 305 * :You are no longer marked as being away"])
        _ = register(ana, "ana")
        #expect(script.client("bo").ask("PRIVMSG ana :hi").isEmpty)
    }

    @Test func anAbsentConnectionCountsAsNone() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "draft/pre-away")
        let bo = script.client("bo", capabilities: "away-notify")
        for client in [ana, bo] { _ = client.ask("JOIN #cats") }
        let token = token(of: ana)
        _ = bo.read()
        // A phone that fetches history does not change what others see,
        let phone = opening(script, "draft/pre-away")
        _ = phone.ask("AWAY *")
        _ = register(phone, "ana", token: token)
        #expect(bo.read().isEmpty)
        // not over a text of another connection either;
        _ = ana.ask("AWAY :lunch")
        _ = phone.ask("AWAY *")
        #expect(bo.read() == [":ana!ana@host.test AWAY :lunch"])
        _ = ana.ask("AWAY")
        #expect(bo.read() == [":ana!ana@host.test AWAY"])
        // once it is alone its user is away, until a connection with a person is there again.
        ana.drop()
        #expect(bo.read() == [":ana!ana@host.test AWAY :Away"])
        _ = register(opening(script, "batch"), "ana", token: token)
        #expect(bo.read() == [":ana!ana@host.test AWAY"])
    }

    @Test func withoutTheCapabilityAStarIsAText() {
        let script = WorldScript()
        _ = script.client("ana").ask("AWAY *")
        #expect(script.client("bo").ask("PRIVMSG ana :hi") == [":parley.test 301 bo ana :*"])
    }

    // MARK: extended-isupport

    @Test func tokensAreABatchForWhoKnowsIt() throws {
        let script = WorldScript()
        let ana = opening(script, "batch draft/extended-isupport")
        let early = ana.ask("ISUPPORT")
        let reference = try #require(early.first?.split(separator: "+").last?.split(separator: " ").first)
        #expect(early.first == ":parley.test BATCH +\(reference) draft/isupport")
        #expect(early.last == ":parley.test BATCH -\(reference)")
        #expect(early.count > 3)
        #expect(early.dropFirst().dropLast().allSatisfy { $0.hasPrefix("@batch=\(reference) :parley.test 005 * ") })
        let burst = register(ana, "ana") + ana.ask("VERSION")
        #expect(burst.filter { $0.contains(" 005 ") }.allSatisfy { $0.hasPrefix("@batch=") })
        #expect(burst.filter { $0.hasSuffix(" draft/isupport") }.count == 2)
    }

    @Test(arguments: ["", "draft/extended-isupport", "batch"])
    func tokensAreLinesForOthers(capabilities: String) {
        let answer = WorldScript().client("ana", capabilities: capabilities).ask("ISUPPORT")
        #expect(answer.count > 1)
        #expect(answer.allSatisfy { $0.hasPrefix(":parley.test 005 ana ") })
    }

    // MARK: Who is a client

    /// NICK alone would make a person of it, who is complete a moment later.
    @Test func aClientWhoseUserIsNoTextStaysAClient() {
        let script = WorldScript()
        let ana = script.connect()
        ana.send("NICK ana")
        ana.sendBytes(Array("USER ana 0 * :i".utf8) + [0xE8])
        #expect(ana.read().first?.hasPrefix(":parley.test FAIL USER INVALID_UTF8") == true)
        script.advance(1_000)
        #expect(ana.read().isEmpty)
        #expect(ana.ask("USER ana 0 * :Ana").first?.hasPrefix(":parley.test 001 ana ") == true)
    }

    // MARK: Channels

    @Test func namesComeWhenAskedForAlone() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "no-implicit-names")
        #expect(ana.ask("JOIN #cats") == [":ana!ana@host.test JOIN #cats"])
        #expect(ana.ask("NAMES #cats").count == 2)
    }

    @Test func invitationsAreToldToMembersWhoAsk() {
        let script = WorldScript()
        let ana = script.client("ana", capabilities: "invite-notify")
        let bo = script.client("bo", capabilities: "invite-notify")
        let cy = script.client("cy")
        for client in [ana, bo, cy] { _ = client.ask("JOIN #cats") }
        let eva = script.client("eva", capabilities: "invite-notify")
        _ = (bo.read(), cy.read())
        #expect(ana.ask("INVITE eva #cats") == [":parley.test 341 ana eva #cats"])
        #expect(bo.read() == [":ana!ana@host.test INVITE eva #cats"])
        #expect(cy.read().isEmpty)
        #expect(eva.read() == [":ana!ana@host.test INVITE eva #cats"])
    }
}
