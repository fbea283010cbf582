import Chat
import Synchronization

/// What readers need to know of a record that still lies in `log`.
struct TailEntry: Equatable {
    var position: Int64
    var time: Int64
    var isMessage: Bool
}

/// Which records of `log` belong to which conversation, shared by the journal and the readers.
///
/// Why no reader misses a record or sees one twice: the journal adds entries after their commit and removes them
/// after the commit that moved their rows and raised `merged`. A reader takes its snapshot while it holds the lock, so
/// every entry it sees has its row in the snapshot, either still in `log` or, at or below the snapshot's `merged`, in
/// `messages`; it leaves those out, as it finds them there.
final class Tail: Sendable {
    typealias Entries = [Conversation: [TailEntry]]

    private let entries = Mutex<Entries>([:])

    /// After the commit of these records.
    func add(_ records: [LogRecord]) {
        entries.withLock { entries in
            for record in records {
                let entry = TailEntry(position: record.position, time: record.time, isMessage: record.kind.isMessage)
                entries[record.conversation, default: []].append(entry)
            }
        }
    }

    /// At the start, in order of position.
    func restore(_ conversation: Conversation, _ entry: TailEntry) {
        entries.withLock { $0[conversation, default: []].append(entry) }
    }

    /// After the commit that moved everything up to `merged`.
    func trim(upTo merged: Int64) {
        entries.withLock { entries in
            for (conversation, list) in entries {
                let count = list.partition { $0.position > merged }
                if count == list.count {
                    entries[conversation] = nil
                } else if count > 0 {
                    entries[conversation] = Array(list[count...])
                }
            }
        }
    }

    /// After the commit that dropped it.
    func remove(_ conversation: Conversation) { entries.withLock { _ = $0.removeValue(forKey: conversation) } }

    func newest(_ conversation: Conversation) -> TailEntry? { entries.withLock { $0[conversation]?.last } }

    /// `snapshot` begins a read transaction and returns its `merged`; the lock is held around it (see above). Answers,
    /// for each window, what of it lies above `merged`.
    func select(
        _ conversation: Conversation, _ windows: [Window], snapshot: () throws(SQLiteFailure) -> Int64
    ) throws(SQLiteFailure) -> [TailSelection] {
        let result = entries.withLock { entries -> Result<[TailSelection], SQLiteFailure> in
            do throws(SQLiteFailure) {
                let merged = try snapshot()
                let list = entries[conversation] ?? []
                return .success(windows.map { $0.select(from: list, above: merged) })
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

struct TailSelection {
    /// Oldest first.
    var entries: [TailEntry] = []
    /// The tail has records of the wanted kinds, not older than the question's oldest, before the first entry (or
    /// before the window when it is empty).
    var hasOlder = false
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
