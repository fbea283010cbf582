import Bytes
import Chat

/// A reading connection with its statements: finds a page in the two places where records lie.
struct History: ~Copyable, Sendable {
    private let database: Database
    private let begin: Statement
    private let mergeState: Statement
    private let commit: Statement
    private let tailRow: Statement
    private let identityRow: Statement
    private let places: Statement
    private let clustered: Clustered

    static func open(path: String) throws(SQLiteFailure) -> History {
        let database = try Database(path: path, access: .read)
        database.wait(milliseconds: 2_000)
        // 4 MB each: inner pages and what was read last. No memory map: a failing disk would end the process by SIGBUS.
        try database.execute("PRAGMA cache_size = -4096")
        let history = History(database)
        try history.database.checkPrepared()
        return history
    }

    private init(_ database: consuming Database) {
        begin = database.prepare("BEGIN")
        mergeState = database.prepare(MergeState.select)
        commit = database.prepare("COMMIT")
        tailRow = database.prepare("SELECT \(RecordRow.columns) FROM log WHERE position = ?1")
        identityRow = database.prepare("SELECT nick, name, epoch, created, seen FROM identities WHERE uid = ?1")
        places = database.prepare(
            "SELECT channel, ranks, present, joined FROM members WHERE uid = ?1 ORDER BY channel")
        clustered = Clustered(database)
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
        let slice: Slice
        if case .around = question.selector {
            let before = try self.slice(conversation, windows[0], selections[0])
            let rest = try self.slice(conversation, windows[1], selections[1])
            slice = Slice(around: before, rest, limit: question.limit)
        } else {
            var found = try self.slice(conversation, windows[0], selections[0])
            if found.records.isEmpty && windows.count == 2 {
                found = try self.slice(conversation, windows[1], selections[1])
            }
            slice = found
        }
        try commit.run()
        return slice
    }

    private func slice(
        _ conversation: Conversation, _ window: Window, _ selection: TailSelection
    ) throws(SQLiteFailure) -> Slice {
        var records: [LogRecord] = []
        let room = window.limit - (window.newestFirst ? selection.entries.count : 0)
        if room > 0 { records = try clustered.records(conversation, window, limit: room) }
        let isClustered = !records.isEmpty
        for entry in selection.entries.prefix(max(window.limit - records.count, 0)) {
            tailRow.bind(1, entry.position)
            if try tailRow.step() { records.append(try RecordRow.decode(tailRow, conversation)) }
            tailRow.reset()
        }
        let hasOlder =
            (!isClustered && selection.hasOlder)
            ? true : try clustered.hasOlder(conversation, window, than: records.first?.position)
        return Slice(records: records, reachesStart: !hasOlder)
    }

    func identity(_ question: IdentityQuestion) throws(SQLiteFailure) -> IdentityAnswer {
        defer { database.rollBack() }
        try begin.run()
        var answer = IdentityAnswer(number: question.number, state: nil, members: [])
        identityRow.bind(1, question.uid.number)
        if try identityRow.step() {
            answer.state = IdentityState(
                uid: question.uid, nick: identityRow.bytes(0), name: identityRow.bytes(1),
                epoch: identityRow.integer(2), created: identityRow.integer(3), seen: identityRow.integer(4))
        }
        identityRow.reset()
        places.bind(1, question.uid.number)
        while try places.step() {
            answer.members.append(
                MemberState(
                    channel: places.integer(0), uid: question.uid, ranks: UInt8(truncatingIfNeeded: places.integer(1)),
                    present: places.integer(2) != 0, joined: places.integer(3)))
        }
        places.reset()
        try commit.run()
        return answer
    }
}

extension Slice {
    /// Half before the reference and the rest from it on; what one side lacks the other may fill.
    init(around before: Slice, _ rest: Slice, limit: Int) {
        let half = max(limit, 0) / 2
        let older = min(before.records.count, max(half, limit - rest.records.count))
        records = before.records.suffix(older) + rest.records.prefix(max(limit, 0) - older)
        reachesStart = before.reachesStart && older == before.records.count
    }
}
