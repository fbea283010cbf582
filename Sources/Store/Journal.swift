import Bytes
package import Chat

/// When the disk has to have it.
package enum Durability: Sendable {
    /// Every commit is synced: survives power loss.
    case full
    /// Survives a killed process; power loss may take the newest commits.
    case normal
    /// As `normal`, and power loss may damage the file.
    case off
}

/// Writes what the core decides; owned by one thread.
///
/// After a failed batch every further one fails too until `probe` succeeds: what came later was decided in the belief
/// that the earlier was stored.
package struct Journal: ~Copyable, Sendable {
    let path: String
    let durability: Durability
    let tail: Tail
    /// nil: to be opened again.
    var writer: Writer?
    /// Highest committed position and newest time; they outlive their records.
    var lastPosition: Int64
    var lastTime: Int64
    var merge: MergeState
    /// Of the merge's round, the conversations that have still rows to move, the next one last.
    var mergeQueue: [Conversation] = []
    /// The log may have rows that have moved.
    var hasMovedRows: Bool
    var dropped: [DroppedChannel]
    var erased: [ErasedPerson]
    /// Records up to here are in the search index.
    var indexed: Int64
    /// Deleted texts may have to go from the search index.
    var hasGone = true
    /// What is kept of all conversations, and of channels that have their own limits, by id.
    var retention = Retention()
    var channelRetention: [Int64: Retention] = [:]
    /// nil: none is under way.
    var retaining: RetentionRound?
    /// Milliseconds since 1970.
    var wall: @Sendable () -> Int64 = { Clock.wall }
    var pace = MaintenancePace()
    /// When the write-ahead log is to be emptied, because something in it was erased; nil: nothing was.
    var erasesAt: Int64? = 0
    /// The last failure of a `maintain` step, for the log; nil: the last one succeeded.
    package internal(set) var maintenanceFailure: String?
    private let lock: FileLock
    private var failure: Failure?

    private struct Failure {
        var batch: Int64
        var reason: String
        var bytes: Int
    }

    init(path: String, durability: Durability, lock: consuming FileLock, writer: consuming Writer, loaded: Loader) {
        self.path = path
        self.durability = durability
        self.lock = lock
        self.writer = consume writer
        tail = loaded.tail
        lastPosition = loaded.state.lastPosition
        lastTime = loaded.state.lastTime
        merge = loaded.merge
        hasMovedRows = true
        dropped = loaded.dropped
        erased = loaded.erased
        indexed = loaded.indexed
        for channel in loaded.state.channels { noteRetention(channel.state) }
    }

    /// One transaction: all of the batch or nothing.
    package mutating func commit(_ batch: JournalBatch) -> JournalOutcome {
        if let failure {
            let reason = "nothing is written since batch \(failure.batch) failed (\(failure.reason))"
            return .failed(batch: batch.number, reason: reason)
        }
        if batch.isEmpty { return .committed(batch: batch.number) }
        do throws(SQLiteFailure) {
            try openWriter()
            try writer!.write(batch, above: lastPosition)
        } catch {
            failure = Failure(batch: batch.number, reason: error.description, bytes: batch.bytes)
            giveUpWriter(after: error)
            return .failed(batch: batch.number, reason: error.description)
        }
        note(batch)
        return .committed(batch: batch.number)
    }

    private mutating func note(_ batch: JournalBatch) {
        if let newest = batch.records.last {
            lastPosition = newest.position
            lastTime = max(lastTime, newest.time)
        }
        tail.add(batch.records)
        if batch.records.contains(where: { $0.kind.shelf == .changes }) { eraseSoon() }
        for change in batch.changes {
            switch change {
            case .dropChannel(let id):
                channelRetention[id] = nil
                dropped.append(DroppedChannel(id: id, position: lastPosition))
            case .erase(let uid):
                erased.removeAll { $0.uid == uid.number }
                erased.append(ErasedPerson(uid: uid.number, position: lastPosition))
            case .saveChannel(let state): noteRetention(state)
            default: break
            }
        }
    }

    /// Files that no row names are removed. What fails is tried again with the next ones.
    package mutating func forgetImageFiles(_ garbage: [Int64]) {
        if failure != nil { return }
        do throws(SQLiteFailure) {
            try openWriter()
            try writer!.forgetImageFiles(garbage)
        } catch { giveUpWriter(after: error) }
    }

    mutating func openWriter() throws(SQLiteFailure) {
        if writer == nil { writer = try Writer.open(path: path, durability: durability) }
    }

    mutating func giveUpWriter(after failure: SQLiteFailure) {
        if !failure.leavesConnectionUsable { writer = nil }
    }

    /// After a failure: whether writing works again, by writing. True also when nothing had failed.
    ///
    /// A commit can succeed on a full disk, inside pages that are free in the file or the log, and the next one fail.
    /// So first the disk must take new bytes: four times the failed batch, a megabyte at least, written to a file
    /// beside the database, synced and removed. Then the database must take as much as the failed batch in a commit of
    /// its own, which also finds limits of the file and errors of the connection, and overwrites whatever a failed sync
    /// left in the log.
    package mutating func probe() -> Bool {
        guard let failed = failure else { return true }
        let bytes = max(failed.bytes, 256 << 10)
        guard Files.hasRoom(at: "\(path).probe", count: 4 * bytes) else { return false }
        do throws(SQLiteFailure) {
            try openWriter()
            try writer!.fillAndEmpty(bytes)
        } catch {
            giveUpWriter(after: error)
            return false
        }
        failure = nil
        return true
    }
}

extension JournalBatch {
    /// Roughly what it takes on disk.
    var bytes: Int {
        let texts = records.reduce(0) { $0 + $1.source.count + $1.name.count + $1.tags.count + $1.text.count }
        return texts + 64 * records.count + 512 * changes.count
    }
}
