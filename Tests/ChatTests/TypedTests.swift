import Bytes
import Chat
import TestKit
import Testing

/// Plain sessions: people who type.
@Suite struct TypedTests {
    private func person(_ script: WorldScript, _ nick: String, in channel: String? = nil) -> ScriptClient {
        let person = script.connect()
        person.send("NICK \(nick)")
        script.advance(300)
        if let channel { person.send("JOIN \(channel)") }
        _ = person.read()
        return person
    }

    @Test func whoSaysNothingIsGreetedOnce() {
        let script = WorldScript()
        let ana = script.connect()
        #expect(ana.read().isEmpty)
        script.advance(1_000)
        let greeting = ana.read()
        #expect(greeting.count == 1)
        #expect(greeting[0].hasPrefix(":parley.test NOTICE * :"))
        for word in ["NICK ", "JOIN #lobby", "HELP"] { #expect(greeting[0].contains(word)) }
        script.advance(10_000)
        #expect(ana.read().isEmpty)
        let client = script.connect()
        client.send("CAP LS 302")
        _ = client.read()
        script.advance(1_000)
        #expect(client.read().isEmpty)
    }

    @Test func nickAloneIsEnoughAfterAMoment() {
        let script = WorldScript()
        let ana = script.connect()
        #expect(ana.ask("NICK ana").isEmpty)
        script.advance(250)
        let lines = ana.read()
        #expect(lines.first == ":parley.test 001 ana :Welcome to Parley, ana")
        #expect(!lines.contains { $0.contains(" 005 ") || $0.contains(" 251 ") }, "a person gets no burst")
    }

    @Test func nickIsCompleteWithTheNextCommand() {
        let script = WorldScript()
        let ana = script.connect()
        ana.send("NICK ana")
        #expect(ana.ask("JOIN #lobby").contains(":ana!ana@host.test JOIN #lobby"))
    }

    @Test func quitCompletesTheNickAndPingDoesNot() {
        let script = WorldScript()
        let ana = script.connect()
        ana.send("NICK ana")
        #expect(ana.ask("QUIT").first == ":parley.test 001 ana :Welcome to Parley, ana")
        #expect(!script.connect().ask("QUIT").contains { $0.contains(" 001 ") }, "said first it makes no guest")
        // Some clients ask between NICK and USER whether anybody is there.
        let client = script.connect()
        client.send("NICK bo")
        #expect(client.ask("PING 1") == [":parley.test PONG parley.test :1"])
        #expect(client.ask("USER bo 0 * :Bo").contains { $0.contains(" 005 ") })
    }

    @Test func aNickThatIsTakenIsToldWithTheNextStep() {
        let script = WorldScript()
        _ = script.client("ana")
        let person = script.connect()
        #expect(
            person.ask("NICK ana") == [":parley.test 433 * ana :Nickname is already in use. Type NICK anothername"])
        // Two wanted it, the other was quicker.
        person.send("NICK bo")
        _ = script.client("bo")
        script.advance(300)
        #expect(person.read().contains { $0.contains(" 433 ") })
        #expect(!person.isClosed)
        person.send("NICK cy")
        script.advance(300)
        #expect(person.read().first?.contains(" 001 cy ") == true)
    }

    @Test func anotherCommandFirstMakesAGuest() throws {
        let script = WorldScript()
        let lines = script.connect().ask("JOIN #lobby")
        let welcome = try #require(lines.first { $0.contains(" 001 ") })
        let nick = try #require(welcome.split(separator: " ").dropFirst(2).first)
        #expect(nick.hasPrefix("guest-") && nick.count == 11)
        #expect(lines.contains { $0.hasPrefix(":\(nick)!") && $0.hasSuffix(" JOIN #lobby") })
    }

    @Test(arguments: ["HELP", "LIST", "WHO #lobby", "FROBNICATE", "PING x", "CAP LIST"])
    func lookingAroundMakesNoGuest(line: String) {
        let script = WorldScript()
        let person = script.connect()
        let lines = person.ask(line)
        #expect(!lines.isEmpty)
        #expect(!lines.contains { $0.contains(" 001 ") })
        #expect(script.client("bo").ask("LUSERS").contains { $0.contains(" 265 bo 1 ") })
    }

    @Test func anUnknownCommandNamesTheNearest() {
        let script = WorldScript()
        #expect(
            script.connect().ask("JION #lobby") == [
                ":parley.test 421 * JION :Unknown command. Did you mean JOIN? HELP lists all commands"
            ])
        let lost = person(script, "ana").ask("hello everybody")
        #expect(lost.count == 1)
        #expect(lost[0].contains("421 ana hello :Unknown command"))
        #expect(script.client("bo").ask("JION #lobby") == [":parley.test 421 bo JION :Unknown command"])
    }

    @Test func aLateUserMakesItAClient() {
        let script = WorldScript()
        let ana = person(script, "ana")
        let burst = ana.ask("USER u 0 * :Ana")
        #expect(burst.contains { $0.contains(" 004 ana ") })
        #expect(!burst.contains { $0.contains(" 001 ") })
        _ = ana.ask("JOIN #lobby")
        #expect(ana.ask("hello there") == [":parley.test 421 ana hello :Unknown command"])
        script.advance(121_000)
        #expect(ana.read() == ["PING :parley.test"])
    }

    @Test func typedTextIsSaid() {
        let script = WorldScript()
        let bo = script.client("bo")
        _ = bo.ask("JOIN #lobby")
        let ana = person(script, "ana", in: "#lobby")
        _ = bo.read()
        let said = [
            "hello there", "list of things", "join us", ":) hi", "@bo HELP me", "who is there", "it's", "Quit it", "😀",
        ]
        for text in said {
            #expect(ana.ask(text).isEmpty)
            #expect(bo.read() == [":ana!ana@host.test PRIVMSG #lobby :\(text)"])
        }
        for command in ["PING x", "who #lobby", "time", "PING"] {
            #expect(!ana.ask(command).isEmpty)
            #expect(bo.read().isEmpty)
        }
    }

    @Test func slashCommandsWork() {
        let script = WorldScript()
        let bo = script.client("bo")
        _ = bo.ask("JOIN #lobby")
        let ana = person(script, "ana")
        #expect(ana.ask("/me waves")[0].contains("JOIN #lobby"))
        #expect(ana.ask("/j #lobby").contains(":ana!ana@host.test JOIN #lobby"))
        _ = bo.read()
        ana.send("/me waves")
        ana.send("/say /me")
        ana.send("/msg bo hello to you")
        ana.send("/PrivMsg bo :and again")
        #expect(
            bo.read() == [
                ":ana!ana@host.test PRIVMSG #lobby :\u{1}ACTION waves\u{1}", ":ana!ana@host.test PRIVMSG #lobby :/me",
                ":ana!ana@host.test PRIVMSG bo :hello to you", ":ana!ana@host.test PRIVMSG bo :and again",
            ])
        #expect(ana.ask("/frob")[0].contains(" 421 ana frob :Unknown command"))
        #expect(ana.ask("/part") == [":ana!ana@host.test PART #lobby"])
        #expect(ana.ask("/quit good night").last == "ERROR :Quit: good night")
        #expect(ana.isClosed)
    }

    @Test func whoTypesLeavesOutTheColon() {
        let script = WorldScript()
        let bo = script.client("bo")
        person(script, "ana").send("PRIVMSG bo hello to you")
        #expect(bo.read() == [":ana!ana@host.test PRIVMSG bo :hello to you"])
        // A client means what the grammar says.
        script.client("cy").send("PRIVMSG bo hello to you")
        #expect(bo.read() == [":cy!cy@host.test PRIVMSG bo :hello"])
    }

    @Test func textGoesToTheLastChannel() {
        let script = WorldScript()
        let bo = script.client("bo")
        _ = bo.ask("JOIN #one,#two")
        let ana = person(script, "ana", in: "#one")
        _ = ana.ask("JOIN #two")
        _ = bo.read()
        ana.send("here")
        ana.send("JOIN #one")
        ana.send("there")
        ana.send("PART #one")
        ana.send("again")
        #expect(
            bo.read().filter { $0.contains("PRIVMSG") }.map { $0.split(separator: " PRIVMSG ")[1] } == [
                "#two :here", "#one :there", "#two :again",
            ])
    }

    @Test func whatIsNotTextIsRefused() {
        let script = WorldScript()
        let ana = person(script, "ana", in: "#lobby")
        ana.sendBytes(Array("caf".utf8) + [0xE9] + Array(" au lait".utf8))
        let refused = ana.read()
        #expect(refused.count == 1)
        #expect(refused[0].contains("FAIL PRIVMSG INVALID_UTF8 :"))
        #expect(script.log.allSatisfy { !$0.kind.isMessage })
    }

    @Test func backspaceCorrects() {
        let script = WorldScript()
        let bo = script.client("bo")
        _ = bo.ask("JOIN #lobby")
        let ana = person(script, "ana", in: "#lobby")
        _ = bo.read()
        ana.send("helä\u{8}lo\u{7F}o")
        #expect(bo.read() == [":ana!ana@host.test PRIVMSG #lobby :hello"])
    }

    @Test func theEndOfInputCompletesWhatWasSent() {
        let script = WorldScript()
        let ana = script.connect()
        ana.send("NICK ana")
        script.apply(.inputEnded(ana.id))
        #expect(ana.read().first?.contains(" 001 ana ") == true)
        #expect(ana.isClosed)
        let nobody = script.connect()
        script.apply(.inputEnded(nobody.id))
        #expect(nobody.isClosed)
        let bo = person(script, "bo", in: "#lobby")
        script.apply(.endOfTransmission(bo.id))
        #expect(bo.isClosed)
    }

    @Test func silenceBeforeAnyCommandEndsWithASentence() {
        let script = WorldScript()
        let ana = script.connect()
        script.advance(59_000)
        #expect(!ana.isClosed)
        script.advance(2_000)
        #expect(ana.isClosed)
        #expect(ana.read().last == "ERROR :Nothing came for 60 seconds. Come back and type NICK yourname")
        // Who looks around is not silent.
        let bo = script.connect()
        script.advance(50_000)
        bo.send("HELP")
        script.advance(50_000)
        #expect(!bo.isClosed)
        script.advance(11_000)
        #expect(bo.isClosed)
    }

    @Test func aReaderStaysForDays() {
        let script = WorldScript()
        let ana = person(script, "ana", in: "#lobby")
        script.advance(3 * 86_400_000)
        #expect(!ana.isClosed)
        #expect(ana.read().isEmpty)
    }

    @Test func aBrowserIsToldWhereItIs() {
        let script = WorldScript()
        let browser = script.connect()
        let answer = browser.ask("GET / HTTP/1.1")
        #expect(answer.first == "HTTP/1.1 400 Bad Request")
        #expect(browser.isClosed)
        browser.send("NICK ana")
        #expect(browser.read().isEmpty)
    }
}
