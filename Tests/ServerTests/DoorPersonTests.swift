import TestKit
import Testing

/// docs/PROTOCOL.md, Coming in: a person with netcat.
@Suite struct DoorPersonTests {
    let server: ServerProcess
    let channel = Door.unique("#person")

    init() throws { server = try Door.shared.get() }

    // MARK: Two ways in

    @Test(
        "A connection that sends CAP or USER is an IRC client: 451 before registration is done",
        arguments: ["CAP LS 302", "USER x 0 * :X"])
    func notRegistered(first: String) throws {
        let watcher = try server.watcher(channel)
        let client = try server.connect()
        try client.send(first, "JOIN \(channel)")
        try client.expect(" 451 ")
        #expect(try watcher.sync().allSatisfy { $0.command != "JOIN" })
    }

    @Test("irssi sends CAP LS 302 and an empty JOIN as a probe; that gets its 451 and makes nobody a guest")
    func irssiProbe() throws {
        let client = try server.connect()
        try client.send("CAP LS 302", "JOIN :")
        try client.expect("CAP * LS")
        try client.expect(" 451 ")
        let nick = Door.unique("irssi")
        try client.send("CAP END", "NICK \(nick)", "USER \(nick) 0 * :X")
        try client.expect(" 001 \(nick) ")
    }

    @Test("421 for what is unknown")
    func unknownCommand() throws {
        let client = try server.client(Door.unique("u"))
        try client.send("FROBNICATE now")
        try client.expect(" 421 ", "FROBNICATE")
    }

    @Test("`NICK ana` alone is enough")
    func nickAlone() throws {
        let person = try server.connect()
        let nick = Door.unique("ana")
        try person.send("NICK \(nick)")
        try person.expect(" 001 \(nick) ", within: 2)
    }

    @Test("… or at once with the next command")
    func nickThenCommand() throws {
        let person = try server.connect()
        let nick = Door.unique("ana")
        try person.send("NICK \(nick)", "JOIN \(channel)")
        let lines = try person.lines(until: " 366 ", channel)
        #expect(lines.contains { $0.command == "001" && $0.parameters.first == nick })
    }

    @Test("Any other command first makes a guest with a generated nick (`guest-` and five letters) and then runs")
    func commandMakesGuest() throws {
        let watcher = try server.watcher(channel)
        let person = try server.connect()
        try person.send("JOIN \(channel)")
        let nick = try #require(try person.expect(" 001 ").parameters.first)
        #expect(nick.wholeMatch(of: /guest-[a-z]{5}/) != nil)
        try person.expect(" 366 ", channel)
        try watcher.expect(":\(nick)!", " JOIN ")
    }

    @Test(
        "HELP, LIST, WHO answer without registering",
        arguments: [("HELP", "HELP"), ("LIST", "323"), ("WHO #lobby", "315")])
    func answersWithoutRegistering(command: String, answer: String) throws {
        let person = try server.connect()
        try person.send(command)
        let lines = try person.sync()
        #expect(lines.contains { $0.text.contains(answer) })
        #expect(lines.allSatisfy { $0.command != "001" })
    }

    @Test("An unknown command or PING first makes no guest", arguments: ["PING x", "FROBNICATE", "hello there"])
    func makesNoGuest(first: String) throws {
        let person = try server.connect()
        try person.send(first)
        #expect(try person.sync().allSatisfy { $0.command != "001" })
    }

    @Test("Nobody may choose a nick that starts with `guest-`")
    func guestNicksAreReserved() throws {
        let person = try server.connect()
        try person.send("NICK guest-abcde", "PING x")
        let lines = try person.lines(until: "PONG")
        #expect(lines.contains { ["432", "433"].contains($0.command) })
    }

    @Test("A USER that comes late turns the session into an IRC client's: the rest of the burst follows")
    func lateUser() throws {
        let person = try server.connect()
        let nick = Door.unique("late")
        try person.enter(nick)
        try person.send("USER \(nick) 0 * :Late")
        try person.expect(" 005 ")
        try person.sync()
        try person.join(channel)
        // What is typed is no longer said: an IRC client's unknown word is an unknown command.
        try person.send("hello there")
        try person.expect(" 421 ")
    }

    // MARK: Greeting

    @Test("One NOTICE greets within a second of connecting: the server's name, NICK yourname, JOIN #lobby, HELP")
    func greeting() throws {
        let person = try server.connect()
        let notice = try #require(try person.next(.seconds(1.5)))
        #expect(notice.command == "NOTICE")
        for part in ["parley.test", "NICK yourname", "JOIN #lobby", "HELP"] { #expect(notice.text.contains(part)) }
        #expect(try person.sync().isEmpty)
    }

    @Test("001, the message of the day and the notices instead of the full burst")
    func shortBurst() throws {
        let person = try server.connect()
        let lines = try person.enter(Door.unique("short"))
        let commands = Set(lines.map(\.command))
        #expect(commands.contains("001"))
        #expect(lines.contains { $0.text.contains(#/ 372 .* Users online: \d+\./#) })
        #expect(commands.isDisjoint(with: ["002", "003", "004", "005", "251"]))
    }

    // MARK: Saying

    @Test("After a JOIN, what is typed is said in the last joined channel")
    func typedIsSaid() throws {
        let other = Door.unique("#other")
        let watcher = try server.watcher(channel)
        let second = try server.watcher(other)
        let person = try server.person(Door.unique("say"), in: channel)
        try person.send("hello, everyone")
        try watcher.expectMessage("hello, everyone")
        try person.join(other)
        try person.send("and here")
        try second.expectMessage("and here")
        #expect(try watcher.messages() == [])
    }

    @Test(
        "… unless its first word is a command in capitals, or that word in any case is alone or before a channel",
        arguments: [
            ("join us tomorrow", true), ("who is there?", true), ("Help me with this", true), ("list of things", true),
            ("names #CHANNEL", false), ("NAMES #CHANNEL", false), ("motd", false), ("lusers", false), ("LIST", false),
            ("names", false), ("Join #ELSEWHERE", false), ("topic #CHANNEL", false), ("VERSION", false),
            ("OK then", true),
            ("I think so", true), ("A", true), ("#CHANNEL is nice", true), (":)", true), ("… ", true),
        ])
    func commandOrSpeech(typed: String, isSaid: Bool) throws {
        let channel = Door.unique("#said")
        let watcher = try server.watcher(channel)
        let person = try server.person(Door.unique("say"), in: channel)
        let line = typed.replacing("#CHANNEL", with: channel).replacing("#ELSEWHERE", with: Door.unique("#else"))
        try person.send(line)
        let answers = try person.sync()
        #expect(try watcher.messages() == (isSaid ? [line] : []))
        if !isSaid { #expect(!answers.isEmpty) }
    }

    @Test("/join, /msg, /me, /quit and every command after a slash work")
    func slashes() throws {
        let watcher = try server.watcher(channel)
        let nick = Door.unique("slash")
        let friend = try server.person(Door.unique("friend"))
        let person = try server.person(nick)
        try person.send("/join \(channel)")
        try watcher.expect(":\(nick)!", " JOIN ")
        try person.send("/me waves")
        try watcher.expectMessage("\u{1}ACTION waves\u{1}")
        try person.send("/msg \(friend.label) psst, over here")
        try friend.expect("psst, over here")
        try person.send("/whois \(friend.label)")
        try person.expect(" 318 ", friend.label)
        try person.send("/quit bye")
        try watcher.expect(":\(nick)!", " QUIT", "bye")
        #expect(try watcher.messages() == [])
    }

    @Test("What is typed before any JOIN is said nowhere, and the answer names the next step")
    func typedBeforeJoin() throws {
        let person = try server.person(Door.unique("early"))
        try person.send("hello?")
        #expect(try person.sync().contains { $0.text.contains("JOIN") })
    }

    // MARK: Help and refusals

    @Test(
        "HELP and HELP <command> fit one screen, with an example that can be typed",
        arguments: ["HELP", "HELP JOIN", "HELP PRIVMSG", "HELP IDENTITY", "/help nick"])
    func help(command: String) throws {
        let person = try server.person(Door.unique("help"))
        try person.send(command)
        let lines = try person.sync()
        #expect((1...24).contains(lines.count))
        #expect(lines.contains { $0.text.lowercased().contains("example") || $0.text.contains("#lobby") })
    }

    @Test(
        "An unknown command names the nearest known one",
        arguments: [("JION #lobby", "JOIN"), ("/prvmsg ana hi", "PRIVMSG"), ("/halp", "HELP"), ("NICKK ana", "NICK")])
    func nearestCommand(typed: String, known: String) throws {
        let person = try server.person(Door.unique("typo"))
        try person.send(typed)
        #expect(try person.sync().contains { $0.text.contains(known) })
    }

    @Test(
        "Every refusal names the next step",
        arguments: [
            ("JOIN", "HELP JOIN"), ("NICK", "NICK"), ("PRIVMSG", "PRIVMSG"), ("JOIN lobby", "#lobby"),
            ("TOPIC", "HELP TOPIC"),
        ])
    func nextStep(typed: String, hint: String) throws {
        let person = try server.person(Door.unique("step"))
        try person.send(typed)
        #expect(try person.sync().contains { $0.text.contains(hint) })
    }

    @Test("A nick in use is refused with what to do")
    func nickInUse() throws {
        let nick = Door.unique("taken")
        let first = try server.person(nick)
        let person = try server.connect()
        try person.send("NICK \(nick)")
        let refusal = try person.expect(" 433 ", nick)
        #expect(refusal.text.contains("NICK") || refusal.last.contains("nother"))
        try first.sync()
    }
}
