import Bytes
import Chat
import Foundation
import Testing

@testable import Store

/// A directory that goes away with its last reference.
final class Scratch: Sendable {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "parley-store-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var database: String { "\(path)/parley.db" }

    func contents(_ name: String) -> Data? { FileManager.default.contents(atPath: "\(path)/\(name)") }

    /// The database and its log as they are on disk at this moment, as after a crash.
    func copy(to other: Scratch) throws {
        for name in ["parley.db", "parley.db-wal"] {
            try? FileManager.default.removeItem(atPath: "\(other.path)/\(name)")
            try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(other.path)/\(name)")
        }
    }
}

/// SplitMix64: the same numbers for the same seed.
struct Dice: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func roll(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self) }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

extension LogRecord {
    static func sample(
        _ position: Int64, _ conversation: Conversation = .channel(1), time: Int64? = nil,
        kind: RecordKind = .privmsg, text: ByteString? = nil
    ) -> LogRecord {
        LogRecord(
            position: position, conversation: conversation, time: time ?? 1000 + position, kind: kind,
            uid: UID(number: 7), source: "ana!ana@host", account: "", name: "Ana", tags: "",
            text: text ?? "text \(position)")
    }
}

/// An opened store whose rows come in a moment, and a reader of it.
struct Opened: ~Copyable {
    var journal: Journal
    var reader: Reader

    init(_ scratch: Scratch) throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        reader = store.readers.make()
        journal = store.takeJournal()
    }

    /// All that there is to do.
    mutating func settle() {
        while journal.maintain(budgetMilliseconds: 100) {}
        #expect(journal.maintenanceFailure == nil)
    }
}

extension Journal {
    /// The number is the first record's position.
    mutating func commit(_ records: [LogRecord], _ changes: [Change] = []) -> JournalOutcome {
        commit(JournalBatch(number: records.first?.position ?? 0, records: records, changes: changes))
    }

    func ask(_ sql: String) throws -> Int64 {
        switch writer {
        case .some(let writer): try writer.database.integer(sql) ?? 0
        case .none: throw Unexpected()
        }
    }

    mutating func mergeAll() throws {
        while merge.merged < lastPosition { try mergeStep() }
    }
}

extension Reader {
    mutating func latest(_ conversation: Conversation = .channel(1), limit: Int = 1000) -> HistoryPage {
        page(
            HistoryQuestion(
                number: 1, conversation: conversation, selector: .latest(after: nil), limit: limit, kinds: .all))
    }
}

struct Unexpected: Error {}
