import TestKit
import Testing

/// docs/PROTOCOL.md, Messages and history: the three forms of the replay, HISTORY, CHATHISTORY, and what survives.
@Suite struct DoorHistoryTests {
    let server: ServerProcess
    let channel = Door.unique("#history")

    init() throws { server = try Door.shared.get() }

    /// Somebody who says `texts` in the channel and stays.
    private func speaker(_ texts: [String]) throws -> LineClient {
        let speaker = try server.client(Door.unique("speaker"))
        try speaker.join(channel)
        for text in texts { try speaker.send("PRIVMSG \(channel) :\(text)") }
        try speaker.sync()
        return speaker
    }

    // MARK: On JOIN

    @Test("Plain sessions get readable lines with the time in the text, between “last 50 of” and “live now”")
    func plainReplay() throws {
        _ = try speaker(["one", "two", "three"])
        let person = try server.person(Door.unique("reader"))
        try person.send("JOIN \(channel)")
        let lines = try person.sync()
        let first = try #require(lines.firstIndex { $0.text.contains("last ") && $0.text.contains(channel) })
        let last = try #require(lines.firstIndex { $0.text.contains("live now") })
        let between = lines[first..<last].dropFirst().map(\.text).filter { $0.contains("one") || $0.contains("t") }
        let stamp = #/\[20\d\d-\d\d-\d\d \d\d:\d\d\] /#
        for (line, text) in zip(between.suffix(3), ["one", "two", "three"]) {
            #expect(line.contains(stamp))
            #expect(line.hasSuffix(text))
        }
        #expect(lines.count { $0.text.hasSuffix("two") } == 1)
    }

    @Test("Sessions with server-time and batch get a chathistory batch")
    func batchReplay() throws {
        _ = try speaker(["one", "two", "three"])
        let client = try server.client(Door.unique("reader"), "batch", "server-time", "message-tags")
        try client.send("JOIN \(channel)")
        let start = try client.expect("BATCH +", "chathistory", channel)
        let reference = try #require(start.parameters.first).dropFirst()
        let lines = try client.batch(String(reference)).dropLast()
        #expect(lines.map(\.last) == ["one", "two", "three"])
        for line in lines {
            #expect(line.tags["batch"] == String(reference))
            #expect(line.tags["time"]?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
            #expect(line.tags["msgid"]?.isEmpty == false)
        }
        let times = lines.compactMap { $0.tags["time"] }
        #expect(times == times.sorted() && Set(times).count == times.count)
    }

    @Test("A bare IRC client gets them as NOTICEs of the server, `[21:40] <ana> hi`, and no PRIVMSG")
    func noticeReplay() throws {
        let speaker = try speaker(["one", "two"])
        let client = try server.client(Door.unique("reader"))
        try client.send("JOIN \(channel)")
        let lines = try client.sync()
        let notices = lines.filter { $0.command == "NOTICE" && $0.last.contains(#/\[\d\d:\d\d\] <speaker-\w+> /#) }
        #expect(notices.map { String($0.last.split(separator: " ").last ?? "") } == ["one", "two"])
        #expect(notices.allSatisfy { $0.source == "parley.test" })
        #expect(lines.allSatisfy { $0.command != "PRIVMSG" })
        try speaker.sync()
    }

    @Test("Only the last 50 come by themselves, the newest at the end")
    func fiftyLines() throws {
        _ = try speaker((1...60).map { "line \($0)." })
        let client = try server.client(Door.unique("reader"), "batch", "server-time")
        try client.send("JOIN \(channel)")
        let texts = try client.sync().filter { $0.command == "PRIVMSG" }.map(\.last)
        #expect(texts == (11...60).map { "line \($0)." })
    }

    @Test("With draft/chathistory, nothing automatic")
    func chathistoryMeansNoReplay() throws {
        _ = try speaker(["one"])
        let client = try server.client(
            Door.unique("reader"), "batch", "server-time", "message-tags", "draft/chathistory")
        try client.send("JOIN \(channel)")
        #expect(try client.sync().allSatisfy { $0.command != "PRIVMSG" && $0.command != "BATCH" })
    }

    @Test("What is said while the replay is fetched comes after it, once")
    func replayThenLive() throws {
        let speaker = try speaker((1...50).map { "old \($0)" })
        let client = try server.client(Door.unique("reader"), "batch", "server-time")
        for round in 1...20 {
            try client.send("JOIN \(channel)")
            try speaker.send("PRIVMSG \(channel) :new \(round)")
            try speaker.sync()
            let lines = try client.lines(until: "new \(round)") + client.sync()
            let texts = lines.filter { $0.command == "PRIVMSG" }.map(\.last)
            #expect(texts.count { $0 == "new \(round)" } == 1)
            #expect(texts.last == "new \(round)")
            try client.send("PART \(channel)")
            try client.sync()
        }
    }

    // MARK: Asked for

    @Test("HISTORY <target> [count|1h] asks for more from anywhere")
    func historyCommand() throws {
        _ = try speaker((1...9).map { "line \($0)." })
        let person = try server.person(Door.unique("reader"), in: channel)
        try person.send("HISTORY \(channel) 3")
        let some = try person.sync().map(\.text).filter { $0.contains("line ") }
        #expect(some.count == 3 && some.first?.contains("line 7.") == true && some.last?.contains("line 9.") == true)
        try person.send("/history \(channel) 1h")
        #expect(try person.sync().count { $0.text.contains("line ") } == 9)
    }

    @Test("CHATHISTORY LATEST and BEFORE with msgid and timestamp: pages full, every message exactly once")
    func chathistoryPages() throws {
        _ = try speaker((1...25).map { "line \($0)." })
        let client = try server.client(
            Door.unique("reader"), "batch", "server-time", "message-tags", "draft/chathistory", "labeled-response")
        try client.join(channel)
        for reference in ["msgid", "timestamp"] {
            var texts: [String] = []
            var selector = "LATEST \(channel) *"
            for size in [10, 10, 5, 0] {
                try client.send("@label=page CHATHISTORY \(selector) 10")
                let page = try client.labeled("page").filter { $0.command == "PRIVMSG" }
                #expect(page.count == size)
                texts = page.map(\.last) + texts
                guard let oldest = page.first else { break }
                let value = try #require(oldest.tags[reference == "msgid" ? "msgid" : "time"])
                selector = "BEFORE \(channel) \(reference)=\(value)"
            }
            #expect(texts == (1...25).map { "line \($0)." })
        }
    }

    @Test("Who may read: members only", arguments: ["HISTORY CHANNEL 5", "CHATHISTORY LATEST CHANNEL * 5"])
    func membersOnly(command: String) throws {
        _ = try speaker(["a secret"])
        let client = try server.client(Door.unique("spy"), "batch", "server-time", "draft/chathistory", "message-tags")
        try client.send(command.replacing("CHANNEL", with: channel))
        let lines = try client.sync()
        #expect(!lines.isEmpty)
        #expect(lines.allSatisfy { !$0.text.contains("a secret") })
    }

    // MARK: Survival

    @Test(
        "Topic, modes, lists, ranks and history live on over a restart, and when the channel is empty",
        arguments: [false, true])
    func restart(crash: Bool) throws {
        let server = try ServerProcess()
        let ana = try server.client("ana")
        try ana.join("#cats")
        try ana.send("TOPIC #cats :All about cats", "MODE #cats +mlk 7 meow", "MODE #cats +b *!*@dogs.example")
        for number in 1...5 { try ana.send("PRIVMSG #cats :cat \(number)") }
        try ana.sync()
        ana.close()
        crash ? server.kill9() : try server.terminate()
        try server.start()
        let bo = try server.client("bo", "batch", "server-time")
        try bo.send("JOIN #cats")
        try bo.expect(" 475 ")
        try bo.send("JOIN #cats meow")
        let lines = try bo.sync()
        #expect(lines.contains { $0.command == "332" && $0.last == "All about cats" })
        #expect(lines.filter { $0.command == "PRIVMSG" }.map(\.last) == (1...5).map { "cat \($0)" })
        #expect(lines.contains { $0.command == "353" } && !lines.contains { $0.text.contains("@bo") })
        try bo.send("MODE #cats", "MODE #cats +b")
        let modes = try bo.expect(" 324 ").parameters
        for letter in "mlknt" { #expect(modes[2].contains(letter)) }
        try bo.expect(" 367 ", "*!*@dogs.example")
    }

    @Test("msgids are unique for the life of the database, and time never runs backwards over a restart")
    func idsOverRestart() throws {
        let server = try ServerProcess()
        var ids: [String] = []
        var times: [String] = []
        for round in 1...3 {
            let client = try server.client("ana", "message-tags", "server-time", "echo-message")
            try client.join("#cats")
            for number in 1...5 {
                try client.send("PRIVMSG #cats :round \(round), \(number)")
                let echo = try client.expect("round \(round), \(number)")
                ids.append(try #require(echo.tags["msgid"]))
                times.append(try #require(echo.tags["time"]))
            }
            server.kill9()
            try server.start()
        }
        #expect(Set(ids).count == 15)
        #expect(ids == ids.sorted())
        #expect(times == times.sorted())
    }
}
