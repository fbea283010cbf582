import Bytes

/// What other threads hand to one consumer: an array under a lock, swapped for an empty one.
///
/// The consumer is a reactor (`init(waker:)` with the reactor's; its handler is told by `woken` and takes from every
/// mailbox that shares the waker) or a thread of its own (`init()`, `waitAndTakeAll`).
package final class Mailbox<Item: Sendable>: Sendable {
    private let items = Lock<[Item]>([])
    private let waker: Waker

    package init(waker: Waker) { self.waker = waker }

    package init() throws(NetError) { waker = try Waker() }

    /// Wakes the consumer when the box was empty: later items ride along.
    package func post(_ item: Item) {
        let wasEmpty = items.withLock {
            $0.append(item)
            return $0.count == 1
        }
        if wasEmpty { waker.signal() }
    }

    package func post(contentsOf more: [Item]) {
        if more.isEmpty { return }
        let wasEmpty = items.withLock {
            $0.append(contentsOf: more)
            return $0.count == more.count
        }
        if wasEmpty { waker.signal() }
    }

    /// How many wait, for limits and metrics.
    package var count: Int { items.withLock { $0.count } }

    /// In the order they were posted.
    package func takeAll() -> [Item] {
        var taken: [Item] = []
        takeAll(into: &taken)
        return taken
    }

    /// The same into an array whose memory serves again, so that a busy box allocates nothing. What it held is dropped.
    package func takeAll(into taken: inout [Item]) {
        taken.removeAll(keepingCapacity: true)
        items.withLock { swap(&$0, &taken) }
    }

    /// For a consumer that is a thread: blocks until something is there, at most so long; -1 is forever.
    /// Empty when the time is over.
    package func waitAndTakeAll(timeoutMilliseconds: Int = -1) -> [Item] {
        let items = takeAll()
        if !items.isEmpty { return items }
        _ = waker.wait(timeoutMilliseconds: timeoutMilliseconds)
        return takeAll()
    }
}
