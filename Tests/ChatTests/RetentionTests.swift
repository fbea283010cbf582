import Bytes
import Chat
import TestKit
import Testing

/// RETENTION: how long a channel is kept.
@Suite struct RetentionTests {
    private func scene(_ change: (inout Settings) -> Void = { _ in }) -> (WorldScript, ScriptClient, ScriptClient) {
        let script = WorldScript(change)
        let (ana, bo) = (script.client("ana"), script.client("bo"))
        for client in [ana, bo] { _ = client.ask("JOIN #cats") }
        return (script, ana, bo)
    }

    @Test func operatorsSetItAndMembersReadIt() {
        let (script, ana, bo) = scene()
        #expect(bo.ask("RETENTION #cats") == [":parley.test NOTE RETENTION KEPT #cats * * :History is kept for ever"])
        let told = ana.ask("RETENTION #cats 30d 1000")
        #expect(told.count == 1 && told[0].contains("NOTE RETENTION KEPT #cats 2592000s 1000 :"))
        #expect(bo.ask("RETENTION #cats") == told)
        let saved = script.changes.compactMap { change -> Retention? in
            if case .saveChannel(let state) = change { state.retention } else { nil }
        }
        #expect(saved.last == Retention(age: 2_592_000, count: 1000))
        #expect(ana.ask("RETENTION #cats *")[0].contains("KEPT #cats * 1000 :"))
        #expect(ana.ask("RETENTION #cats * *")[0].contains("KEPT #cats * * :"))
    }

    @Test func theServersLimitIsTheMost() {
        let (_, ana, _) = scene { $0.retention = Retention(age: 3600, count: 50) }
        #expect(ana.ask("RETENTION #cats")[0].contains("KEPT #cats 3600s 50 :"))
        #expect(ana.ask("RETENTION #cats 2h 60")[0].contains("KEPT #cats 3600s 50 :"))
        #expect(ana.ask("RETENTION #cats 30m 40")[0].contains("KEPT #cats 1800s 40 :"))
    }

    @Test func refusals() {
        let (script, ana, bo) = scene()
        let cy = script.client("cy")
        #expect(bo.ask("RETENTION #cats 1d")[0].contains(" 482 bo #cats "))
        #expect(cy.ask("RETENTION #cats")[0].contains(" 442 cy #cats "))
        #expect(cy.ask("RETENTION #none")[0].contains(" 403 cy #none "))
        #expect(ana.ask("RETENTION")[0].contains(" 461 ana RETENTION "))
        for wrong in ["0", "x", "-1d", "1d 0", "1d -5", "1d x"] {
            #expect(ana.ask("RETENTION #cats \(wrong)")[0].contains("FAIL RETENTION INVALID_PARAMS #cats "), "\(wrong)")
        }
        _ = ana.ask("MODE #cats +s")
        #expect(cy.ask("RETENTION #cats")[0].contains(" 403 cy #cats "))
        script.isStoreFull = true
        bo.send("PRIVMSG #cats :x")
        #expect(ana.ask("RETENTION #cats 1d")[0].contains("STORE_FULL"))
    }

    @Test("What is too old to be kept is named by no list") func notListedWhenItIsTooOld() {
        let (script, ana, _) = scene { $0.retention = Retention(age: 3600) }
        ana.send("PRIVMSG #cats :hi")
        let all = "CHATHISTORY TARGETS timestamp=2020-01-01T00:00:00.000Z timestamp=2100-01-01T00:00:00.000Z 9"
        #expect(ana.ask(all).contains { $0.contains("TARGETS #cats") })
        #expect(ana.ask("CONVERSATIONS").contains { $0.contains("CONVERSATION #cats") })
        script.advance(3_600_001)
        #expect(!ana.ask(all).contains { $0.contains("TARGETS #cats") })
        #expect(!ana.ask("CONVERSATIONS").contains { $0.contains("CONVERSATION #cats") })
    }
}
