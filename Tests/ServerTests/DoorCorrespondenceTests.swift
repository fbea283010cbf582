import TestKit
import Testing

/// docs/PROTOCOL.md, Messages and history: direct messages to who is gone, how far one has read, where something was
/// said, and history by date.
@Suite struct DoorCorrespondenceTests {
    private func token(_ client: LineClient) throws -> String {
        try client.send("IDENTITY TOKEN")
        return try client.expect("NOTE IDENTITY TOKEN ").parameters[2]
    }

    private func back(_ server: ServerProcess, _ token: String) throws -> [ReceivedLine] {
        let person = try server.connect()
        try person.send("PASS guest:\(token)", "ISON nobody")
        let lines = try person.lines(until: " 303 ") + person.sync()
        try person.send("QUIT")
        try person.readToEnd()
        return lines
    }

    @Test("What is said to who is gone is kept over a restart and comes once", arguments: [false, true])
    func missed(crash: Bool) throws {
        let server = try ServerProcess()
        let bo = try server.person("bo", in: "#cats")
        let token = try token(bo)
        try bo.send("QUIT")
        try bo.readToEnd()
        let ana = try server.client("ana")
        try ana.send("PRIVMSG bo :one", "PRIVMSG =\(token.prefix(13)) :two")
        try ana.expect(" 301 ana bo ")
        try ana.expect(" 301 ana bo ")
        crash ? server.kill9() : try server.terminate()
        try server.start()
        let again = try server.client("ana")
        try again.send("PRIVMSG bo :three")
        try again.expect(" 301 ana bo ")
        let texts = try back(server, token).map(\.text).filter { $0.contains("ana!") }
        #expect(texts.map { $0.split(separator: " ").last } == ["one", "two", "three"])
        #expect(try !back(server, token).contains { $0.text.contains("one") })
        try again.send("HISTORY bo")
        #expect(try again.sync().count { $0.text.contains("<ana> ") } == 1, "who was called ana before was another one")
    }

    @Test("A uid that was known before the restart is reached by a pipe that ends at once; one that never was is 401")
    func byUid() throws {
        let server = try ServerProcess()
        let bo = try server.person("bo", in: "#cats")
        let token = try token(bo)
        try bo.send("QUIT")
        try bo.readToEnd()
        for (uid, numeric) in [(token.prefix(13), " 301 "), ("u000000000001", " 401 ")] {
            let pipe = try server.connect()
            try pipe.send(raw: "NICK pipe\nPRIVMSG =\(uid) :from a pipe")
            pipe.halfClose()
            #expect(try pipe.readToEnd().contains { $0.text.contains(numeric) })
        }
        #expect(try back(server, token).count { $0.text.hasSuffix("from a pipe") } == 1)
    }

    @Test("MARKREAD is shared by the sessions of an identity and outlives the server")
    func marks() throws {
        let server = try ServerProcess()
        let time = "timestamp=2026-01-02T03:04:05.678Z"
        let one = try server.client("ana", "draft/read-marker")
        try one.join("#cats")
        let token = try token(one)
        let two = try server.connect()
        try two.register("ana", capabilities: ["draft/read-marker"], password: "guest:\(token)")
        _ = try two.lines(until: " 366 ", "#cats")
        try one.send("MARKREAD #cats \(time)", "MARKREAD ana \(time)")
        try one.expect("MARKREAD #cats \(time)")
        try two.expect("MARKREAD #cats \(time)")
        try two.expect("MARKREAD ana \(time)")
        server.kill9()
        try server.start()
        let three = try server.connect()
        try three.register("ana", capabilities: ["draft/read-marker"], password: "guest:\(token)")
        let entrance = try three.lines(until: " 366 ", "#cats")
        #expect(entrance.contains { $0.text.hasSuffix("MARKREAD #cats \(time)") })
    }

    @Test("CHATHISTORY TARGETS names channels and people, each page ends where the next begins")
    func targets() throws {
        let server = try ServerProcess()
        let ana = try server.client(
            "ana", "batch", "server-time", "message-tags", "draft/chathistory", "labeled-response")
        let bo = try server.client("bo")
        for number in 1...5 {
            try ana.join("#c\(number)")
            try ana.send("PRIVMSG #c\(number) :x")
        }
        try bo.send("PRIVMSG ana :y")
        try bo.sync()
        try ana.sync()
        server.kill9()
        try server.start()
        let again = try server.client(
            "ana", "batch", "server-time", "message-tags", "draft/chathistory", "labeled-response")
        for number in 1...5 { try again.join("#c\(number)") }
        let late = "timestamp=2100-01-01T00:00:00.000Z"
        var from = "timestamp=2020-01-01T00:00:00.000Z"
        var found: [String] = []
        while true {
            try again.send("@label=t CHATHISTORY TARGETS \(from) \(late) 2")
            let page = try again.labeled("t")
            let targets = page.filter { $0.command == "CHATHISTORY" }
            found += targets.map { $0.parameters[1] }
            if page[0].tags["draft/chathistory-end"] != nil { break }
            from = "timestamp=\(try #require(targets.last?.parameters[2]))"
        }
        #expect(found == (1...5).map { "#c\($0)" })
    }

    @Test("HISTORY <target> <date> begins at the date")
    func historyByDate() throws {
        let server = try Door.shared.get()
        let channel = Door.unique("#dated")
        let person = try server.person(Door.unique("reader"), in: channel)
        try person.send("said today", "HISTORY \(channel) 2020-01-01")
        #expect(try person.sync().contains { $0.text.hasSuffix("said today") })
        try person.send("HISTORY \(channel) 2100-01-01")
        #expect(try person.sync().contains { $0.text.contains("nothing to show of \(channel)") })
    }
}
