import Chat

/// With whom an identity has direct conversations, and in which hour the newest message of each was said. A
/// conversation's key is the pair itself, which `messages` finds from one of the two only; `correspondents` has a row
/// for each of them, written at most once an hour.
struct CorrespondentStatements: ~Copyable, Sendable {
    private let insert: Statement
    /// Pairs whose rows are known to have the hour; forgotten when it is full, or when a transaction failed.
    private static let capacity = 65_536

    init(_ database: borrowing Database) {
        insert = database.prepare(
            """
            INSERT INTO correspondents (uid, other, hour) VALUES (?1, ?2, ?3)
            ON CONFLICT (uid, other) DO UPDATE SET hour = max(hour, excluded.hour)
            """)
    }

    /// Before the commit of these records.
    func note(_ records: [LogRecord], known: inout [Conversation: Int64]) throws(SQLiteFailure) {
        for record in records where record.conversation.isDirect && record.kind.isMessage {
            let (pair, hour) = (record.conversation, record.time.hour)
            if known[pair] == hour { continue }
            try insert.run(pair.a, pair.b, hour)
            try insert.run(pair.b, pair.a, hour)
            if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
            known[pair] = hour
        }
    }
}

extension Int64 {
    /// Of milliseconds since 1970.
    fileprivate var hour: Int64 { self / 3_600_000 }
}

extension History {
    /// Each conversation is looked at in a snapshot of its own: a message is in it or is not, and either is right.
    func direct(_ question: DirectQuestion, _ tail: Tail) throws(SQLiteFailure) -> DirectAnswer {
        switch question.wanted {
        case .existence:
            DirectAnswer(number: question.number, records: [], isComplete: try isKept(question.uid))
        case .heads(let from, let to): try heads(question, tail, from: from, to: to)
        case .received(let since): try received(question, tail, since: since)
        }
    }

    /// Hour by hour, so that what is beyond the page is not looked at.
    private func heads(
        _ question: DirectQuestion, _ tail: Tail, from: Int64, to: Int64
    ) throws(SQLiteFailure) -> DirectAnswer {
        let hours = min(from, to).hour...max(from, to).hour
        var heads: [LogRecord] = []
        var present = Int64.min
        for (other, hour) in try correspondents(of: question.uid, hours, newestFirst: from > to) {
            if hour != present, heads.count > question.limit { break }
            present = hour
            let newest = try page(latest(question, other, limit: 1), tail).records
            heads += newest.filter { $0.time > min(from, to) && $0.time < max(from, to) }
        }
        heads.sort { ($0.time, $0.position) < ($1.time, $1.position) }
        var answer = DirectAnswer(question, heads, newestFirst: from > to)
        for record in answer.records {
            let other = record.other(than: question.uid)
            answer.accounts[other] = try accounts.account(other)?.name
        }
        return answer
    }

    private func received(
        _ question: DirectQuestion, _ tail: Tail, since: MessageMark
    ) throws(SQLiteFailure) -> DirectAnswer {
        var answer = DirectAnswer(number: question.number, records: [], isComplete: true)
        let others = try correspondents(of: question.uid, since.time.hour...Int64.max.hour, newestFirst: true)
        for (other, _) in others where other != question.uid {
            var asked = latest(question, other, limit: question.limit + 1)
            asked.oldest = since.position
            let slice = try page(asked, tail)
            answer.records += slice.records.filter { $0.uid == other }
            answer.counterparts.merge(slice.counterparts) { one, _ in one }
        }
        answer.isComplete = answer.records.count <= question.limit
        answer.records = answer.records.sorted { $0.position < $1.position }.suffix(question.limit)
        return answer
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
