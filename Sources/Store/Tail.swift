import Chat
import Bytes

/// What readers need to know of a record that still lies in `log`.
struct TailEntry: Equatable {
    var position: Int64
    var time: Int64
    /// Number of the record's kind.
    var kind: UInt8
    var uid: UID
}

/// Which records of `log` belong to which conversation, shared by the journal and the readers.
///
/// Why no reader misses a record or sees one twice: the journal adds entries after their commit and removes them
/// after the commit that moved their rows. A reader takes its snapshot while it holds the lock, so every entry it sees
/// has its row in the snapshot: in `messages` up to the position that the snapshot's own `MergeState` names for the
/// conversation, and in `log` above it. It leaves out the former, as it finds them there.
final class Tail: Sendable {
    typealias Entries = [Conversation: [TailEntry]]

    private let entries = Lock<Entries>([:])

    /// After the commit of these records.
    func add(_ records: [LogRecord]) {
        entries.withLock { entries in
            for record in records {
                let entry = TailEntry(
                    position: record.position, time: record.time, kind: record.kind.rawValue, uid: record.uid)
                entries[record.conversation, default: []].append(entry)
            }
        }
    }

    /// At the start, in order of position.
    func restore(_ conversation: Conversation, _ entry: TailEntry) {
        entries.withLock { $0[conversation, default: []].append(entry) }
    }

    /// After the commit that moved this conversation's records up to `position`.
    func trim(_ conversation: Conversation, upTo position: Int64) {
        entries.withLock { entries in
            guard let list = entries[conversation] else { return }
            let count = list.partition { $0.position > position }
            entries[conversation] = count == list.count ? nil : Array(list[count...])
        }
    }

    /// In the order of `messages`.
    var conversations: [Conversation] {
        entries.withLock { entries in Array(entries.keys) }.sorted { ($0.a, $0.b) < ($1.a, $1.b) }
    }

    /// Up to `limit` positions of the conversation that are not above `target`, oldest first.
    func positions(_ conversation: Conversation, upTo target: Int64, limit: Int) -> [Int64] {
        entries.withLock { entries in
            guard let list = entries[conversation] else { return [] }
            return list.prefix(min(limit, list.partition { $0.position > target })).map(\.position)
        }
    }

    func newest(_ conversation: Conversation, _ kinds: RecordKinds = .all) -> TailEntry? {
        entries.withLock { $0[conversation]?.last { kinds.contains(number: $0.kind) } }
    }

    /// `snapshot` begins a read transaction and returns up to where the conversation has moved in it; the lock is held
    /// around it (see above). Answers, for each window, what of it lies above that, oldest first.
    func select(
        _ conversation: Conversation, _ windows: [Window], snapshot: () throws(SQLiteFailure) -> Int64
    ) throws(SQLiteFailure) -> [[TailEntry]] {
        let result = entries.withLock { entries -> Result<[[TailEntry]], SQLiteFailure> in
            do throws(SQLiteFailure) {
                let moved = try snapshot()
                let list = entries[conversation] ?? []
                return .success(windows.map { $0.select(from: list, above: moved) })
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension Array where Element == TailEntry {
    /// The first index whose entry passes; entries that pass follow those that do not.
    func partition(_ passes: (TailEntry) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if passes(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
