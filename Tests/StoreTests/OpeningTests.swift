import Bytes
import CSQLite
import Chat
import Foundation
import Testing

@testable import Store

@Suite struct OpeningTests {
    let scratch = Scratch()

    private func opening(migrations: [String] = Migrations.all) -> StoreError? {
        do throws(StoreError) {
            _ = try Store.open(path: scratch.database, durability: .full, migrations: migrations)
            return nil
        } catch {
            return error
        }
    }

    private func edit(_ sql: String) throws {
        var db: OpaquePointer?
        defer { sqlite3_close(db) }
        try #require(sqlite3_open(scratch.database, &db) == SQLITE_OK)
        try #require(sqlite3_exec(db, sql, nil, nil, nil) == SQLITE_OK)
    }

    /// Opens, stores one record, closes.
    private func makeDatabase() throws {
        var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
        let outcome = journal.commit([.sample(1)])
        #expect(outcome == .committed(batch: 1))
    }

    @Test func filesAreTheOwnersAlone() throws {
        let path = scratch.path + "/new/deep/parley.db"
        let store = try Store.open(path: path, durability: .full)
        _ = consume store
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let directory = try FileManager.default.attributesOfItem(atPath: scratch.path + "/new")
        #expect(directory[.posixPermissions] as? Int == 0o700)
    }

    @Test func aSecondServerIsRefused() throws {
        let store = try Store.open(path: scratch.database, durability: .full)
        #expect(opening() == .locked(path: scratch.database, process: Int(getpid())))
        _ = consume store
        #expect(opening() == nil)
    }

    @Test func aNewerSchemaIsRefusedUntouched() throws {
        try makeDatabase()
        try edit("PRAGMA user_version = 99")
        let before = scratch.contents("parley.db")
        #expect(opening() == .newerSchema(path: scratch.database, found: 99, known: Migrations.all.count))
        #expect(scratch.contents("parley.db") == before)
    }

    @Test func anotherProgramsDatabaseIsRefusedUntouched() throws {
        try edit("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
        let before = scratch.contents("parley.db")
        #expect(opening() == .foreign(path: scratch.database))
        #expect(scratch.contents("parley.db") == before)
    }

    @Test func whatIsNoDatabaseIsRefusedUntouched() throws {
        let text = Data(repeating: 0x41, count: 9000)
        try text.write(to: URL(fileURLWithPath: scratch.database))
        #expect(opening() == .foreign(path: scratch.database))
        #expect(scratch.contents("parley.db") == text)
    }

    /// Cut short, and overwritten in the middle: the schema's own page still reads.
    @Test(arguments: [true, false]) func aDamagedDatabaseIsRefused(truncated: Bool) throws {
        try makeDatabase()
        var bytes = try #require(scratch.contents("parley.db"))
        let half = bytes.count / 2 / 4096 * 4096
        if truncated {
            bytes = bytes.prefix(half)
        } else {
            bytes.replaceSubrange(4096..., with: Data(repeating: 0xA5, count: bytes.count - 4096))
        }
        try bytes.write(to: URL(fileURLWithPath: scratch.database))
        guard case .damaged(scratch.database, _) = opening() else {
            Issue.record("opened a damaged database")
            return
        }
        #expect(scratch.contents("parley.db") == bytes)
    }

    @Test func aMissingTableIsDamage() throws {
        try makeDatabase()
        try edit("DROP TABLE identities")
        guard case .damaged(_, let reason) = opening() else { throw Unexpected() }
        #expect(reason.contains("schema"))
    }

    @Test func anEmptyFileBecomesADatabase() throws {
        try Data().write(to: URL(fileURLWithPath: scratch.database))
        #expect(opening() == nil)
    }

    @Test func anUpgradeKeepsACopy() throws {
        try makeDatabase()
        let upgraded = Migrations.all + ["CREATE TABLE later (x INTEGER); INSERT INTO later VALUES (5)"]
        #expect(opening(migrations: upgraded) == nil)
        let next = Migrations.all.count + 1
        #expect(opening() == .newerSchema(path: scratch.database, found: next, known: next - 1))
        let copy = "\(scratch.database).before-v\(next)"
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        var reader = try Store.open(path: copy, durability: .full).readers.make()
        #expect(reader.latest().records == [.sample(1)])
    }

    @Test func aFailedUpgradeChangesNothing() throws {
        try makeDatabase()
        let broken = Migrations.all + ["CREATE TABLE later (x INTEGER); INSERT INTO missing VALUES (5)"]
        #expect(opening(migrations: broken) != nil)
        #expect(opening() == nil)
    }

    @Test func stateIsLoaded() throws {
        var channel = ChannelState(id: 3, name: "#Übung", created: 11, founder: UID(number: 77))
        channel.topic = "topic"
        channel.topicSetter = "ana!ana@host"
        channel.topicTime = 12
        channel.modes = "nt"
        channel.key = "secret"
        channel.limit = 20
        channel.flood = "5:10"
        channel.used = 13
        let ana = UID(number: 77)
        let bo = UID(number: 78)
        let identity = IdentityState(uid: ana, nick: "ana", name: "Ana", epoch: 2, created: 3, seen: 4)
        let place = MemberState(channel: 3, uid: ana, ranks: 9, present: true, joined: 5)
        let other = MemberState(channel: 9, uid: ana, ranks: 0, present: false, joined: 0)
        let masks: [ByteString] = ["z!*@*", "a!*@*", "m!*@*"]
        do {
            var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
            var changes: [Change] = [.saveChannel(ChannelState(id: 3, name: "#old", created: 1, founder: bo))]
            changes += [.saveChannel(channel), .saveChannel(ChannelState(id: 9, name: "#x", created: 1, founder: bo))]
            changes += masks.map { .addListEntry(channel: 3, mode: 0x62, ListEntry(mask: $0, setter: "bo", time: 1)) }
            changes.append(.addListEntry(channel: 3, mode: 0x62, ListEntry(mask: "a!*@*", setter: "ana", time: 2)))
            changes.append(.addListEntry(channel: 3, mode: 0x65, ListEntry(mask: "m!*@*", setter: "bo", time: 1)))
            changes.append(.removeListEntry(channel: 3, mode: 0x62, mask: "m!*@*"))
            changes += [.saveIdentity(identity), .saveMember(place), .saveMember(other)]
            changes += [.saveMember(MemberState(channel: 3, uid: bo, ranks: 1, present: true, joined: 1))]
            changes.append(.removeMember(channel: 3, uid: bo))
            let outcome = journal.commit([.sample(8, .channel(3)), .sample(9, .channel(3), kind: .join)], changes)
            #expect(outcome == .committed(batch: 8))
            try journal.mergeAll()
        }
        let store = try Store.open(path: scratch.database, durability: .full)
        let loaded = try #require(store.state.channels.first)
        #expect(loaded.state == channel)
        #expect(loaded.lastTime == 1009)
        let bans = [ListEntry(mask: "z!*@*", setter: "bo", time: 1), ListEntry(mask: "a!*@*", setter: "ana", time: 2)]
        #expect(loaded.lists == [0x62: bans, 0x65: [ListEntry(mask: "m!*@*", setter: "bo", time: 1)]])
        #expect(store.state.channels.map(\.state.id) == [3, 9])
        #expect(store.state.lastPosition == 9)
        #expect(store.state.lastChannelID == 9)
        var reader = store.readers.make()
        let answer = reader.identity(IdentityQuestion(number: 4, who: .uid(ana)))
        #expect(answer == IdentityAnswer(number: 4, state: identity, members: [place, other]))
        #expect(reader.identity(IdentityQuestion(number: 4, who: .nick("ANA"))) == answer)
        let nobody = reader.identity(IdentityQuestion(number: 5, who: .uid(bo)))
        #expect(nobody == IdentityAnswer(number: 5, state: nil, members: []))
    }

    @Test func serverBansAreLoaded() throws {
        let ban = ServerBan(
            kind: .kline, mask: "*@192.0.2.1", reason: "spam", setter: "root", time: 5, expires: 99)
        let others = [ServerBan.Kind.dline, .resv, .shun].map {
            ServerBan(kind: $0, mask: "*@192.0.2.1", reason: "", setter: "root", time: 6)
        }
        do {
            var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
            var early = ban
            early.reason = "replaced"
            let gone = ServerBan(kind: .kline, mask: "gone@*", reason: "x", setter: "root", time: 1)
            let changes: [Change] =
                [.saveServerBan(early), .saveServerBan(gone)] + others.map { .saveServerBan($0) }
                + [.saveServerBan(ban), .removeServerBan(.kline, mask: "gone@*")]
                + [.removeServerBan(.dline, mask: "gone@*")]
            #expect(journal.commit(JournalBatch(number: 1, changes: changes)) == .committed(batch: 1))
        }
        #expect(try Store.open(path: scratch.database, durability: .full).state.serverBans == others + [ban])
    }

    @Test func metadataIsLoadedAndGoesWithItsChannel() throws {
        let ana = UID(number: 77)
        do {
            var journal = try Store.open(path: scratch.database, durability: .full).takeJournal()
            let changes: [Change] =
                [3, 4].map { .saveChannel(ChannelState(id: $0, name: "#c\($0)", created: 1, founder: ana)) } + [
                    .setMetadata(.identity(ana), key: "url", value: "old"),
                    .setMetadata(.identity(ana), key: "url", value: "new"),
                    .setMetadata(.identity(ana), key: "avatar", value: ""),
                    .setMetadata(.identity(ana), key: "gone", value: "x"),
                    .setMetadata(.identity(ana), key: "gone", value: nil),
                    .setMetadata(.channel(4), key: "url", value: "c"),
                    .setMetadata(.channel(77), key: "url", value: "d"),
                    .setMetadata(.channel(3), key: "url", value: "e"), .dropChannel(id: 3),
                ]
            #expect(journal.commit(JournalBatch(number: 1, changes: changes)) == .committed(batch: 1))
            #expect(try journal.ask("SELECT count(*) FROM metadata WHERE kind = 2 AND owner = 3") == 0)
        }
        let store = try Store.open(path: scratch.database, durability: .full)
        #expect(store.state.channels.map(\.metadata) == [Metadata([MetadataEntry(key: "url", value: "c")])])
        var reader = store.readers.make()
        let entries = [MetadataEntry(key: "avatar", value: ""), MetadataEntry(key: "url", value: "new")]
        #expect(reader.identity(IdentityQuestion(number: 4, who: .uid(ana))).metadata == Metadata(entries))
    }
}
