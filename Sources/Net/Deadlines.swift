import Bytes

/// A binary heap of deadlines. Entries are never removed early: a connection knows its present deadline, and one that
/// comes up with another, or whose id has expired, says nothing.
struct Deadlines {
    struct Entry {
        /// Milliseconds of the kernel's clock.
        let time: Int64
        let id: ConnectionID
    }

    private var heap: ContiguousArray<Entry> = []

    var first: Int64? { heap.first?.time }

    mutating func insert(_ id: ConnectionID, at time: Int64) {
        heap.append(Entry(time: time, id: id))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].time <= heap[child].time { break }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    /// The next entry that is due, the earliest first.
    mutating func next(_ now: Int64) -> Entry? {
        guard let top = heap.first, top.time <= now else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return top }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent * 2 + 1
            if least >= heap.count { break }
            if least + 1 < heap.count, heap[least + 1].time < heap[least].time { least += 1 }
            if heap[parent].time <= heap[least].time { break }
            heap.swapAt(parent, least)
            parent = least
        }
        return top
    }
}
