import Bytes
import Chat
import TestKit
import Testing

@Suite struct ChannelTopicTests {
    @Test func theTopicIsSetShownAndTakenAway() throws {
        let cats = Cats()
        let seconds = cats.script.moment.wall / 1000
        #expect(cats.bo.ask("TOPIC #cats") == [":parley.test 331 bo #Cats :No topic is set"])
        #expect(cats.ana.ask("TOPIC #CATS :all about cats") == [":ana!ana@host.test TOPIC #Cats :all about cats"])
        #expect(cats.bo.read() == [":ana!ana@host.test TOPIC #Cats :all about cats"])
        let told = [
            ":parley.test 332 bo #Cats :all about cats", ":parley.test 333 bo #Cats ana!ana@host.test \(seconds)",
        ]
        #expect(cats.bo.ask("TOPIC #cats") == told)
        let state = try #require(cats.saved)
        #expect(state.topic == "all about cats" && state.topicTime == seconds)
        #expect(cats.ana.ask("TOPIC #cats :all about cats").count == 1)
        #expect(cats.ana.ask("TOPIC #cats :") == [":ana!ana@host.test TOPIC #Cats :"])
        #expect(cats.bo.ask("TOPIC #cats").first?.hasPrefix(":parley.test 331") == true)
        #expect(cats.script.log.filter { $0.kind == .topic }.map { $0.text.string }.last == ":")
    }

    @Test func whoMayNotIsTold() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        #expect(cats.bo.ask("TOPIC #cats :mine") == [":parley.test 482 bo #Cats :You're not channel operator"])
        #expect(cy.ask("TOPIC #cats :mine") == [":parley.test 442 cy #Cats :You're not on that channel"])
        #expect(cy.ask("TOPIC #dogs") == [":parley.test 403 cy #dogs :No such channel"])
        #expect(cy.ask("TOPIC") == [":parley.test 461 cy TOPIC :Not enough parameters"])
        _ = cats.mode("-t")
        #expect(cats.bo.ask("TOPIC #cats :mine").last == ":bo!bo@host.test TOPIC #Cats :mine")
        _ = cats.mode("+th bo")
        #expect(cats.bo.ask("TOPIC #cats :ours").last == ":bo!bo@host.test TOPIC #Cats :ours")
    }

    @Test func aLongTopicIsCutBetweenCharacters() {
        let cats = Cats()
        let line = cats.ana.ask("TOPIC #cats :\(String(repeating: "é", count: 220))")[0]
        #expect(line.hasSuffix("é") && line.utf8.count <= 510)
        #expect(line.dropFirst(":ana!ana@host.test TOPIC #Cats :".count).utf8.count == 390)
    }

    @Test func aPersonNeedsNoColon() {
        let script = WorldScript()
        let dee = script.connect()
        dee.send("NICK dee")
        dee.send("JOIN #cats")
        #expect(dee.ask("TOPIC #cats all about cats").last?.hasSuffix(" TOPIC #cats :all about cats") == true)
    }

    @Test func aTopicWaitsForTheStore() {
        let cats = Cats()
        cats.script.isStoreFull = true
        _ = cats.ana.ask("PRIVMSG #cats :lost")
        #expect(cats.ana.ask("TOPIC #cats :x").first?.contains("FAIL TOPIC STORE_FULL #Cats") == true)
        #expect(cats.bo.ask("TOPIC #cats").first?.contains(" 331 ") == true)
    }
}

@Suite struct ChannelNamesTests {
    @Test func namesOfChannels() {
        let cats = Cats()
        _ = cats.mode("+v ana")
        let cy = cats.script.client("cy", capabilities: "multi-prefix userhost-in-names")
        #expect(
            cy.ask("NAMES #cats,#nope,#cats") == [
                ":parley.test 353 cy = #Cats :@+ana!ana@host.test bo!bo@host.test",
                ":parley.test 366 cy #cats,#nope :End of /NAMES list",
            ])
        #expect(cy.ask("NAMES ,") == [":parley.test 366 cy * :End of /NAMES list"])
        let many = (1...70).map { "#n\($0)" }
        let ends = cy.ask("NAMES \(many.joined(separator: ","))")
        #expect(ends.allSatisfy { $0.utf8.count <= 510 } && ends.count == 1)
        let long = (10...70).map { "#name\($0)" }
        let parts = cy.ask("NAMES \(long.joined(separator: ","))")
        #expect(parts.count == 2 && parts.allSatisfy { $0.utf8.count <= 510 })
        let named = parts.flatMap { $0.split(separator: " ")[3].split(separator: ",") }
        #expect(named.map(String.init) == long)
        #expect(cats.bo.ask("NAMES #cats").first == ":parley.test 353 bo = #Cats :@ana bo")
        #expect(cy.ask("NAMES") == [":parley.test 366 cy * :End of /NAMES list"])
        #expect(cy.ask("NAMES invalid") == [":parley.test 366 cy invalid :End of /NAMES list"])
    }

    @Test func theInvisibleAreForMembers() {
        let cats = Cats()
        _ = cats.bo.ask("MODE bo +i")
        let cy = cats.script.client("cy")
        #expect(cy.ask("NAMES #cats").first == ":parley.test 353 cy = #Cats :@ana")
        #expect(cats.ana.ask("NAMES #cats").first == ":parley.test 353 ana = #Cats :@ana bo")
    }

    @Test func aPersonAsksForThePeopleAround() {
        let cats = Cats()
        let dee = cats.script.connect()
        dee.send("NICK dee")
        dee.send("JOIN #cats")
        #expect(dee.ask("NAMES").first == ":parley.test 353 dee = #Cats :@ana bo dee")
    }

    @Test func manyNamesAreSplitOverLines() {
        let script = WorldScript()
        var last: ScriptClient?
        for i in 0..<60 {
            last = script.client("somebody\(i)", capabilities: "userhost-in-names")
            last?.send("JOIN #cats")
        }
        let lines = last?.ask("NAMES #cats") ?? []
        #expect(lines.allSatisfy { $0.utf8.count <= 510 })
        #expect(lines.dropLast().joined(separator: " ").split(separator: " ").count { $0.contains("!") } == 60)
    }
}

@Suite struct ChannelSecretTests {
    @Test(arguments: [
        "MODE #cats", "MODE #cats b", "MODE #cats +i", "TOPIC #cats", "TOPIC #cats :x", "PART #cats", "KICK #cats bo",
        "INVITE dee #cats", "DROP #cats", "PRIVMSG #cats :hi", "TAGMSG #cats",
    ])
    func toOutsidersASecretChannelDoesNotExist(_ line: String) {
        let cats = Cats()
        _ = cats.script.client("dee")
        let cy = cats.script.client("cy", capabilities: "message-tags")
        let line = line.hasPrefix("TAGMSG") ? "@+x=y \(line)" : line
        let nothing = cy.ask(line.replacingOccurrences("#cats", "#nope"))
        #expect(nothing.map { $0.hasPrefix(":parley.test 403 cy #nope") } == [true])
        _ = cats.mode("+s")
        #expect(cy.ask(line) == nothing.map { $0.replacingOccurrences("#nope", "#cats") })
        #expect(cats.ana.read().isEmpty)
    }

    @Test func namesAndListHideIt() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        _ = cats.mode("+s")
        #expect(cy.ask("NAMES #cats") == [":parley.test 366 cy #cats :End of /NAMES list"])
        for asked in ["LIST", "LIST #cats", "LIST *cat*", "LIST >0"] {
            #expect(cy.ask(asked).map { $0.split(separator: " ")[1] } == ["321", "323"], "\(asked)")
        }
        #expect(cats.bo.ask("NAMES #cats").first == ":parley.test 353 bo @ #Cats :@ana bo")
        #expect(cats.bo.ask("LIST").contains(":parley.test 322 bo #Cats 2 :"))
    }
}

extension String {
    fileprivate func replacingOccurrences(_ old: String, _ new: String) -> String { replacing(old, with: new) }
}

@Suite struct ChannelListTests {
    /// `#one` has one member, `#two` two; `#two` is five minutes younger and has a topic of now.
    private func script() -> (WorldScript, ScriptClient) {
        let script = WorldScript()
        let ana = script.client("ana")
        let bo = script.client("bo")
        _ = ana.ask("JOIN #one")
        _ = ana.ask("TOPIC #one :the first")
        // Who says nothing for long is taken for gone.
        for _ in 0..<3 {
            script.advance(100_000)
            for client in [ana, bo] { client.send("PONG x") }
        }
        _ = ana.ask("JOIN #two")
        _ = bo.ask("JOIN #two")
        script.advance(60_000)
        return (script, script.client("cy"))
    }

    @Test(arguments: [
        ("", ["#one", "#two"]), ("#one", ["#one"]), ("#ONE,#two", ["#one", "#two"]), ("#one,#one", ["#one"]),
        ("#nope", []), ("*", ["#one", "#two"]), ("*o", ["#two"]), ("#o?e", ["#one"]), ("#one,*o", ["#one", "#two"]),
        ("!*o", ["#one"]), ("!#*", []), ("*,!#one", ["#two"]), (">0", ["#one", "#two"]), (">1", ["#two"]),
        ("<2", ["#one"]), ("<1", []), ("<100,>0", ["#one", "#two"]), ("C>2", ["#one"]), ("C<2", ["#two"]),
        ("c>0", ["#one", "#two"]), ("C<0", []), ("C<10", ["#one", "#two"]), ("T>2", ["#one"]), ("T<2", []),
        ("T<10", ["#one"]), ("T>0", ["#one"]), ("*,>1", ["#two"]), (":", ["#one", "#two"]),
    ])
    func listFilters(_ ask: (what: String, found: [String])) {
        let (_, cy) = script()
        let lines = cy.ask("LIST \(ask.what)")
        #expect(lines.first == ":parley.test 321 cy Channel :Users  Name")
        #expect(lines.last == ":parley.test 323 cy :End of /LIST")
        #expect(lines.dropFirst().dropLast().map { String($0.split(separator: " ")[3]) } == ask.found)
    }

    @Test func aChannelIsListedWithMembersAndTopic() {
        let (_, cy) = script()
        #expect(cy.ask("LIST #one")[1] == ":parley.test 322 cy #one 1 :the first")
    }

    @Test func aVisitorMayList() {
        let (script, _) = script()
        let visitor = script.connect()
        #expect(visitor.ask("LIST").last == ":parley.test 323 * :End of /LIST")
    }

    @Test func manyChannels() {
        var stored = StoredState()
        for i in 1...1000 {
            stored.channels.append(
                StoredState.Channel(
                    state: ChannelState(
                        id: Int64(i), name: ByteString("#c\(i)"), created: 0, founder: UID(number: 1))))
        }
        let script = WorldScript(stored: stored)
        let ana = script.client("ana")
        #expect(ana.ask("LIST").count == 1002)
        #expect(ana.ask("LIST #c77,*99").count == 13)
    }
}

@Suite struct ChannelKickTests {
    @Test func theKickedSeesItAndIsGone() throws {
        let cats = Cats()
        _ = cats.mode("+v bo")
        _ = cats.bo.read()
        let said = ":ana!ana@host.test KICK #Cats bo :enough"
        #expect(cats.ana.ask("KICK #cats BO :enough") == [said])
        #expect(cats.bo.read() == [said])
        #expect(cats.script.log.last?.kind == .kick && cats.script.log.last?.text == "bo :enough")
        let state = try #require(cats.saved)
        #expect(cats.script.members.filter { $0.channel == state.id }.map(\.uid) == [state.founder])
        #expect(cats.bo.ask("PRIVMSG #cats :hi").first?.contains(" 404 ") == true)
        // Who is kicked comes back without the rank.
        #expect(cats.bo.ask("JOIN #cats").contains(":parley.test 353 bo = #Cats :@ana bo"))
        #expect(cats.ana.ask("KICK #cats bo").last == ":ana!ana@host.test KICK #Cats bo :ana")
    }

    @Test(arguments: [
        ("KICK #cats", "461 ana KICK :"), ("KICK #dogs bo", "403 ana #dogs :"), ("KICK #dogs bo,cy", "403 ana #dogs :"),
        ("KICK #others cy", "442 ana #others :"), ("KICK #cats nobody", "401 ana nobody :"),
        ("KICK #cats cy", "441 ana cy #Cats :"), ("KICK #cats,#dogs bo", "461 ana KICK :"),
        ("KICK #cats ,", "461 ana KICK :"),
    ])
    func whatIsWrongIsToldOnce(_ ask: (line: String, told: String)) {
        let cats = Cats()
        let cy = cats.script.client("cy")
        _ = cy.ask("JOIN #others")
        let answer = cats.ana.ask(ask.line).map(cats.short)
        #expect(answer.count == 1 && answer[0].hasPrefix(ask.told), "\(answer)")
        #expect(cats.bo.read().isEmpty)
    }

    @Test func ranksDecide() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        _ = cy.ask("JOIN #cats")
        #expect(cats.bo.ask("KICK #cats cy") == [":parley.test 482 bo #Cats :You're not channel operator"])
        _ = cats.mode("+h bo")
        #expect(cats.bo.ask("KICK #cats ana") == [":parley.test 482 bo #Cats :ana has a higher rank than you"])
        #expect(cats.bo.ask("KICK #cats cy").last == ":bo!bo@host.test KICK #Cats cy :bo")
        _ = cats.mode("+o bo")
        #expect(cats.bo.ask("KICK #cats ana").last == ":bo!bo@host.test KICK #Cats ana :bo")
        // The founder's rank belongs to it.
        #expect(cats.ana.ask("JOIN #cats").contains(":parley.test 353 ana = #Cats :@bo @ana"))
    }

    @Test func severalAtOnceOneLineEach() {
        let cats = Cats()
        for nick in ["c1", "c2", "c3", "c4"] { cats.script.client(nick).send("JOIN #cats") }
        _ = cats.ana.read()
        #expect(
            cats.ana.ask("KICK #cats c1,c2 :bye").map(cats.short) == ["KICK #Cats c1 :bye", "KICK #Cats c2 :bye"])
        #expect(
            cats.ana.ask("KICK #cats,#cats c3,c4 :bye").map(cats.short) == ["KICK #Cats c3 :bye", "KICK #Cats c4 :bye"])
        let many = cats.ana.ask("KICK #cats a,b,c,d,e")
        #expect(many.map { $0.split(separator: " ")[1] } == ["401", "401", "401", "401", "407"])
    }
}

@Suite struct ChannelInviteTests {
    @Test func anInvitationOpensTheDoorOnce() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        _ = cats.mode("+iklb key 2 cy")
        #expect(cy.ask("JOIN #cats").first?.contains(" 474 ") == true)
        #expect(cats.ana.ask("INVITE cy #cats") == [":parley.test 341 ana cy #Cats"])
        #expect(cats.bo.read().count { $0.contains("INVITE") } == 0)
        #expect(cy.read() == [":ana!ana@host.test INVITE cy #Cats"])
        #expect(cy.ask("INVITE") == [":parley.test 336 cy #Cats", ":parley.test 337 cy :End of invite list"])
        #expect(cy.ask("JOIN #cats").first == ":cy!cy@host.test JOIN #Cats")
        #expect(cy.ask("INVITE") == [":parley.test 337 cy :End of invite list"])
        _ = cy.ask("PART #cats")
        #expect(cy.ask("JOIN #cats").first?.contains(" 474 ") == true)
    }

    @Test func whatIsWrongIsToldOnce() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        #expect(cats.ana.ask("INVITE nobody #cats") == [":parley.test 401 ana nobody :No such nick/channel"])
        #expect(cats.ana.ask("INVITE cy #dogs") == [":parley.test 403 ana #dogs :No such channel"])
        #expect(cats.ana.ask("INVITE bo #cats") == [":parley.test 443 ana bo #Cats :is already on channel"])
        #expect(cats.ana.ask("INVITE cy") == [":parley.test 461 ana INVITE :Not enough parameters"])
        #expect(cy.ask("INVITE cy #cats") == [":parley.test 442 cy #Cats :You're not on that channel"])
        _ = cats.mode("+i")
        _ = cats.bo.read()
        #expect(cats.bo.ask("INVITE cy #cats") == [":parley.test 482 bo #Cats :You're not channel operator"])
        #expect(cy.read().isEmpty)
    }

    @Test func membersInviteButDoNotLiftBans() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        _ = cats.mode("+b cy")
        _ = cats.bo.read()
        #expect(cats.bo.ask("INVITE cy #cats") == [":parley.test 341 bo cy #Cats"])
        #expect(cy.read() == [":bo!bo@host.test INVITE cy #Cats"])
        #expect(cy.ask("JOIN #cats").first?.contains(" 474 ") == true)
    }

    @Test func whoIsAwayIsToldOf() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        _ = cy.ask("AWAY :asleep")
        #expect(cats.ana.ask("INVITE cy #cats").last == ":parley.test 301 ana cy :asleep")
    }

    @Test func theOldestInvitationGivesWay() {
        let cats = Cats { $0.limits.listEntries = 2 }
        _ = cats.mode("+i")
        let guests = ["g1", "g2", "g3"].map { cats.script.client($0) }
        for i in 1...3 { _ = cats.ana.ask("INVITE g\(i) #cats") }
        #expect(guests[0].ask("JOIN #cats").first?.contains(" 473 ") == true)
        #expect(guests[2].ask("JOIN #cats").first?.contains(" JOIN #Cats") == true)
    }
}

@Suite struct ChannelJoinTests {
    @Test(arguments: [
        ("+i", "473"), ("+k key", "475"), ("+l 2", "471"), ("+R", "477"), ("+b cy", "474"), ("+b *!*@192.0.2.*", "474"),
        ("+i-i+b a:*", "JOIN"), ("+be cy *!cy@*", "JOIN"), ("+iI cy", "JOIN"), ("+b m:cy", "JOIN"),
    ])
    func theDoor(_ rule: (modes: String, answer: String)) {
        let cats = Cats()
        let cy = cats.script.client("cy")
        _ = cats.mode(rule.modes)
        let answer = cy.ask("JOIN #cats")
        #expect(answer.first?.contains(" \(rule.answer) ") == true, "\(answer)")
        if rule.answer != "JOIN" { #expect(answer.count == 1) }
    }

    @Test func keysBelongToThePlace() {
        let cats = Cats()
        _ = cats.ana.ask("JOIN #open,#dogs")
        _ = cats.mode("+k one")
        _ = cats.ana.ask("MODE #dogs +k two")
        let cy = cats.script.client("cy")
        let joined = cy.ask("JOIN #cats,,#open,#dogs one,,,two").filter { $0.contains(" JOIN ") }
        #expect(joined.map(cats.short).count == 3)
        let dee = cats.script.client("dee")
        #expect(dee.ask("JOIN #cats,#dogs ,two").map { $0.split(separator: " ")[1] }.prefix(2) == ["475", "JOIN"])
    }

    @Test(arguments: [
        ("JOIN", "461 cy JOIN :"), ("JOIN :", "461 cy JOIN :"), ("JOIN ,", "461 cy JOIN :"),
        ("JOIN cats", "403 cy cats :"),
        ("JOIN #a:b", "403 cy #a:b :"), ("PART", "461 cy PART :"), ("PART ,", "461 cy PART :"),
        ("PART #cats", "442 cy #Cats :"), ("PART #nope", "403 cy #nope :"),
    ])
    func whatIsWrongIsToldOnce(_ ask: (line: String, told: String)) {
        let cats = Cats()
        let cy = cats.script.client("cy")
        let answer = cy.ask(ask.line).map(cats.short)
        #expect(answer.count == 1 && answer[0].hasPrefix(ask.told), "\(answer)")
    }

    @Test func emptyMembersOfAListAreSkipped() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        #expect(cy.ask("JOIN #CATS,").map { $0.split(separator: " ")[1] } == ["JOIN", "353", "366"])
        #expect(cats.ana.read() == [":cy!cy@host.test JOIN #Cats"])
        #expect(cy.ask("JOIN #cats").isEmpty)
    }

    @Test func noLongNameIsCutApart() {
        let cats = Cats()
        let name = "#" + String(repeating: "é", count: 60)
        let answer = cats.ana.ask("JOIN \(name)")
        #expect(answer.count == 1 && answer[0].contains(" 403 ana #é") && !answer[0].contains("\u{FFFD}"))
    }

    @Test func tooManyChannels() {
        let script = WorldScript { $0.limits.channelsPerUser = 2 }
        let ana = script.client("ana")
        let answer = ana.ask("JOIN #a,#b,#c")
        #expect(answer.last == ":parley.test 405 ana #c :You have joined too many channels")
        #expect(ana.ask("JOIN 0").map { $0.contains(" PART #") } == [true, true])
        #expect(ana.ask("JOIN #c").first?.contains(" JOIN #c") == true)
    }
}

@Suite struct ChannelDropTests {
    @Test func theFounderDropsAChannelWithAllThatIsInIt() throws {
        let cats = Cats()
        _ = cats.ana.ask("TOPIC #cats :old")
        let state = try #require(cats.saved)
        _ = cats.bo.read()
        #expect(
            cats.ana.ask("DROP #cats :all over").map(cats.short) == [
                "KICK #Cats ana :all over", "NOTE DROP DROPPED #Cats :The channel and its history are gone",
            ])
        #expect(cats.bo.read() == [":ana!ana@host.test KICK #Cats bo :all over"])
        #expect(cats.script.changes.last == .dropChannel(id: state.id))
        #expect(cats.bo.ask("LIST").count == 2)
        #expect(cats.bo.ask("PRIVMSG #cats :hi").first?.contains(" 403 ") == true)
        // Whoever makes it again has another channel.
        #expect(
            cats.bo.ask("JOIN #cats").map(cats.short) == [
                "JOIN #cats", "353 bo = #cats :@bo", "366 bo #cats :End of /NAMES list",
            ])
        #expect(try #require(cats.saved).id != state.id)
        #expect(cats.ana.ask("DROP #cats").map(cats.short).first?.hasPrefix("482 ana #cats :") == true)
    }

    @Test func anOperatorDropsWhatItCannotSee() {
        let cats = Cats { $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "admin")] }
        _ = cats.mode("+s")
        let root = cats.script.client("root")
        _ = root.ask("OPER root pw")
        #expect(
            root.ask("DROP #cats") == [":parley.test NOTE DROP DROPPED #Cats :The channel and its history are gone"])
        #expect(cats.ana.read() == [":root!root@host.test KICK #Cats ana :The channel was dropped"])
        #expect(cats.ana.ask("MODE #cats").first?.contains(" 403 ") == true)
    }

    @Test func othersDoNot() {
        let cats = Cats()
        _ = cats.mode("+q bo")
        _ = cats.bo.read()
        #expect(cats.bo.ask("DROP #cats").first?.hasPrefix(":parley.test 482 bo #Cats :") == true)
        #expect(cats.bo.ask("DROP #nope") == [":parley.test 403 bo #nope :No such channel"])
        #expect(cats.bo.ask("DROP") == [":parley.test 461 bo DROP :Not enough parameters"])
        #expect(cats.ana.read().isEmpty)
    }
}
