import Bytes
import Chat
import TestKit
import Testing

/// IRCv3 draft/channel-rename.
@Suite struct RenameTests {
    private let script = WorldScript()
    private let ana: ScriptClient
    private let bo: ScriptClient

    init() {
        ana = script.client("ana", capabilities: "draft/channel-rename")
        bo = script.client("bo", capabilities: "extended-join")
        for client in [ana, bo] { _ = client.ask("JOIN #bar") }
        _ = ana.ask("TOPIC #bar :all about bars")
        _ = bo.read()
    }

    @Test func membersAreToldInTheirWay() {
        #expect(ana.ask("RENAME #bar #qux :no reason") == [":ana!ana@host.test RENAME #bar #qux :no reason"])
        let told = bo.read()
        #expect(told.prefix(2) == [":bo!bo@host.test PART #bar :no reason", ":bo!bo@host.test JOIN #qux * :bo"])
        #expect(told.dropFirst(2).map { $0.split(separator: " ")[1] } == ["332", "333", "353", "366"])
        #expect(told.contains(":parley.test 353 bo = #qux :@ana bo"))
        #expect(ana.ask("RENAME #qux #qux2") == [":ana!ana@host.test RENAME #qux #qux2 :"])
        #expect(bo.read().first == ":bo!bo@host.test PART #qux")
        // Whoever renames without knowing the capability is told as the others are.
        _ = ana.ask("MODE #qux2 +o bo")
        #expect(bo.ask("RENAME #qux2 #bar").contains(":bo!bo@host.test JOIN #bar * :bo"))
        #expect(ana.read().last == ":bo!bo@host.test RENAME #qux2 #bar :")
    }

    @Test func everythingFollows() throws {
        ana.send("PRIVMSG #bar :before")
        for mode in ["+b eva!*@*", "+k beer"] { ana.send("MODE #bar \(mode)") }
        ana.send("RENAME #bar #qux")
        _ = (ana.read(), bo.read())
        bo.send("PRIVMSG #qux :after")
        #expect(ana.read() == [":bo!bo@host.test PRIVMSG #qux :after"])
        #expect(ana.ask("MODE #qux b").first?.contains(" 367 ana #qux eva!*@* ") == true)
        #expect(ana.ask("MODE #qux").first == ":parley.test 324 ana #qux +ntk beer")
        let history = ana.ask("HISTORY #qux")
        #expect(history.contains { $0.contains("NOTICE #qux :") && $0.hasSuffix("<ana> before") })
        // The old name is free, and a new channel has nothing of the former.
        #expect(bo.ask("PRIVMSG #bar :x") == [":parley.test 403 bo #bar :No such channel"])
        let fresh = bo.ask("JOIN #bar")
        #expect(fresh.contains(":parley.test 353 bo = #bar :@bo"))
        #expect(!fresh.contains { $0.contains("before") })
        let saved = script.changes.compactMap { if case .saveChannel(let state) = $0 { state } else { nil } }
        let ids = Set(saved.filter { $0.name == "#qux" || $0.modes == "" }.map(\.id))
        #expect(ids.count == 1)
        #expect(saved.last { $0.id == ids.first }?.name == "#qux")
    }

    @Test func anotherCaseAlone() {
        #expect(ana.ask("RENAME #bar #Bar :nicer") == [":ana!ana@host.test RENAME #bar #Bar :nicer"])
        #expect(bo.read().isEmpty)
        #expect(ana.ask("PRIVMSG #BAR :hi").isEmpty)
        #expect(bo.read() == [":ana!ana@host.test PRIVMSG #Bar :hi"])
    }

    @Test(arguments: [
        ("RENAME #bar", "461 ana RENAME :"), ("RENAME #none #qux", "403 ana #none :"),
        ("RENAME #dogs #qux", "442 ana #dogs :"), ("RENAME #cats #qux", "482 ana #cats :"),
        ("RENAME #bar #Dogs", "FAIL RENAME CHANNEL_NAME_IN_USE #bar #Dogs :"),
        ("RENAME #bar bar", "FAIL RENAME CANNOT_RENAME #bar bar :"),
        ("RENAME #bar #", "FAIL RENAME CANNOT_RENAME #bar # :"),
        ("RENAME #bar #bar", "FAIL RENAME CANNOT_RENAME #bar #bar :"),
        ("RENAME #bar :#a b", "FAIL RENAME CANNOT_RENAME #bar "),
    ])
    func oneErrorForEachMistake(line: String, expected: String) {
        _ = (bo.ask("JOIN #dogs"), bo.ask("JOIN #cats"), ana.ask("JOIN #cats"), bo.read())
        let answer = ana.ask(line)
        #expect(answer.count == 1)
        #expect(answer.first?.hasPrefix(":parley.test \(expected)") == true, "\(answer)")
        #expect(bo.read().isEmpty)
    }

    @Test func whoTalksThereGoesOnTalking() {
        let person = script.connect()
        _ = (person.ask("JOIN #bar"), person.ask("JOIN #dogs"), ana.read())
        ana.send("RENAME #bar #qux")
        #expect(person.read().contains { $0.contains(" JOIN #qux") })
        person.send("still among dogs")
        #expect(ana.read().count == 1)
        _ = person.ask("JOIN #qux")
        person.send("now here")
        #expect(ana.read().last?.hasSuffix(" PRIVMSG #qux :now here") == true)
    }

    @Test func whileTheStoreFailsNothingIsRenamed() {
        script.isStoreFull = true
        _ = ana.ask("PRIVMSG #bar :x")
        #expect(ana.ask("RENAME #bar #qux").first?.contains("FAIL RENAME STORE_FULL #bar") == true)
        script.isStoreFull = false
        script.apply(.storeRecovered)
        #expect(bo.read().isEmpty)
        #expect(ana.ask("NAMES #bar").count == 2)
    }

    @Test func theEventIsPlayedBackToWhoKnowsIt() {
        ana.send("RENAME #bar #qux :why")
        let eva = script.client(
            "eva", capabilities: "batch draft/chathistory draft/event-playback draft/channel-rename")
        _ = eva.ask("JOIN #qux")
        let page = eva.ask("CHATHISTORY LATEST #qux * 50")
        #expect(page.contains { $0.hasSuffix(":ana!ana@host.test RENAME #bar #qux :why") })
        eva.send("CAP REQ -draft/channel-rename")
        _ = eva.read()
        #expect(!eva.ask("CHATHISTORY LATEST #qux * 50").contains { $0.contains("RENAME") })
    }
}
