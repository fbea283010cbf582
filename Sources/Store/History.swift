import Bytes
import Chat

/// A reading connection with its statements: finds a page in the two places where records lie.
struct History: ~Copyable, Sendable {
    let database: Database
    let begin: Statement
    private let mergeState: Statement
    let commit: Statement
    private let tailRow: Statement
    private let movedRow: Statement
    private let identityRow: Statement
    private let byNick: Statement
    private let places: Statement
    private let others: Statement
    private let othersNewestFirst: Statement
    private let metadata: Statement
    private let marks: Statement
    private let missed: Statement
    let accounts: AccountRows
    private let images: ImageQueries
    private let clustered: Clustered
    private let sentRows: SentReading
    private let receiptRows: ReceiptsReading
    let searching: SearchReading

    static func open(path: String) throws(SQLiteFailure) -> History {
        let database = try Database(path: path, access: .read)
        database.wait(milliseconds: 2_000)
        // 4 MB each: inner pages and what was read last. No memory map: a failing disk would end the process by SIGBUS.
        try database.execute("PRAGMA cache_size = -4096")
        try SearchReading.prepare(database)
        let history = History(database)
        try history.database.checkPrepared()
        return history
    }

    private init(_ database: consuming Database) {
        begin = database.prepare("BEGIN")
        mergeState = database.prepare(MergeState.select)
        commit = database.prepare("COMMIT")
        tailRow = database.prepare("SELECT \(RecordRow.columns) FROM log WHERE position = ?1")
        movedRow = database.prepare(
            """
            SELECT \(RecordRow.columns) FROM messages
            WHERE a = ?1 AND b = ?2 AND event IN (0, 1, 2) AND position = ?3
            """)
        identityRow = database.prepare("SELECT nick, name, epoch, created, seen FROM identities WHERE uid = ?1")
        byNick = database.prepare(
            "SELECT uid FROM identities WHERE nick = ?1 COLLATE NOCASE ORDER BY seen DESC LIMIT 1")
        places = database.prepare(
            "SELECT channel, ranks, present, joined FROM members WHERE uid = ?1 ORDER BY channel")
        let range = "SELECT other, hour FROM correspondents WHERE uid = ?1 AND hour BETWEEN ?2 AND ?3 ORDER BY hour"
        others = database.prepare(range)
        othersNewestFirst = database.prepare("\(range) DESC")
        metadata = database.prepare("SELECT key, value FROM metadata WHERE kind = 1 AND owner = ?1 ORDER BY key")
        marks = database.prepare("SELECT a, b, time FROM read_marks WHERE uid = ?1")
        accounts = AccountRows(database)
        images = ImageQueries(database)
        missed = database.prepare("SELECT position, time FROM missed WHERE uid = ?1")
        clustered = Clustered(database)
        sentRows = SentReading(database)
        receiptRows = ReceiptsReading(database)
        searching = SearchReading(database)
        self.database = database
    }

    /// Everything is read in one snapshot, taken while the tail is locked.
    func page(_ question: HistoryQuestion, _ tail: Tail) throws(SQLiteFailure) -> Slice {
        defer { database.rollBack() }
        let conversation = question.conversation
        let windows = Window.windows(question)
        let selections = try tail.select(conversation, windows) { () throws(SQLiteFailure) in
            try begin.run()
            return try MergeState(mergeState).moved(conversation)
        }
        var slice: Slice
        if case .around = question.selector {
            let before = try self.slice(conversation, windows[0], selections[0])
            let rest = try self.slice(conversation, windows[1], selections[1])
            slice = Slice(around: before, rest, limit: question.limit)
        } else {
            var found = try self.slice(conversation, windows[0], selections[0])
            var window = windows[0]
            if found.isEmpty && windows.count == 2 {
                window = windows[1]
                found = try self.slice(conversation, window, selections[1])
            }
            slice = Slice(found, limit: question.limit, newestFirst: window.newestFirst)
        }
        try findCounterparts(&slice)
        try commit.run()
        return slice
    }

    /// In the present snapshot.
    func findCounterparts(_ slice: inout Slice) throws(SQLiteFailure) {
        for at in slice.records.indices where slice.records[at].counterpart != 0 {
            let counterpart = slice.records[at].counterpart
            slice.counterparts[counterpart] = try record(counterpart, slice.records[at].conversation)
        }
    }

    /// In the present snapshot.
    func record(
        _ position: Int64, _ conversation: Conversation
    ) throws(SQLiteFailure) -> LogRecord? {
        defer {
            tailRow.reset()
            movedRow.reset()
        }
        tailRow.bind(1, position)
        if try tailRow.step() { return try RecordRow.decode(tailRow, conversation) }
        movedRow.bind([conversation.a, conversation.b, position])
        return try movedRow.step() ? try RecordRow.decode(movedRow, conversation) : nil
    }

    private func slice(
        _ conversation: Conversation, _ window: Window, _ selection: [TailEntry]
    ) throws(SQLiteFailure) -> [LogRecord] {
        var records: [LogRecord] = []
        let room = window.limit - (window.newestFirst ? selection.count : 0)
        if room > 0 { records = try clustered.records(conversation, window, limit: room) }
        for entry in selection.prefix(max(window.limit - records.count, 0)) {
            tailRow.bind(1, entry.position)
            if try tailRow.step() { records.append(try RecordRow.decode(tailRow, conversation)) }
            tailRow.reset()
        }
        return records
    }

    func isKept(_ uid: UID) throws(SQLiteFailure) -> Bool {
        defer { identityRow.reset() }
        identityRow.bind(1, uid.number)
        return try identityRow.step()
    }

    func answer(_ question: ImageQuestion) throws(SQLiteFailure) -> ImageAnswer { try images.answer(question) }

    func correspondents(
        of uid: UID, _ hours: ClosedRange<Int64>, newestFirst: Bool
    ) throws(SQLiteFailure) -> [(UID, hour: Int64)] {
        try newestFirst ? correspondents(othersNewestFirst, uid, hours) : correspondents(others, uid, hours)
    }

    private func correspondents(
        _ statement: borrowing Statement, _ uid: UID, _ hours: ClosedRange<Int64>
    ) throws(SQLiteFailure) -> [(UID, hour: Int64)] {
        defer { statement.reset() }
        statement.bind([uid.number, hours.lowerBound, hours.upperBound])
        var found: [(UID, hour: Int64)] = []
        while try statement.step() { found.append((UID(number: statement.integer(0)), statement.integer(1))) }
        return found
    }

    func receipts(_ question: ReceiptsQuestion, _ tail: Tail) throws(SQLiteFailure) -> ReceiptsAnswer {
        let asked = HistoryQuestion(
            number: question.number, conversation: question.conversation,
            selector: .between(.position(question.position - 1), .position(question.position + 1)), limit: 1,
            oldest: question.oldest)
        guard let message = try page(asked, tail).records.first, message.uid == question.author, !message.isRedacted
        else { return ReceiptsAnswer(number: question.number, isFound: false) }
        return ReceiptsAnswer(
            number: question.number, isFound: true, receipts: try receiptRows.receipts(question, of: message))
    }

    func sent(_ question: SentQuestion) throws(SQLiteFailure) -> SentAnswer { try sentRows.answer(question) }

    func identity(_ question: IdentityQuestion) throws(SQLiteFailure) -> IdentityAnswer {
        defer { database.rollBack() }
        try begin.run()
        var answer = IdentityAnswer(number: question.number, state: nil, members: [])
        if case .accounts(let after, let limit) = question.who {
            answer.accounts = try accounts.accounts(after: after, limit: limit)
        }
        guard let uid = try uid(of: question.who) else { return answer }
        answer.account = try accounts.account(uid)
        identityRow.bind(1, uid.number)
        if try identityRow.step() {
            answer.state = IdentityState(
                uid: uid, nick: identityRow.bytes(0), name: identityRow.bytes(1),
                epoch: identityRow.integer(2), created: identityRow.integer(3), seen: identityRow.integer(4))
        }
        identityRow.reset()
        places.bind(1, uid.number)
        while try places.step() {
            answer.members.append(
                MemberState(
                    channel: places.integer(0), uid: uid, ranks: UInt8(truncatingIfNeeded: places.integer(1)),
                    present: places.integer(2) != 0, joined: places.integer(3)))
        }
        places.reset()
        metadata.bind(1, uid.number)
        while try metadata.step() { answer.metadata[metadata.bytes(0)] = metadata.bytes(1) }
        metadata.reset()
        answer.correspondence = try correspondence(of: uid)
        try commit.run()
        return answer
    }

    /// nil: there is nobody of that name.
    private func uid(of who: IdentityQuestion.Who) throws(SQLiteFailure) -> UID? {
        switch who {
        case .uid(let uid): return uid
        case .nick(let nick):
            byNick.bind(1, nick)
            defer { byNick.reset() }
            return try byNick.step() ? UID(number: byNick.integer(0)) : nil
        case .account(let name): return try accounts.uid(named: name)
        case .certificate(let fingerprint): return try accounts.uid(certificate: fingerprint)
        case .accounts: return nil
        }
    }

    private func correspondence(of uid: UID) throws(SQLiteFailure) -> Correspondence {
        var kept = Correspondence()
        defer {
            marks.reset()
            missed.reset()
        }
        marks.bind(1, uid.number)
        while try marks.step() {
            let conversation = Conversation(a: marks.integer(0), b: marks.integer(1))
            kept.marks.append(ReadMark(conversation: conversation, time: marks.integer(2)))
        }
        missed.bind(1, uid.number)
        if try missed.step() {
            kept.missedSince = MessageMark(position: missed.integer(0), time: missed.integer(1))
        }
        return kept
    }
}

/// Part of a conversation, oldest first.
struct Slice {
    var records: [LogRecord]
    var counterparts: [Int64: LogRecord] = [:]
    var isComplete: Bool

    /// `found` has one record more than `limit` where there is a further page.
    init(_ found: consuming [LogRecord], limit: Int, newestFirst: Bool) {
        let surplus = found.count - max(limit, 0)
        isComplete = surplus <= 0
        records = found
        if surplus <= 0 { return }
        if newestFirst { records.removeFirst(surplus) } else { records.removeLast(surplus) }
    }

    /// Half before the reference and the rest from it on; what one side lacks the other may fill.
    init(around before: [LogRecord], _ rest: [LogRecord], limit: Int) {
        let limit = max(limit, 0)
        let older = min(before.count, max(limit / 2, limit - rest.count))
        records = before.suffix(older) + rest.prefix(limit - older)
        isComplete = before.count + rest.count <= limit
    }
}
