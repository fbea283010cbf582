import Chat
import Glibc

/// A channel whose history is still to be deleted. Ids are never used again, so nobody can ask for it.
struct DroppedChannel: Equatable {
    var id: Int64
    /// Its records have lower or equal positions.
    var position: Int64
}

/// When housekeeping is worth its cost. Rows, pages of 4 KB.
struct MaintenancePace {
    /// A round over 200 conversations finds 80 neighbours in each: two pages written for three filled.
    var mergeFrom: Int64 = 16_384
    /// Rows in one transaction, some milliseconds.
    var step = 1_024
    /// Beyond these the caller should not wait for an idle moment.
    var hurryRows: Int64 = 65_536
    var hurryPages = 8_192
    var checkpointPages = 2_048
    /// Records that the search index may be behind; under load more, as writing comes first.
    var indexFrom: Int64 = 256
    var hurryIndex: Int64 = 4_194_304
    /// Messages in a part of the search index, and pages of it that are merged in one step.
    var searchPart = Writer.searchPart
    var searchPages = 32
    /// Nanoseconds from a redaction until the write-ahead log is emptied, which then costs one sync for many, and how
    /// long that may wait for an idle moment.
    var eraseDelay: Int64 = 1_000_000_000
    var erasePatience: Int64 = 10_000_000_000
    /// Nanoseconds between two looks for what authors called their messages more than a day ago, and when the next is.
    var forgetEvery: Int64 = 60_000_000_000
    var forgetsAt: Int64 = 0
    /// The same between two rounds that delete what is no longer to be kept.
    var retainEvery: Int64 = 600_000_000_000
    var retainsAt: Int64 = 0
    /// No new attempt before this moment after a failure.
    var resumeAt: Int64 = 0
}

extension Journal {
    private var backlog: Int64 { lastPosition - merge.merged }
    private var unindexed: Int64 { lastPosition - indexed }
    /// What is to be deleted still has rows in the log that count as not moved.
    private var mergesToDelete: Bool {
        dropped.contains { $0.position > merge.merged } || erased.contains { $0.position > merge.merged }
            || retaining.map { $0.target > merge.merged } ?? false
    }
    private var deletes: Bool { !dropped.isEmpty || !erased.isEmpty || retaining != nil }
    private var isResting: Bool { pace.resumeAt > 0 && Clock.nanoseconds < pace.resumeAt }

    private var logPages: Int {
        switch writer {
        case .some(let writer): writer.logPages
        case .none: 0
        }
    }

    private var mustErase: Bool { erasesAt.map { Clock.nanoseconds - $0 > pace.erasePatience } ?? false }

    /// The tail or the write-ahead log is long, or should have been emptied: `maintain` now, also under load.
    package var mustMaintain: Bool {
        (backlog >= pace.hurryRows || unindexed >= pace.hurryIndex || logPages >= pace.hurryPages || mustErase)
            && !isResting
    }

    /// Texts that are gone from the tables stand in the write-ahead log until that is emptied.
    mutating func eraseSoon() {
        hasGone = true
        if erasesAt == nil { erasesAt = Clock.nanoseconds + pace.eraseDelay }
    }

    /// Moves rows to their conversations, deletes what dropped channels and erased people leave, shortens the
    /// write-ahead log. The budget may be passed by one step: a transaction of about a thousand rows or one checkpoint.
    /// True: more is to do.
    package mutating func maintain(budgetMilliseconds: Int) -> Bool {
        if isResting { return false }
        let end = Clock.nanoseconds + Int64(budgetMilliseconds) * 1_000_000
        do throws(SQLiteFailure) {
            try openWriter()
            // Its commits need no sync of their own: the next batch's covers them, and until then a power loss takes
            // them back in order, which loses no record.
            try writer!.setDurability(.normal, atMost: durability)
            var hasMore = true
            repeat { hasMore = try maintainOnce() } while hasMore && Clock.nanoseconds < end
            try writer!.setDurability(durability)
            maintenanceFailure = nil
            return hasMore
        } catch {
            // Whatever it was: the next writer is opened with the durability of batches.
            writer = nil
            maintenanceFailure = error.description
            pace.resumeAt = Clock.nanoseconds + 1_000_000_000
            return false
        }
    }

    /// One step; false: there was nothing to do. A long log comes first, as everything else makes it longer.
    private mutating func maintainOnce() throws(SQLiteFailure) -> Bool {
        if let due = erasesAt, due <= Clock.nanoseconds {
            if try removeFromSearch() { return true }
            erasesAt = try writer!.cutLog() ? nil : Clock.nanoseconds + 20_000_000
            return true
        }
        if Clock.nanoseconds >= pace.forgetsAt {
            let old = lastTime - 86_400_000
            if try !writer!.forgetSent(rows: Int64(pace.step), olderThan: old) {
                pace.forgetsAt = Clock.nanoseconds + pace.forgetEvery
            }
            return true
        }
        if logPages >= pace.checkpointPages, try writer!.checkpoint() { return true }
        if !merge.isBetweenRounds || backlog >= pace.mergeFrom || mergesToDelete {
            try mergeStep()
            return true
        }
        // What is to be deleted must have left the log first.
        if unindexed >= pace.indexFrom || (indexed < merge.merged && deletes) {
            indexed = try writer!.index(after: indexed, upTo: lastPosition, rows: pace.step, part: pace.searchPart)
            hasMovedRows = true
            return true
        }
        if hasMovedRows {
            hasMovedRows = try writer!.removeMoved(upTo: min(merge.merged, indexed), rows: Int64(pace.step))
            return true
        }
        if try removeFromSearch() { return true }
        if try retainStep() { return true }
        if let channel = dropped.first {
            guard try writer!.deleteHistory(channel.id, rows: Int64(pace.step)) else { return true }
            try writer!.forgetDropped(channel.id)
            dropped.removeFirst()
            eraseSoon()
            return true
        }
        if let person = erased.first {
            if let next = try writer!.erase(person, rows: Int64(pace.step)) {
                erased[0] = next
            } else {
                erased.removeFirst()
                eraseSoon()
            }
            return true
        }
        return false
    }

    /// One step towards a search index without deleted texts; false: there are none.
    private mutating func removeFromSearch() throws(SQLiteFailure) -> Bool {
        if !hasGone { return false }
        if try writer!.removeGone(rows: max(1, pace.step / 4)) { return true }
        hasGone = try writer!.tidySearch(pages: pace.searchPages)
        return hasGone
    }

    /// Moves about `pace.step` rows; begins a round when there is none, ends it when nothing is left.
    mutating func mergeStep() throws(SQLiteFailure) {
        var state = merge
        if state.isBetweenRounds { state.begin(target: lastPosition) }
        if merge.isBetweenRounds || mergeQueue.isEmpty {
            mergeQueue = tail.conversations.filter { ($0.a, $0.b) >= (state.cursor.a, state.cursor.b) }.reversed()
        }
        var queue = mergeQueue
        var positions: [Int64] = []
        var touched: [(Conversation, Int64)] = []
        while positions.count < pace.step, let next = queue.last {
            let room = pace.step - positions.count
            let part = tail.positions(next, upTo: state.target, limit: room)
            if part.count < room { queue.removeLast() }
            guard let last = part.last else { continue }
            positions += part
            state.cursor = next
            state.moved = part.count < room ? state.target : last
            touched.append((next, last))
        }
        if queue.isEmpty { state.end() }
        try writer!.move(positions, state, position: lastPosition, time: lastTime)
        merge = state
        mergeQueue = queue
        for (conversation, position) in touched { tail.trim(conversation, upTo: position) }
        if merge.isBetweenRounds { hasMovedRows = true }
    }
}

enum Clock {
    /// Monotonic.
    static var nanoseconds: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }

    /// Milliseconds since 1970.
    static var wall: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}
