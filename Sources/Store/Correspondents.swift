import Chat

/// With whom an identity has direct conversations. A conversation's key is the pair itself, which `messages` finds from
/// one of the two only; `correspondents` has a row for each of them.
struct CorrespondentStatements: ~Copyable, Sendable {
    private let insert: Statement
    /// Pairs whose rows are known to be there; forgotten when it is full, or when a transaction failed.
    private static let capacity = 65_536

    init(_ database: borrowing Database) {
        insert = database.prepare("INSERT OR IGNORE INTO correspondents (uid, other) VALUES (?1, ?2)")
    }

    /// Before the commit of these records.
    func note(_ records: [LogRecord], known: inout Set<Conversation>) throws(SQLiteFailure) {
        for record in records where record.conversation.isDirect && !known.contains(record.conversation) {
            try insert.run(record.conversation.a, record.conversation.b)
            try insert.run(record.conversation.b, record.conversation.a)
            if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
            known.insert(record.conversation)
        }
    }
}

extension History {
    /// Each conversation is looked at in a snapshot of its own: a message is in it or is not, and either is right.
    func direct(_ question: DirectQuestion, _ tail: Tail) throws(SQLiteFailure) -> DirectAnswer {
        let others = try correspondents(of: question.uid)
        switch question.wanted {
        case .existence:
            return DirectAnswer(number: question.number, records: [], isComplete: try isKept(question.uid))
        case .heads(let from, let to):
            var heads: [LogRecord] = []
            for other in others {
                let newest = try page(latest(question, other, limit: 1), tail).records
                heads += newest.filter { $0.time > min(from, to) && $0.time < max(from, to) }
            }
            heads.sort { ($0.time, $0.position) < ($1.time, $1.position) }
            return DirectAnswer(question, heads, newestFirst: from > to)
        case .received(let since):
            var answer = DirectAnswer(number: question.number, records: [], isComplete: true)
            for other in others where other != question.uid {
                var asked = latest(question, other, limit: question.limit + 1)
                asked.oldest = since
                let slice = try page(asked, tail)
                answer.records += slice.records.filter { $0.uid == other }
                answer.counterparts.merge(slice.counterparts) { one, _ in one }
            }
            answer.isComplete = answer.records.count <= question.limit
            answer.records = answer.records.sorted { $0.position < $1.position }.suffix(question.limit)
            return answer
        }
    }

    private func latest(_ question: DirectQuestion, _ other: UID, limit: Int) -> HistoryQuestion {
        HistoryQuestion(
            number: question.number, conversation: .direct(question.uid, other), selector: .latest(after: nil),
            limit: limit, newest: question.newest)
    }
}

extension DirectAnswer {
    /// `sorted` by time; whatever has the time of the last one that is asked for belongs to the page.
    fileprivate init(_ question: DirectQuestion, _ sorted: [LogRecord], newestFirst: Bool) {
        let ordered = newestFirst ? sorted.reversed() : sorted
        let last = ordered.prefix(question.limit).last?.time
        let page = ordered.prefix { $0.time == last || (newestFirst ? $0.time > last ?? .max : $0.time < last ?? .min) }
        self.init(
            number: question.number, records: newestFirst ? page.reversed() : Array(page),
            isComplete: page.count == sorted.count)
    }
}
