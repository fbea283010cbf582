import Bytes
import Wire

/// Times of conversations' newest messages. No two of them are the same, so that CHATHISTORY TARGETS, which knows times
/// only, can be paged. They rise over all conversations; in a rush, where that would lead far ahead of the clock, they
/// are different and no more. What is past cannot be given again, so the table holds what is not: a slot for each
/// millisecond of about a second from now on.
struct HeadTimes {
    private static let slots: Int64 = 1024
    private static let lead: Int64 = 100
    private var newest: Int64 = 0
    private var table = ContiguousArray<Int64>(repeating: 0, count: Int(slots))

    mutating func keep(_ time: Int64) { table[Int(time & (Self.slots - 1))] = time }

    /// The first time from `earliest` on that no newest message has; `replaced` is one no longer. With more than a
    /// thousand conversations at once there may be none.
    mutating func take(from earliest: Int64, replacing replaced: Int64, now: Int64) -> Int64 {
        let earliest = newest < now + Self.lead ? max(earliest, newest + 1) : earliest
        let slot = Int(replaced & (Self.slots - 1))
        if table[slot] == replaced { table[slot] = 0 }
        let free = (earliest..<earliest + Self.slots).first { table[Int($0 & (Self.slots - 1))] != $0 }
        let time = free ?? earliest
        keep(time)
        newest = max(newest, time)
        return time
    }
}

/// When each pair last spoke, as far as it is not past: times rise strictly within a conversation, also when the clock
/// is set back.
struct DirectTimes {
    private var times: [Conversation: Int64] = [:]
    /// Nothing that is forgotten is newer.
    private var floor: Int64
    private var limit = 4_096

    init(floor: Int64) { self.floor = floor }

    /// nil: not since what is past.
    subscript(pair: Conversation) -> Int64? { times[pair] }

    func last(_ pair: Conversation) -> Int64 { times[pair] ?? floor }

    mutating func set(_ pair: Conversation, _ time: Int64, now: Int64) {
        times[pair] = time
        if times.count < limit { return }
        for (pair, time) in times where time < now {
            floor = max(floor, time)
            times[pair] = nil
        }
        limit = max(4_096, 2 * times.count)
    }
}

extension World {
    mutating func nextDirectTime(_ pair: Conversation) -> Int64 {
        let earliest = max(now.wall, directTimes.last(pair) + 1)
        let time = headTimes.take(from: earliest, replacing: directTimes[pair] ?? 0, now: now.wall)
        directTimes.set(pair, time, now: now.wall)
        return time
    }
}
