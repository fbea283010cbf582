import Chat

/// History by the book: everything in one array, every selector a filter.
struct Model {
    var records: [LogRecord] = []

    func page(_ question: HistoryQuestion) -> HistoryPage {
        let older = records.filter {
            $0.conversation == question.conversation && $0.position >= question.oldest
                && (question.events || $0.kind.isMessage)
        }
        let all = older.filter { $0.position <= question.newest }
        let limit = question.limit
        var records: [LogRecord]
        var start: PageReference?
        switch question.selector {
        case .latest(let after):
            records = all.filter { after.map($0.isAfter) ?? true }.suffix(limit)
            start = after
        case .before(let reference): records = all.filter { $0.isBefore(reference) }.suffix(limit)
        case .after(let reference):
            records = Array(all.filter { $0.isAfter(reference) }.prefix(limit))
            start = reference
        case .around(let reference):
            let before = all.filter { $0.isBefore(reference) }
            let rest = all.filter { !$0.isBefore(reference) }
            let count = min(before.count, max(limit / 2, limit - rest.count))
            records = before.suffix(count) + rest.prefix(limit - count)
        case .between(let first, let second):
            let forward = all.filter { $0.isAfter(first) && $0.isBefore(second) }
            let backward = all.filter { $0.isAfter(second) && $0.isBefore(first) }
            let isForward = first.precedes(second) ?? !forward.isEmpty
            records = isForward ? Array(forward.prefix(limit)) : backward.suffix(limit)
            start = isForward ? first : second
        }
        let reachesStart =
            if let first = records.first {
                !older.contains { $0.position < first.position }
            } else if let start {
                !older.contains { !$0.isAfter(start) }
            } else {
                true
            }
        return HistoryPage(number: question.number, records: records, reachesStart: reachesStart)
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
