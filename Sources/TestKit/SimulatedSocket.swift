import CSystem
import Glibc
package import Net

/// One connection of a `SimulatedKernel`: the peer's calls are public, the server's side is the kernel's.
package final class SimulatedSocket {
    package let address: PeerAddress
    /// How many bytes the kernel holds for a peer that does not read.
    package var capacity = 200
    /// The server will send no more.
    package internal(set) var isEndedByServer = false
    package private(set) var isClosedByServer = false
    /// By either side: what had not been read is lost.
    package private(set) var isReset = false

    private var inFlight: [UInt8] = []
    private var arrived: [UInt8] = []
    private var isEnding = false
    private var isEnded = false
    private var sent: [UInt8] = []
    private var isShortOfSpace = false
    private var interest: UInt32 = 0
    private var edges: UInt32 = 0
    var tag: UInt64 = 0

    init(_ address: PeerAddress) { self.address = address }

    // MARK: The peer's side

    package func send(_ bytes: [UInt8]) { inFlight += bytes }

    /// No more after what is in flight.
    package func endWriting() { isEnding = true }

    /// At once; what is in flight is lost.
    package func reset() {
        inFlight = []
        isReset = true
        edges |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue
    }

    /// Takes what the server sent, at most `limit` bytes.
    package func read(_ limit: Int = .max) -> [UInt8] {
        let taken = [UInt8](sent.prefix(limit))
        sent.removeFirst(taken.count)
        if isShortOfSpace, sent.count < capacity {
            isShortOfSpace = false
            edges |= EPOLLOUT.rawValue
        }
        return taken
    }

    /// The end of the stream, after every byte.
    package var hasSeenEnd: Bool { sent.isEmpty && !isReset && (isEndedByServer || isClosedByServer) }

    // MARK: The kernel's side

    func watch(_ events: UInt32, _ tag: UInt64) {
        interest = events
        self.tag = tag
        // epoll_ctl(2) looks again at what is ready.
        if !arrived.isEmpty || isEnded || isReset { edges |= EPOLLIN.rawValue }
        if isEnded { edges |= EPOLLRDHUP.rawValue }
        if isReset { edges |= EPOLLERR.rawValue | EPOLLHUP.rawValue }
        if sent.count < capacity { edges |= EPOLLOUT.rawValue }
    }

    /// A random piece of what is in flight comes in.
    func arrive(_ dice: inout SimulatedDice) {
        if isReset { return }
        if !inFlight.isEmpty {
            let count = min(inFlight.count, [0, 1, 1, 7, 100, 5_000][dice.roll(6)])
            if count == 0 { return }
            arrived += inFlight.prefix(count)
            inFlight.removeFirst(count)
            edges |= EPOLLIN.rawValue
        } else if isEnding, !isEnded {
            isEnded = true
            edges |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue
        }
    }

    func takeEvents() -> UInt32? {
        let now = edges & (interest | EPOLLERR.rawValue | EPOLLHUP.rawValue)
        if now == 0 { return nil }
        edges = 0
        return now
    }

    func receive(_ room: UnsafeMutableRawBufferPointer, peek: Bool) -> Int {
        let count = min(room.count, arrived.count)
        if count > 0 {
            room.copyBytes(from: arrived.prefix(count))
            if !peek { arrived.removeFirst(count) }
            return count
        }
        if isReset { return -Int(ECONNRESET) }
        return isEnded ? 0 : -Int(EAGAIN)
    }

    func take(_ bytes: UnsafeRawBufferPointer, _ dice: inout SimulatedDice) -> Int {
        if isReset || isEndedByServer { return -Int(EPIPE) }
        let space = capacity - sent.count
        let count = min(bytes.count, space, dice.roll(3) == 0 ? 1 + dice.roll(20) : .max)
        if count < bytes.count { isShortOfSpace = true }
        if count <= 0 { return -Int(EAGAIN) }
        sent += bytes.prefix(count)
        return count
    }

    /// RFC 1122, 4.2.2.13: unread data makes it a reset, and a reset takes what the peer has not read.
    func closeByServer() {
        isClosedByServer = true
        if !arrived.isEmpty || !inFlight.isEmpty, !isEnded {
            isReset = true
            sent = []
        }
    }
}
