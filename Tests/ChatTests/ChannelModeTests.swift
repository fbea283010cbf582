import Bytes
import Chat
import TestKit
import Testing

/// `ana` founded `#cats`, `bo` is in it; what both were told is read.
struct Cats {
    let script: WorldScript
    let ana: ScriptClient
    let bo: ScriptClient

    init(_ change: (inout Settings) -> Void = { _ in }) {
        script = WorldScript(change)
        ana = script.client("ana")
        bo = script.client("bo")
        _ = ana.ask("JOIN #Cats")
        _ = bo.ask("JOIN #cats")
        _ = ana.read()
    }

    /// What `ana` is answered, without her source.
    func mode(_ modes: String) -> [String] { ana.ask("MODE #cats \(modes)").map(short) }

    func short(_ line: String) -> String {
        for prefix in [":ana!ana@host.test ", ":bo!bo@host.test ", ":parley.test "] where line.hasPrefix(prefix) {
            return String(line.dropFirst(prefix.count))
        }
        return line
    }

    var saved: ChannelState? {
        script.changes.reversed().lazy.compactMap { if case .saveChannel(let state) = $0 { state } else { nil } }.first
    }
}

@Suite struct ChannelModeTests {
    @Test func withUOnlyOperatorsHearWhoHasNoRank() {
        let (script, ana, bo) = WorldScript.cats("", "echo-message")
        let cy = script.client("cy")
        _ = cy.ask("JOIN #cats")
        #expect(ana.ask("MODE #cats +U").last == ":ana!ana@host.test MODE #cats +U")
        for client in [bo, cy] { _ = client.read() }
        let before = script.log.count
        #expect(bo.ask("PRIVMSG #cats :may I?") == [":bo!bo@host.test PRIVMSG #cats :may I?"])
        #expect(ana.read().last == ":bo!bo@host.test PRIVMSG #cats :may I?")
        // Nor does the history tell the others.
        #expect(cy.read().isEmpty && script.log.count == before)
        _ = ana.ask("MODE #cats +v bo")
        _ = cy.read()
        _ = bo.ask("PRIVMSG #cats :hello")
        #expect(cy.read() == [":bo!bo@host.test PRIVMSG #cats :hello"])
    }

    @Test func theTableTellsAll() {
        #expect(ChannelModes.letters == "CHIMRUbefhiklmnoqstv")
        #expect(ChannelModes.lettersWithParameter == "Ibefhkloqv")
        #expect(ChannelModes.chanModes == "beI,k,fl,CHMRUimnst")
        #expect(ChannelModes.prefix == "(qohv)~@%+")
    }

    @Test func modesAreShownAndTheKeyToMembersAlone() {
        let cats = Cats()
        let seconds = cats.script.moment.wall / 1000
        #expect(cats.mode("") == ["324 ana #Cats +nt", "329 ana #Cats \(seconds)"])
        _ = cats.mode("+kl secret 5")
        #expect(cats.bo.ask("MODE #cats").first == ":parley.test 324 bo #Cats +ntkl secret 5")
        let cy = cats.script.client("cy")
        #expect(cy.ask("MODE #cats").first == ":parley.test 324 cy #Cats +ntkl * 5")
        #expect(cats.mode("-ntkl").first == "MODE #Cats -ntkl *")
        #expect(cats.mode("").first == "324 ana #Cats +")
    }

    @Test(arguments: [
        ("+i", "MODE #Cats +i"), ("+mi-n", "MODE #Cats +mi-n"), ("+k key", "MODE #Cats +k key"),
        ("+l 7", "MODE #Cats +l 7"), ("+l 007", "MODE #Cats +l 7"), ("+f 5:10", "MODE #Cats +f 5:10"),
        ("+sCRMH", "MODE #Cats +sCRMH"), ("+v bo", "MODE #Cats +v bo"), ("+ov BO bo", "MODE #Cats +ov bo bo"),
        ("+q bo", "MODE #Cats +q bo"), ("+b bad", "MODE #Cats +b bad!*@*"),
        ("+b *@bad.example", "MODE #Cats +b *!*@bad.example"), ("+e a:ana", "MODE #Cats +e a:ana"),
        ("+b ~m:bad", "MODE #Cats +b m:bad!*@*"), ("+b u:u0123456789ab", "MODE #Cats +b u:u0123456789ab"),
        ("+b f00d::1", "MODE #Cats +b *!*@f00d::1"), ("+b f::1", "MODE #Cats +b *!*@f::1"),
        ("+i-i+m", "MODE #Cats +i-i+m"), ("i", "MODE #Cats +i"), ("+tim", "MODE #Cats +im"),
    ])
    func aChangeIsToldToAll(_ change: (asked: String, told: String)) {
        let cats = Cats()
        #expect(cats.mode(change.asked) == [change.told])
        #expect(cats.bo.read().map(cats.short) == [change.told])
    }

    @Test(arguments: [
        "+nt", "-i", "-l", "-k", "-f", "-v bo", "-b never!seen@*", "+", "-", "+o ana",
    ])
    func whatChangesNothingIsNotTold(_ asked: String) {
        let cats = Cats()
        let changes = cats.script.changes.count
        #expect(cats.mode(asked).isEmpty)
        #expect(cats.bo.read().isEmpty)
        #expect(cats.script.changes.count == changes)
    }

    @Test(arguments: [
        ("+z", "472 ana z :"), ("+:", "472 ana * :"), ("+é", "472 ana * :"), ("+zz", "472 ana z :"),
        ("+k", "696 ana #Cats k * :"), ("+k :", "696 ana #Cats k * :"), ("+k :a b", "696 ana #Cats k * :"),
        ("+k a,b", "696 ana #Cats k * :"), ("+k ::a", "696 ana #Cats k * :"),
        ("+k aaaaaaaaaaaaaaaaaaaaaaaa", "696 ana #Cats k * :"),
        ("+l", "696 ana #Cats l * :"), ("+l :", "696 ana #Cats l * :"), ("+l 0", "696 ana #Cats l 0 :"),
        ("+l -1", "696 ana #Cats l -1 :"), ("+l abc", "696 ana #Cats l abc :"),
        ("+l 99999999999", "696 ana #Cats l 99999999999 :"),
        ("+f 5", "696 ana #Cats f 5 :"), ("+f 0:5", "696 ana #Cats f 0:5 :"), ("+f 5:0", "696 ana #Cats f 5:0 :"),
        ("+f 5:10:3", "696 ana #Cats f 5:10:3 :"), ("+f", "696 ana #Cats f * :"),
        ("+o", "696 ana #Cats o * :"), ("-v", "696 ana #Cats v * :"),
        ("+o nobody", "401 ana nobody :"), ("+o cy", "441 ana cy #Cats :"), ("-v cy", "441 ana cy #Cats :"),
        ("+b :", "696 ana #Cats b * :"), ("+b :a b", "696 ana #Cats b * :"),
        ("+b u:nobody", "MODE #Cats +b *!*@u:nobody"),
        ("+b ~z:x", "696 ana #Cats b ~z:x :"),
    ])
    func whatIsWrongIsToldOnce(_ change: (asked: String, told: String)) {
        let cats = Cats()
        _ = cats.script.client("cy")
        let answer = cats.mode(change.asked)
        #expect(answer.count == 1)
        #expect(answer.first?.hasPrefix(change.told) == true, "\(answer)")
    }

    @Test func theRestOfACommandIsDoneAllTheSame() {
        let cats = Cats()
        let answer = cats.mode("+zil 0")
        #expect(answer.map { $0.prefix(4) } == ["472 ", "696 ", "MODE"])
        #expect(answer.last == "MODE #Cats +i")
    }

    @Test func whoIsNoOperatorIsRefusedOnce() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        #expect(cats.bo.ask("MODE #cats +imo bo") == [":parley.test 482 bo #Cats :You're not channel operator"])
        #expect(cy.ask("MODE #cats +im") == [":parley.test 442 cy #Cats :You're not on that channel"])
        #expect(cy.ask("MODE #dogs +im") == [":parley.test 403 cy #dogs :No such channel"])
        #expect(cats.ana.read().isEmpty)
    }

    @Test func halfopsChangeWhatTheyMay() {
        let cats = Cats()
        _ = cats.mode("+h bo")
        func bo(_ modes: String) -> String { cats.bo.ask("MODE #cats \(modes)").map(cats.short).joined(separator: "|") }
        #expect(bo("+v bo") == "MODE #Cats +v bo")
        #expect(bo("+imk key") == "MODE #Cats +imk key")
        #expect(bo("+b bad") == "MODE #Cats +b bad!*@*")
        for modes in ["+o bo", "+h ana", "-o ana", "+q bo", "+s", "+H"] {
            #expect(bo(modes).hasPrefix("482 bo #Cats :"), "\(modes)")
        }
        #expect(bo("-h+b bo worse") == "482 bo #Cats :You're not channel operator|MODE #Cats -h bo")
    }

    @Test func ownersAreAboveOperators() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        _ = cy.ask("JOIN #cats")
        _ = cats.mode("+qo bo cy")
        _ = cats.mode("+o bo")
        #expect(cy.ask("MODE #cats -o bo") == [":parley.test 482 cy #Cats :bo has a higher rank than you"])
        #expect(cy.ask("MODE #cats -q bo").first?.hasPrefix(":parley.test 482 cy #Cats") == true)
        #expect(cy.ask("MODE #cats -o ana").last == ":cy!cy@host.test MODE #Cats -o ana")
        // The founder takes its rank back.
        #expect(cats.ana.ask("MODE #cats +m").first?.hasPrefix(":parley.test 482 ana") == true)
        #expect(cats.mode("+o ana") == ["MODE #Cats +o ana"])
        #expect(cats.mode("-q bo") == ["MODE #Cats -q bo"])
    }

    @Test func listsAreShownWithSetterAndTime() {
        let cats = Cats()
        let seconds = cats.script.moment.wall / 1000
        #expect(cats.mode("+beI bad good guest") == ["MODE #Cats +beI bad!*@* good!*@* guest!*@*"])
        let by = "ana!ana@host.test \(seconds)"
        #expect(cats.mode("b") == ["367 ana #Cats bad!*@* \(by)", "368 ana #Cats :End of channel ban list"])
        #expect(cats.mode("+e") == ["348 ana #Cats good!*@* \(by)", "349 ana #Cats :End of channel exception list"])
        #expect(
            cats.mode("+I") == ["346 ana #Cats guest!*@* \(by)", "347 ana #Cats :End of channel invite exception list"])
        #expect(cats.bo.ask("MODE #cats +b").count == 2)
        #expect(cats.bo.ask("MODE #cats e") == [":parley.test 482 bo #Cats :You're not channel operator"])
        let cy = cats.script.client("cy")
        #expect(cy.ask("MODE #cats b").count == 2)
        #expect(cy.ask("MODE #cats I").first?.hasPrefix(":parley.test 442 cy #Cats") == true)
        #expect(cats.mode("+b BAD!*@*").isEmpty)
        #expect(cats.mode("-b BAD").last == "MODE #Cats -b bad!*@*")
        #expect(cats.mode("b").count == 1)
    }

    @Test func aFullListTakesNoMore() {
        let cats = Cats { $0.limits.listEntries = 3 }
        #expect(
            cats.mode("+bbbb a b c d") == [
                "478 ana #Cats b :Channel list is full", "MODE #Cats +bbb a!*@* b!*@* c!*@*",
            ])
        #expect(cats.mode("+b a").isEmpty)
        #expect(cats.mode("-b+b a d") == ["MODE #Cats -b+b a!*@* d!*@*"])
    }

    @Test func manyChangesAreSplitOverLines() {
        let cats = Cats()
        let answer = cats.mode("+bbbbbbbb a b c d e f g h")
        #expect(answer == ["MODE #Cats +bbbbbb a!*@* b!*@* c!*@* d!*@* e!*@* f!*@*", "MODE #Cats +bb g!*@* h!*@*"])
        let long = String(repeating: "x", count: 170)
        let lines = cats.ana.ask("MODE #cats +bbb \(long)1 \(long)2 \(long)3")
        #expect(lines.count > 1)
        #expect(lines.allSatisfy { $0.utf8.count <= 510 && $0.contains(" MODE #Cats +b") })
        #expect(cats.mode("+b \(String(repeating: "x", count: 201))").first?.hasPrefix("696 ana #Cats b") == true)
    }

    @Test func whatChangesIsKept() throws {
        let cats = Cats()
        _ = cats.mode("+ikl secret 9")
        var state = try #require(cats.saved)
        #expect(state.modes == "nti" && state.key == "secret" && state.limit == 9)
        _ = cats.mode("-tkl+f x 3:4")
        state = try #require(cats.saved)
        #expect(state.modes == "ni" && state.key == "" && state.limit == 0 && state.flood == "3:4")
        let entry = ListEntry(
            mask: "bad!*@*", setter: "ana!ana@host.test", time: cats.script.moment.wall / 1000)
        _ = cats.mode("+b bad")
        #expect(cats.script.changes.last == .addListEntry(channel: state.id, mode: UInt8(ascii: "b"), entry))
        _ = cats.mode("-b bad")
        #expect(
            cats.script.changes.last
                == .removeListEntry(channel: state.id, mode: UInt8(ascii: "b"), mask: "bad!*@*"))
        let before = try #require(cats.script.members.first { $0.uid != state.founder })
        _ = cats.mode("+ov bo bo")
        let after = try #require(cats.script.members.first { $0.uid == before.uid })
        #expect(Ranks(rawValue: after.ranks) == [.op, .voice])
        #expect(after.present && after.joined == before.joined && after.joined > 0)
        let told = cats.script.log.filter { $0.kind == .mode }.map { $0.text.string }
        #expect(told == ["+ikl * 9", "-tkl+f * 3:4", "+b bad!*@*", "-b bad!*@*", "+ov bo bo"])
    }

    @Test func aRankComesBackWithItsOwner() {
        let cats = Cats()
        _ = cats.mode("+v bo")
        _ = cats.bo.ask("PART #cats")
        _ = cats.ana.read()
        #expect(cats.bo.ask("JOIN #cats").contains(":parley.test 353 bo = #Cats :@ana +bo"))
        #expect(cats.ana.read().contains(":parley.test MODE #Cats +v bo"))
    }

    @Test func nothingChangesWhileTheStoreFails() {
        let cats = Cats()
        cats.script.isStoreFull = true
        _ = cats.ana.ask("PRIVMSG #cats :lost")
        let answer = cats.mode("+im")
        #expect(answer.count == 1)
        #expect(answer.first?.hasPrefix("FAIL MODE STORE_FULL #Cats") == true)
        #expect(cats.mode("").first == "324 ana #Cats +nt")
    }

    @Test func aPersonIsToldTheNextStep() {
        let cats = Cats()
        let dee = cats.script.connect()
        dee.send("NICK dee")
        dee.send("JOIN #cats")
        #expect(dee.ask("MODE #cats +i").first?.contains("NAMES #Cats shows who is") == true)
        #expect(dee.ask("MODE #cats +z").first?.contains("HELP MODE") == true)
        #expect(dee.ask("MODE #nope").first?.contains("LIST shows them") == true)
    }

    // MARK: What the modes do

    @Test func fewLinesPass() {
        let cats = Cats()
        _ = cats.mode("+f 2:10")
        _ = cats.bo.read()
        #expect(cats.bo.ask("PRIVMSG #cats :1").isEmpty)
        #expect(cats.bo.ask("PRIVMSG #cats :2").isEmpty)
        #expect(cats.bo.ask("PRIVMSG #cats :3").first?.hasPrefix(":parley.test 404 bo #Cats :") == true)
        #expect(cats.bo.ask("NOTICE #cats :3").isEmpty)
        #expect(cats.ana.read().count == 2)
        for i in 0..<5 { #expect(cats.ana.ask("PRIVMSG #cats :\(i)").isEmpty) }
        cats.script.advance(10_000)
        #expect(cats.bo.ask("PRIVMSG #cats :4").isEmpty)
        _ = cats.mode("-f")
        _ = cats.bo.read()
        for i in 0..<5 { #expect(cats.bo.ask("PRIVMSG #cats :\(i)").isEmpty) }
    }

    @Test(arguments: ["+m", "+M", "+b bo", "+b m:bo"])
    func whoMayNotSpeakIsToldSo(_ modes: String) {
        let cats = Cats()
        _ = cats.mode(modes)
        _ = cats.bo.read()
        #expect(cats.bo.ask("PRIVMSG #cats :hi").first?.hasPrefix(":parley.test 404 bo #Cats :") == true)
        #expect(cats.ana.read().isEmpty)
        _ = cats.mode("+v bo")
        _ = cats.bo.read()
        #expect(cats.bo.ask("PRIVMSG #cats :hi").isEmpty)
        #expect(cats.ana.read() == [":bo!bo@host.test PRIVMSG #Cats :hi"])
    }

    @Test(arguments: ["bo", "m:*!bo@*"])
    func exceptionsLiftAMute(_ mask: String) {
        let cats = Cats()
        _ = cats.mode("+be m:bo \(mask)")
        _ = cats.bo.read()
        #expect(cats.bo.ask("PRIVMSG #cats :hi").isEmpty)
    }

    @Test func withoutNOutsidersSpeak() {
        let cats = Cats()
        let cy = cats.script.client("cy")
        #expect(cy.ask("PRIVMSG #cats :hi").first?.hasPrefix(":parley.test 404 cy #Cats :") == true)
        _ = cats.mode("-n")
        #expect(cy.ask("PRIVMSG #cats :hi").isEmpty)
        #expect(cats.ana.read() == [":cy!cy@host.test PRIVMSG #Cats :hi"])
    }

    @Test func withCOnlyActionsPass() {
        let cats = Cats()
        _ = cats.mode("+C")
        _ = cats.bo.read()
        #expect(cats.bo.ask("PRIVMSG #cats :\u{1}ACTION purrs\u{1}").isEmpty)
        #expect(cats.bo.ask("PRIVMSG #cats :\u{1}PING 1\u{1}").first?.hasPrefix(":parley.test 404 bo #Cats") == true)
    }

    @Test func withHNothingSaidIsKept() {
        let cats = Cats()
        _ = cats.mode("+H")
        _ = cats.bo.ask("PRIVMSG #cats :hi")
        #expect(cats.ana.read() == [":bo!bo@host.test PRIVMSG #Cats :hi"])
        #expect(!cats.script.log.contains { $0.kind.isMessage })
    }
}
