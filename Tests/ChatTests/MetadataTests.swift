import Bytes
import Chat
import TestKit
import Testing

/// IRCv3 draft/metadata-2, and where draft/metadata-3 differs.
@Suite struct MetadataTests {
    private let script = WorldScript {
        $0.limits.metadataKeys = 3
        $0.limits.metadataSubscriptions = 3
        $0.limits.metadataBurst = 8
        $0.limits.metadataInterval = 2000
        $0.limits.metadataUnasked = 3
        $0.limits.metadataPage = 2
        $0.operators = [OperatorSettings(name: "root", hash: "hash:secret")]
    }

    private func client(_ nick: String, _ draft: String = "draft/metadata-2") -> ScriptClient {
        script.client(nick, capabilities: "batch \(draft)")
    }

    /// The lines of batches without what frames them.
    private func content(_ lines: [String]) -> [String] {
        lines.filter { !$0.contains(" BATCH ") }.map { $0.replacing(#/^@batch=[^ ]+ /#, with: "") }
    }

    @Test func theCapabilityTellsTheLimits() {
        let lines = script.connect().ask("CAP LS 302").joined()
        #expect(lines.contains("draft/metadata-2=before-connect,max-subs=3,max-keys=3,max-value-bytes=256"))
        #expect(
            lines.contains("draft/metadata-3=before-connect,max-subs=3,max-keys=3,max-key-bytes=64,max-value-bytes=256")
        )
    }

    @Test func aValueIsSetReadListedAndRemoved() {
        let ana = client("ana")
        #expect(ana.ask("METADATA * SET display-name :Ana B") == [":parley.test 761 ana ana display-name * :Ana B"])
        #expect(ana.ask("METADATA ana SET avatar :") == [":parley.test 761 ana ana avatar * :"])
        let got = ana.ask("METADATA * GET display-name url $x avatar")
        #expect(got.first?.hasSuffix(" metadata ana") == true)
        #expect(got.first?.contains(":parley.test BATCH +") == true)
        #expect(got.last?.contains(":parley.test BATCH -") == true)
        #expect(
            content(got) == [
                ":parley.test 761 ana ana display-name * :Ana B", ":parley.test 766 ana ana url :key not set",
                ":parley.test FAIL METADATA KEY_INVALID $x :This is no key", ":parley.test 761 ana ana avatar * :",
            ])
        let bo = client("bo")
        #expect(
            content(bo.ask("METADATA ana LIST")) == [
                ":parley.test 761 bo ana avatar * :", ":parley.test 761 bo ana display-name * :Ana B",
            ])
        #expect(ana.ask("METADATA * SET avatar") == [":parley.test 766 ana ana avatar :key not set"])
        #expect(
            ana.ask("METADATA * SET avatar") == [
                ":parley.test FAIL METADATA KEY_NOT_SET ana avatar :This key is not set"
            ])
        #expect(content(ana.ask("METADATA * CLEAR")) == [":parley.test 766 ana ana display-name :key not set"])
        #expect(content(ana.ask("METADATA * LIST")).isEmpty)
    }

    @Test func peopleTypeItWithoutBatches() {
        let ana = script.connect()
        ana.send("NICK ana")
        script.advance(500)
        #expect(
            ana.ask("METADATA * SET display-name Ana of the hills") == [
                ":parley.test 761 ana ana display-name * :Ana of the hills"
            ])
        #expect(ana.ask("METADATA * LIST") == [":parley.test 761 ana ana display-name * :Ana of the hills"])
        #expect(ana.ask("WHOIS ana").contains(":parley.test 760 ana ana display-name * :Ana of the hills"))
    }

    @Test(arguments: [
        ("METADATA *", "461 ana METADATA :"), ("METADATA * SET", "461 ana METADATA :"),
        ("METADATA * SUB", "461 ana METADATA :"), ("METADATA * WIPE", "FAIL METADATA SUBCOMMAND_INVALID WIPE :"),
        ("METADATA nobody LIST", "FAIL METADATA INVALID_TARGET nobody :"),
        ("METADATA #none LIST", "FAIL METADATA INVALID_TARGET #none :"),
        ("METADATA $a:user SET url :x", "FAIL METADATA INVALID_TARGET $a:user :"),
        ("METADATA * SET URL :x", "FAIL METADATA KEY_INVALID URL :"),
        ("METADATA * SET url :" + String(repeating: "x", count: 257), "FAIL METADATA VALUE_INVALID :"),
        ("METADATA bo SET url :x", "FAIL METADATA KEY_NO_PERMISSION bo url :"),
        ("METADATA bo CLEAR", "FAIL METADATA KEY_NO_PERMISSION bo * :"),
        ("METADATA * SET parley.chat/last-seen :maybe", "FAIL METADATA VALUE_INVALID :"),
    ]) func whatIsWrongIsSaid(line: String, answer: String) {
        let ana = client("ana")
        _ = client("bo")
        let told = ana.ask(line)
        #expect(told.count == 1)
        #expect(told[0].hasPrefix(":parley.test \(answer)"))
    }

    @Test func thereIsALimitOfKeys() {
        let ana = client("ana")
        for key in ["a", "b", "c"] { #expect(ana.ask("METADATA * SET \(key) :1").count == 1) }
        #expect(
            ana.ask("METADATA * SET d :1") == [
                ":parley.test FAIL METADATA LIMIT_REACHED ana :At most 3 keys may be set"
            ])
        #expect(ana.ask("METADATA * SET c :2") == [":parley.test 761 ana ana c * :2"])
    }

    @Test func whoChangesTooFastIsToldWhenToGoOn() {
        let ana = client("ana")
        for number in 0..<8 { #expect(ana.ask("METADATA * SET a :\(number)")[0].contains(" 761 ")) }
        script.advance(500)
        #expect(
            ana.ask("METADATA * SET a :x") == [
                ":parley.test FAIL METADATA RATE_LIMITED ana a 2 :Too many changes; try again in 2 seconds"
            ])
        script.advance(1500)
        #expect(ana.ask("METADATA * SET a :x") == [":parley.test 761 ana ana a * :x"])
        #expect(ana.ask("METADATA * SET a :y")[0].contains(" RATE_LIMITED "))
    }

    @Test func subscriptionsAreKeptInOrderAndLimited() {
        let ana = client("ana")
        #expect(ana.ask("METADATA * SUB avatar website") == [":parley.test 770 ana avatar website"])
        #expect(
            ana.ask("METADATA * SUB foo $x website avatar") == [
                ":parley.test 770 ana foo",
                ":parley.test FAIL METADATA KEY_INVALID $x :A key has 1 to 64 of a-z, 0-9, _ . / and -",
                ":parley.test FAIL METADATA TOO_MANY_SUBS website :At most 3 keys may be subscribed to",
            ])
        let subs = ana.ask("METADATA * SUBS")
        #expect(subs.first?.hasSuffix(" metadata-subs") == true)
        #expect(content(subs) == [":parley.test 772 ana avatar website foo"])
        #expect(ana.ask("METADATA * UNSUB foo bar") == [":parley.test 771 ana foo bar"])
        #expect(ana.ask("METADATA * UNSUB avatar website") == [":parley.test 771 ana avatar website"])
        #expect(content(ana.ask("METADATA * SUBS")).isEmpty)
    }

    @Test func subscribersHearOfChangesInTheFormOfTheirDraft() {
        let (ana, bo, cy, eva) = (client("ana"), client("bo"), client("cy", "draft/metadata-3"), client("eva"))
        for other in [bo, cy] { _ = other.ask("METADATA * SUB url") }
        for one in [ana, bo, cy, eva] { one.send("JOIN #c") }
        for one in [ana, bo, cy, eva] { _ = one.read() }
        _ = ana.ask("METADATA * SET url :x")
        #expect(bo.read() == [":ana!ana@host.test METADATA ana url * :x"])
        #expect(cy.read() == [":parley.test 761 cy ana url * :x"])
        // Nothing changes: nothing is told.
        _ = ana.ask("METADATA * SET url :x")
        _ = ana.ask("METADATA * SET other :x")
        #expect(bo.read().isEmpty && eva.read().isEmpty)
        _ = ana.ask("METADATA * SET url")
        #expect(bo.read() == [":ana!ana@host.test METADATA ana url *"])
        #expect(cy.read() == [":parley.test 766 cy ana url :key not set"])
        #expect(eva.read().isEmpty)
        _ = ana.ask("METADATA #c SET url :y")
        #expect(bo.read() == [":ana!ana@host.test METADATA #c url * :y"])
    }

    @Test func aChannelIsItsOperatorsToChange() {
        let (ana, bo) = (client("ana"), client("bo"))
        for one in [ana, bo] { one.send("JOIN #c") }
        #expect(ana.ask("METADATA #c SET url :x") == [":parley.test 761 ana #c url * :x"])
        #expect(
            bo.ask("METADATA #C SET url :y") == [
                ":parley.test FAIL METADATA KEY_NO_PERMISSION #c url :You may not change this"
            ])
        #expect(content(bo.ask("METADATA #c LIST")) == [":parley.test 761 bo #c url * :x"])
        let eva = client("eva")
        #expect(content(eva.ask("METADATA #c GET url")) == [":parley.test 761 eva #c url * :x"])
        ana.send("MODE #c +i")
        for command in ["LIST", "GET url", "SYNC"] {
            #expect(
                eva.ask("METADATA #c \(command)") == [
                    ":parley.test FAIL METADATA KEY_NO_PERMISSION #c * :It is for members of #c"
                ])
        }
        ana.send("MODE #c -i+s")
        #expect(eva.ask("METADATA #c LIST")[0].contains("INVALID_TARGET"))
    }

    @Test func whoComesIsToldWhatItSubscribedTo() {
        let (ana, bo) = (client("ana"), client("bo"))
        ana.send("JOIN #c")
        for line in ["METADATA #c SET url :c", "METADATA * SET url :a", "METADATA * SET other :a"] { ana.send(line) }
        _ = bo.ask("METADATA * SUB url")
        let came = bo.ask("JOIN #c")
        let start = came.firstIndex { $0.contains(" BATCH +") && $0.hasSuffix(" metadata #c") }
        #expect(start.map { came[$0 - 1].contains(" 366 ") } == true)
        #expect(
            content(came).suffix(2) == [
                ":parley.test METADATA #c url * :c", ":parley.test METADATA ana url * :a",
            ])
        // And the members hear of who comes.
        let eva = client("eva")
        _ = eva.ask("METADATA * SET url :e")
        eva.send("JOIN #c")
        #expect(bo.read().last == ":parley.test METADATA eva url * :e")
        // A key that is new to a connection is told as it is.
        _ = ana.ask("METADATA * UNSUB url")
        #expect(
            ana.ask("METADATA * SUB url") == [
                ":parley.test 770 ana url", ":parley.test METADATA ana url * :a", ":parley.test METADATA #c url * :c",
                ":parley.test METADATA eva url * :e",
            ])
        #expect(
            client("cy", "draft/metadata-3").ask("METADATA * SUB url") == [
                ":parley.test 770 cy url", ":parley.test 774 cy *ALL 1",
            ])
    }

    @Test func aLargeChannelIsSyncedInParts() {
        let members = (0..<5).map { client("m\($0)") }
        for member in members {
            member.send("JOIN #c")
            member.send("METADATA * SET url :x")
        }
        let ana = client("ana", "draft/metadata-3")
        _ = ana.ask("METADATA * SUB url")
        #expect(ana.ask("JOIN #c").last == ":parley.test 774 ana #c 1")
        var told: [String] = []
        var answers = 0
        while answers < 5 {
            answers += 1
            let lines = ana.ask("METADATA #c SYNC")
            told += content(lines).filter { $0.contains(" 761 ") }
            if lines.last != ":parley.test 774 ana #c 1" { break }
        }
        #expect(answers == 3)
        #expect(told.sorted() == (0..<5).map { ":parley.test 761 ana m\($0) url * :x" })
        let all = ana.ask("METADATA *ALL SYNC")
        #expect(all.first?.hasSuffix(" metadata *ALL") == true)
        #expect(all.last == ":parley.test 774 ana *ALL 1")
    }

    @Test func whoWatchesHearsToo() {
        let ana = client("ana")
        _ = ana.ask("METADATA * SUB url")
        let bo = client("bo")
        _ = bo.ask("METADATA * SET url :x")
        #expect(
            ana.ask("MONITOR + bo,eva") == [
                ":parley.test 730 ana :bo!bo@host.test", ":parley.test 731 ana :eva",
                ":parley.test METADATA bo url * :x",
            ])
        _ = bo.ask("METADATA * SET url :y")
        #expect(ana.read() == [":bo!bo@host.test METADATA bo url * :y"])
    }

    @Test func beforeRegistrationOneSetsOnesOwn() {
        let ana = script.connect()
        for line in ["CAP LS 302", "CAP REQ :batch draft/metadata-2"] { ana.send(line) }
        #expect(ana.ask("METADATA * SUB display-name") == [":parley.test 770 * display-name"])
        #expect(ana.ask("METADATA * SET display-name :a b") == [":parley.test 761 * * display-name * :a b"])
        #expect(ana.ask("METADATA ana LIST")[0].contains("INVALID_TARGET"))
        #expect(content(ana.ask("METADATA * LIST")) == [":parley.test 761 * * display-name * :a b"])
        for line in ["NICK ana", "USER a 0 * :Ana"] { ana.send(line) }
        let burst = ana.ask("CAP END")
        let at = burst.firstIndex { $0.hasSuffix(" metadata ana") } ?? 0
        #expect(burst[at + 1].hasSuffix(" :parley.test METADATA ana display-name * :a b"))
        #expect(burst[(at + 3)...].contains { $0.contains(" 422 ") || $0.contains(" 376 ") })
        #expect(content(ana.ask("METADATA * LIST")) == [":parley.test 761 ana ana display-name * :a b"])
        // Without the capability it is no command of the time before.
        let bo = script.connect()
        bo.send("CAP LS")
        #expect(bo.ask("METADATA * SET a :b") == [":parley.test 451 * :You have not registered"])
    }

    @Test func theStoredNameIsTheDisplayName() {
        let ana = client("ana")
        ana.send("JOIN #c")
        ana.send("PRIVMSG #c :one")
        _ = ana.ask("METADATA * SET display-name :Ana B")
        ana.send("PRIVMSG #c :two")
        _ = ana.ask("METADATA * SET display-name")
        ana.send("PRIVMSG #c :three")
        #expect(script.log.filter(\.kind.isMessage).map(\.name) == ["ana", "Ana B", "ana"])
    }

    @Test func privateKeysAreTheirOwnersAlone() {
        let (ana, bo) = (client("ana"), client("bo"))
        for one in [ana, bo] {
            one.send("JOIN #c")
            _ = one.ask("METADATA * SUB parley.chat/last-seen")
        }
        #expect(
            ana.ask("METADATA * SET parley.chat/last-seen :off") == [
                ":parley.test 761 ana ana parley.chat/last-seen private :off"
            ])
        _ = ana.ask("METADATA * SET parley.chat/private/colour :red")
        #expect(bo.read().isEmpty)
        #expect(content(bo.ask("METADATA ana LIST")).isEmpty)
        #expect(content(bo.ask("METADATA ana GET parley.chat/last-seen"))[0].contains(" 766 bo ana "))
        #expect(!bo.ask("WHOIS ana").contains { $0.contains(" 760 ") })
        #expect(content(ana.ask("METADATA * LIST")).count == 2)
        #expect(ana.ask("METADATA #c SET parley.chat/receipts :on")[0].contains("KEY_NO_PERMISSION #c"))
    }

    @Test func operatorsOfTheServerTakeAway() {
        let (ana, bo) = (client("ana"), client("bo"))
        _ = ana.ask("METADATA * SET avatar :https://bad.example")
        bo.send("OPER root secret")
        #expect(bo.ask("METADATA ana SET avatar :mine")[0].contains("KEY_NO_PERMISSION ana avatar"))
        #expect(bo.ask("METADATA ana SET avatar") == [":parley.test 766 bo ana avatar :key not set"])
        #expect(content(ana.ask("METADATA * LIST")).isEmpty)
        #expect(script.notes.contains { $0.text.string.contains("removed metadata avatar of ana") })
    }

    @Test func itComesBackWithTheIdentity() throws {
        let ana = client("ana")
        let token = ana.ask("IDENTITY TOKEN")[0].split(separator: " ")[4]
        // Nothing is kept of who keeps nothing.
        #expect(script.identities.isEmpty && script.metadata.isEmpty)
        _ = ana.ask("METADATA * SET url :x")
        #expect(script.identities.count == 1)
        ana.send("QUIT")
        let again = script.connect()
        for line in ["CAP REQ :batch draft/metadata-2", "PASS guest:\(token)", "METADATA * SET more :y"] {
            again.send(line)
        }
        for line in ["NICK ana", "USER a 0 * :Ana"] { again.send(line) }
        #expect(content(again.ask("CAP END")).filter { $0.contains(" METADATA ") }.count == 2)
        #expect(
            content(again.ask("METADATA * LIST")) == [
                ":parley.test 761 ana ana more * :y", ":parley.test 761 ana ana url * :x",
            ])
        #expect(script.metadata.count == 1)
    }

    @Test func aChannelsSurvivesARestart() throws {
        let ana = client("ana")
        ana.send("JOIN #c")
        _ = ana.ask("METADATA #c SET url :x")
        var stored = StoredState.Channel(state: ChannelState(id: 1, name: "#c", created: 1, founder: .none))
        stored.metadata = try #require(script.metadata[.channel(1)])
        var state = StoredState()
        state.channels = [stored]
        let other = WorldScript(stored: state).client("bo")
        #expect(other.ask("METADATA #c GET url") == [":parley.test 761 bo #c url * :x"])
    }

    @Test func whileTheStoreFailsNothingIsChanged() {
        let ana = client("ana")
        script.isStoreFull = true
        ana.send("JOIN #c")
        #expect(ana.ask("METADATA * SET url :x")[0].contains("FAIL METADATA STORE_FULL ana :"))
        #expect(content(ana.ask("METADATA * LIST")).isEmpty)
    }

    @Test func draft3HasOtherCodes() {
        let ana = client("ana", "draft/metadata-3")
        #expect(ana.ask("METADATA * SET $x :y")[0].contains("FAIL METADATA INVALID_KEY $x :"))
        let long = String(repeating: "x", count: 257)
        #expect(ana.ask("METADATA * SET url :\(long)")[0].contains("FAIL METADATA INVALID_VALUE url :"))
        #expect(ana.ask("METADATA * SET url") == [":parley.test 766 ana ana url :key not set"])
        #expect(ana.ask("METADATA * WIPE")[0].contains("FAIL METADATA INVALID_PARAMS WIPE :"))
        #expect(ana.ask("METADATA * SUB a b c d")[1].contains("FAIL METADATA LIMIT_REACHED d 3 :"))
    }
}
