import Chat

/// A selector in terms of numbers: which records belong, all bounds inclusive, and which end the page is taken from.
/// Positions and times rise together within a conversation.
struct Window {
    /// The question's own limits, which no window passes.
    var oldest: Int64
    var positions: ClosedRange<Int64>
    var times: ClosedRange<Int64> = .min ... .max
    var newestFirst: Bool
    /// One more than the page holds: that one tells whether there is a further page. 0: nothing can be in the window.
    var limit: Int
    var kinds: RecordKinds
    /// `none`: everybody's.
    var author: UID

    private init(_ question: HistoryQuestion, newestFirst: Bool) {
        oldest = question.oldest
        positions = question.oldest...max(question.newest, question.oldest)
        self.newestFirst = newestFirst
        limit = question.newest < question.oldest || question.limit <= 0 ? 0 : question.limit + 1
        kinds = question.kinds
        author = question.author
    }

    /// One window; two for `around` (before it, then from it on) and for `between` whose references differ in kind:
    /// only the one in the right order can have records.
    static func windows(_ question: HistoryQuestion) -> [Window] {
        func window(after: PageReference? = nil, before: PageReference? = nil, newestFirst: Bool) -> Window {
            var window = Window(question, newestFirst: newestFirst)
            if let after { window.startAfter(after) }
            if let before { window.endBefore(before) }
            return window
        }
        switch question.selector {
        case .latest(let after): return [window(after: after, newestFirst: true)]
        case .before(let reference): return [window(before: reference, newestFirst: true)]
        case .after(let reference): return [window(after: reference, newestFirst: false)]
        case .around(let reference):
            var rest = Window(question, newestFirst: false)
            rest.start(at: reference)
            return [window(before: reference, newestFirst: true), rest]
        case .between(let first, let second):
            let forward = window(after: first, before: second, newestFirst: false)
            let backward = window(after: second, before: first, newestFirst: true)
            switch (first, second) {
            case (.position(let one), .position(let other)): return [one <= other ? forward : backward]
            case (.time(let one), .time(let other)): return [one <= other ? forward : backward]
            default: return [forward, backward]
            }
        }
    }

    private mutating func startAfter(_ reference: PageReference) {
        switch reference {
        case .position(.max), .time(.max): limit = 0
        case .position(let position): start(at: .position(position + 1))
        case .time(let time): start(at: .time(time + 1))
        }
    }

    private mutating func start(at reference: PageReference) {
        switch reference {
        case .position(let position): narrow(\.positions, max(positions.lowerBound, position), positions.upperBound)
        case .time(let time): narrow(\.times, max(times.lowerBound, time), times.upperBound)
        }
    }

    private mutating func endBefore(_ reference: PageReference) {
        switch reference {
        case .position(.min), .time(.min): limit = 0
        case .position(let position): narrow(\.positions, positions.lowerBound, min(positions.upperBound, position - 1))
        case .time(let time): narrow(\.times, times.lowerBound, min(times.upperBound, time - 1))
        }
    }

    /// An impossible range takes nothing.
    private mutating func narrow(_ range: WritableKeyPath<Window, ClosedRange<Int64>>, _ lower: Int64, _ upper: Int64) {
        self[keyPath: range] = lower...max(lower, upper)
        if upper < lower { limit = 0 }
    }
}

extension Window {
    /// What of the window lies in the tail above `moved`.
    func select(from list: [TailEntry], above moved: Int64) -> [TailEntry] {
        let start = list.partition { $0.position > moved && $0.position >= oldest }
        let lower = max(
            start, list.partition { $0.position >= positions.lowerBound && $0.time >= times.lowerBound })
        let upper = list.partition { $0.position > positions.upperBound || $0.time > times.upperBound }
        var selected: [TailEntry] = []
        if newestFirst {
            var index = upper
            while index > lower, selected.count < limit {
                index -= 1
                if wants(list[index]) { selected.append(list[index]) }
            }
            selected.reverse()
        } else {
            var index = lower
            while index < upper, selected.count < limit {
                if wants(list[index]) { selected.append(list[index]) }
                index += 1
            }
        }
        return selected
    }

    private func wants(_ entry: TailEntry) -> Bool {
        kinds.contains(number: entry.kind) && (author == .none || author == entry.uid)
    }
}
