import Bytes
import Chat

/// History by the book: everything in one array, every selector a filter.
struct Model {
    var records: [LogRecord] = []

    func page(_ question: HistoryQuestion) -> HistoryPage {
        let all = records.filter {
            $0.conversation == question.conversation && $0.position >= question.oldest
                && $0.position <= question.newest && question.kinds.contains(number: $0.kind.rawValue)
        }
        let limit = question.limit
        let records: [LogRecord]
        let matching: Int
        switch question.selector {
        case .latest(let after):
            let found = all.filter { after.map($0.isAfter) ?? true }
            (records, matching) = (found.suffix(limit), found.count)
        case .before(let reference):
            let found = all.filter { $0.isBefore(reference) }
            (records, matching) = (found.suffix(limit), found.count)
        case .after(let reference):
            let found = all.filter { $0.isAfter(reference) }
            (records, matching) = (Array(found.prefix(limit)), found.count)
        case .around(let reference):
            let before = all.filter { $0.isBefore(reference) }
            let rest = all.filter { !$0.isBefore(reference) }
            let count = min(before.count, max(limit / 2, limit - rest.count))
            (records, matching) = (before.suffix(count) + rest.prefix(limit - count), all.count)
        case .between(let first, let second):
            let forward = all.filter { $0.isAfter(first) && $0.isBefore(second) }
            let backward = all.filter { $0.isAfter(second) && $0.isBefore(first) }
            let isForward = first.precedes(second) ?? !forward.isEmpty
            records = isForward ? Array(forward.prefix(limit)) : backward.suffix(limit)
            matching = isForward ? forward.count : backward.count
        }
        var page = HistoryPage(number: question.number, records: records, isComplete: matching <= limit)
        for record in records where record.counterpart != 0 {
            page.counterparts[record.counterpart] = self.records.first { $0.position == record.counterpart }
        }
        return page
    }

    mutating func add(_ record: LogRecord) {
        if record.kind.shelf == .changes, let at = records.firstIndex(where: { $0.position == record.counterpart }) {
            records[at].take(record)
        }
        records.append(record)
        // The new text is in the message alone.
        if record.kind == .edit { records[records.count - 1].text = "" }
    }
}

extension LogRecord {
    func isBefore(_ reference: PageReference) -> Bool {
        switch reference {
        case .position(let position): self.position < position
        case .time(let time): self.time < time
        }
    }

    func isAfter(_ reference: PageReference) -> Bool {
        switch reference {
        case .position(let position): self.position > position
        case .time(let time): self.time > time
        }
    }
}

extension PageReference {
    /// nil: they cannot be compared.
    func precedes(_ other: PageReference) -> Bool? {
        switch (self, other) {
        case (.position(let one), .position(let two)), (.time(let one), .time(let two)): one <= two
        default: nil
        }
    }
}
