import Bytes
import Chat
import Testing

@testable import Store

@Suite struct AccountStoreTests {
    let scratch = Scratch()
    let ana = UID(number: 11)
    let bo = UID(number: 12)

    private func account(_ uid: UID, _ name: ByteString, _ standing: AccountState.Standing = .open) -> AccountState {
        AccountState(
            uid: uid, name: name, look: "look of \(name)",
            credentials: Credentials(hash: "$argon2id$x", scram: "s$1:2$3"),
            email: "a@b.example", created: 5, standing: standing)
    }

    /// Each list in a batch of its own, then everything is opened again.
    private func commit(_ batches: [AccountChange]...) throws {
        var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
        for (i, batch) in batches.enumerated() {
            let number = Int64(i + 1)
            let outcome = journal.commit(JournalBatch(number: number, changes: batch.map { .account($0) }))
            #expect(outcome == .committed(batch: number))
        }
    }

    private func find(_ who: IdentityQuestion.Who) throws -> AccountState? {
        let store = try Store.open(path: scratch.database, durability: .full)
        var reader = store.readers.make()
        return reader.identity(IdentityQuestion(number: 1, who: who)).account
    }

    @Test func anAccountIsFoundByNameUIDAndCertificate() throws {
        var kept = account(ana, "Ana")
        kept.code = "proof"
        kept.codeExpires = 99
        try commit(
            [.add(kept)], [.addCertificate(ana, "ab"), .addCertificate(ana, "cd"), .removeCertificate(ana, "cd")])
        kept.certificates = ["ab"]
        #expect(try find(.account("ana")) == kept)
        #expect(try find(.uid(ana)) == kept)
        #expect(try find(.certificate("ab")) == kept)
        #expect(try find(.certificate("cd")) == nil)
        #expect(try find(.account("bo")) == nil)
        #expect(try find(.uid(bo)) == nil)
    }

    @Test func eachChangeTouchesWhatItIsAbout() throws {
        var kept = account(ana, "Ana", .unverified)
        kept.code = "proof"
        kept.codeExpires = 99
        let fresh = Credentials(hash: "new", scram: "keys")
        try commit([.add(kept)], [.verify(ana)])
        #expect(try find(.uid(ana))?.standing == .open)
        #expect(try find(.uid(ana))?.code == "")
        try commit([.setCode(ana, "again", expires: 7)], [.suspend(name: "ana", reason: "stolen")])
        #expect(try find(.uid(ana))?.code == "again")
        #expect(try find(.uid(ana))?.suspension == "stolen")
        try commit([.setCredentials(ana, fresh)], [.suspend(name: "ana", reason: "")])
        let changed = try #require(try find(.uid(ana)))
        #expect(changed.credentials == fresh && changed.code == "" && changed.suspension == "")
        #expect(changed.email == "a@b.example" && changed.created == 5 && changed.look == "look of Ana")
    }

    @Test func aClosedAccountKeepsItsNameAndNothingElse() throws {
        try commit([.add(account(ana, "Ana")), .addCertificate(ana, "ab")], [.close(ana)])
        let closed = try #require(try find(.account("ana")))
        #expect(closed.standing == .closed && closed.email == "")
        #expect(closed.credentials == Credentials(hash: "", scram: "") && closed.certificates.isEmpty)
        // Only what was never verified can be removed.
        try commit([.remove(ana), .add(account(bo, "Bo", .unverified))], [.remove(bo)])
        #expect(try find(.account("ana")) != nil)
        #expect(try find(.account("bo")) == nil)
    }

    @Test func namesAreKnownAtTheStart() throws {
        var late = account(bo, "Bo", .unverified)
        late.codeExpires = 77
        try commit(
            [.add(account(ana, "Ana")), .add(late), .add(account(UID(number: 13), "Gone"))], [.close(UID(number: 13))])
        let names = try Store.open(path: scratch.database, durability: .full).state.accountNames
        #expect(
            names.sorted { $0.uid.number < $1.uid.number } == [
                // The name is taken and leads to nobody.
                AccountName(name: "Gone", look: "look of Gone", uid: .none),
                AccountName(name: "Ana", look: "look of Ana", uid: ana),
                AccountName(name: "Bo", look: "look of Bo", uid: bo, expires: 77),
            ])
    }
}
