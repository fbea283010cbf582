package import Bytes

/// A binary heap of what is due when. Entries are not taken back: who is woken checks whether it still concerns it.
package struct Deadlines: Sendable {
    package enum Purpose: UInt8, Sendable {
        case greet, completePlain, registration, ping, resume, batch, confirm
    }

    package struct Entry: Sendable {
        package var due: Int64
        package var connection: ConnectionID
        package var purpose: Purpose
    }

    private var heap: ContiguousArray<Entry> = []

    package init() {}

    /// Steady milliseconds of the earliest entry.
    package var next: Int64? { heap.first?.due }

    package mutating func add(_ due: Int64, _ purpose: Purpose, _ connection: ConnectionID) {
        heap.append(Entry(due: due, connection: connection, purpose: purpose))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].due <= heap[child].due { break }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    /// The earliest entry if it is due.
    package mutating func pop(now: Int64) -> Entry? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return first }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].due < heap[least].due
            {
                least = child
            }
            if least == parent { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
