package import Chat

/// A round over the conversations that are not kept for ever. What was said before it began is moved out of the log
/// first, so that each message lies in one place.
struct RetentionRound {
    /// Records up to here have to be moved.
    var target: Int64
    /// The conversation at hand, or the last one that was.
    var conversation = Conversation(a: .min, b: .min)
    var phase = Phase.next
    /// Messages older than this go, in milliseconds, and whatever lies before this position.
    var time = Int64.min
    var boundary = Int64.min
    var hasDeleted = false

    enum Phase {
        /// Look for the next conversation.
        case next
        /// Counts its newest messages: so many are still to be kept, before this position.
        case counting(Int64, before: Int64)
        case deleting(Shelf)
    }
}

struct RetentionStatements: ~Copyable, Sendable {
    fileprivate let next: Statement
    fileprivate let countedBack: Statement
    fileprivate let delete: Statement

    init(_ database: borrowing Database) {
        next = database.prepare("SELECT a, b FROM messages WHERE (a, b) > (?1, ?2) ORDER BY a, b LIMIT 1")
        let place = "a = ?1 AND b = ?2 AND event = ?3"
        countedBack = database.prepare(
            "SELECT position FROM messages WHERE \(place) AND position < ?4 ORDER BY position DESC LIMIT 1 OFFSET ?5")
        // Positions and times rise together: of the oldest rows, those that are over.
        delete = database.prepare(
            """
            DELETE FROM messages WHERE \(place) AND (time < ?4 OR position < ?5) AND position < coalesce(
                (SELECT position FROM messages WHERE \(place) ORDER BY position LIMIT 1 OFFSET ?6),
                9223372036854775807)
            """)
    }
}

extension Writer {
    fileprivate func conversation(after last: Conversation) throws(SQLiteFailure) -> Conversation? {
        defer { retention.next.reset() }
        retention.next.bind([last.a, last.b])
        guard try retention.next.step() else { return nil }
        return Conversation(a: retention.next.integer(0), b: retention.next.integer(1))
    }

    /// The position of the `count`th message before this one; nil: there are fewer.
    fileprivate func position(
        _ conversation: Conversation, count: Int64, before position: Int64
    ) throws(SQLiteFailure) -> Int64? {
        defer { retention.countedBack.reset() }
        retention.countedBack.bind([conversation.a, conversation.b, Shelf.messages.rawValue, position, count - 1])
        return try retention.countedBack.step() ? retention.countedBack.integer(0) : nil
    }

    /// Looks at the `rows` oldest of a shelf; how many are gone.
    fileprivate func delete(_ round: RetentionRound, _ shelf: Shelf, rows: Int) throws(SQLiteFailure) -> Int {
        let place = round.conversation
        try transaction { () throws(SQLiteFailure) in
            try retention.delete.run(place.a, place.b, shelf.rawValue, round.time, round.boundary, Int64(rows))
        }
        return Int(database.changes)
    }
}

extension Journal {
    /// What holds for all conversations from now on.
    package mutating func retain(_ retention: Retention) {
        self.retention = retention
        pace.retainsAt = 0
    }

    mutating func noteRetention(_ state: ChannelState) {
        if channelRetention[state.id] ?? Retention() == state.retention { return }
        channelRetention[state.id] = state.retention.isLimited ? state.retention : nil
        pace.retainsAt = 0
    }

    private func retention(of conversation: Conversation) -> Retention {
        guard !conversation.isDirect, let own = channelRetention[conversation.a] else { return retention }
        return retention.limited(by: own)
    }

    /// One step; false: there is nothing to do at present.
    mutating func retainStep() throws(SQLiteFailure) -> Bool {
        guard var round = retaining else {
            guard Clock.nanoseconds >= pace.retainsAt, retention.isLimited || !channelRetention.isEmpty else {
                return false
            }
            // Limits that are set meanwhile bring the next one sooner.
            pace.retainsAt = Clock.nanoseconds + pace.retainEvery
            retaining = RetentionRound(target: lastPosition)
            return true
        }
        switch round.phase {
        case .next: try beginNext(&round)
        case .counting(let count, let before): try countBack(&round, count, before)
        case .deleting(let shelf): try delete(&round, shelf)
        }
        if retaining != nil { retaining = round }
        return true
    }

    private mutating func beginNext(_ round: inout RetentionRound) throws(SQLiteFailure) {
        guard let next = try nextRetained(after: round.conversation) else {
            retaining = nil
            if round.hasDeleted { eraseSoon() }
            return
        }
        round.conversation = next
        let limits = retention(of: next)
        round.time = limits.age > 0 ? wall() - limits.age * 1000 : .min
        round.boundary = .min
        round.phase = limits.count > 0 ? .counting(limits.count, before: .max) : .deleting(.messages)
    }

    private func nextRetained(after last: Conversation) throws(SQLiteFailure) -> Conversation? {
        if retention.isLimited { return try writer!.conversation(after: last) }
        return channelRetention.keys.filter { $0 > last.a }.min().map { .channel($0) }
    }

    private func countBack(_ round: inout RetentionRound, _ count: Int64, _ before: Int64) throws(SQLiteFailure) {
        let part = min(count, Int64(pace.step))
        let position = try writer!.position(round.conversation, count: part, before: before)
        if let position, count > part {
            round.phase = .counting(count - part, before: position)
        } else {
            round.boundary = position ?? .min
            round.phase = .deleting(.messages)
        }
    }

    private func delete(_ round: inout RetentionRound, _ shelf: Shelf) throws(SQLiteFailure) {
        let count = try writer!.delete(round, shelf, rows: pace.step)
        if count > 0 { round.hasDeleted = true }
        if count == pace.step { return }
        round.phase = Shelf(rawValue: shelf.rawValue + 1).map { .deleting($0) } ?? .next
    }
}
