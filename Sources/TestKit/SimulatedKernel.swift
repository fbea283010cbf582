package import CSystem
import Glibc
package import Net

/// A kernel of sockets in memory for a `Reactor`, driven by a seed: bytes arrive in random pieces, sends are taken in
/// part, calls are interrupted, descriptors run out, peers reset. It keeps the promises of the real one that a reactor
/// relies on: a short read has emptied the socket, edges come for every change, close with unread data is a reset.
package final class SimulatedKernel: KernelScript {
    package var dice: SimulatedDice
    /// Milliseconds; sleeping with nothing to happen lets it go on.
    package private(set) var clock: Int64 = 1_000
    /// How many descriptors may be open at once.
    package var descriptorLimit = Int.max
    /// In percent of the calls that can.
    package var interruptions = 10
    package private(set) var acceptCalls = 0

    private var sockets: [Int32: SimulatedSocket] = [:]
    private var listeners: [Int32: SimulatedListener] = [:]
    private var reserves: Set<Int32> = []
    private var nextDescriptor: Int32 = 100

    package init(seed: UInt64) { dice = SimulatedDice(seed: seed) }

    package var openDescriptors: Int { sockets.count + listeners.count + reserves.count }

    /// A new peer at the door of the listener on `port`.
    package func connect(_ port: UInt16, from address: String = "192.0.2.1") -> SimulatedSocket {
        let socket = SimulatedSocket(PeerAddress(address, port: 50_000) ?? PeerAddress())
        listeners.values.first { $0.port == port }?.backlog.append(socket)
        return socket
    }

    // MARK: KernelScript

    package func now() -> Int64 { clock }

    package func wait(_ events: UnsafeMutableBufferPointer<epoll_event>, timeout: Int) -> Int {
        if isInterrupted() { return -Int(EINTR) }
        for descriptor in sockets.keys.sorted() { sockets[descriptor]!.arrive(&dice) }
        var ready: [(events: UInt32, tag: UInt64)] = []
        for descriptor in listeners.keys.sorted() {
            let listener = listeners[descriptor]!
            if listener.interest & EPOLLIN.rawValue != 0, !listener.backlog.isEmpty {
                ready.append((EPOLLIN.rawValue, listener.tag))
            }
        }
        for descriptor in sockets.keys.sorted() {
            if let now = sockets[descriptor]!.takeEvents() { ready.append((now, sockets[descriptor]!.tag)) }
        }
        if ready.isEmpty { clock += Int64(max(1, timeout)) }
        for (index, event) in ready.prefix(events.count).enumerated() {
            events[index].events = event.events
            events[index].data.u64 = event.tag
        }
        return min(ready.count, events.count)
    }

    package func watch(_ descriptor: Int32, _ events: UInt32, _ tag: UInt64, isNew: Bool) -> Int {
        listeners[descriptor]?.watch(events, tag)
        sockets[descriptor]?.watch(events, tag)
        return 0
    }

    package func listen(_ address: PeerAddress, _ limits: NetLimits) -> Int {
        let descriptor = open()
        if descriptor >= 0 {
            let port = address.port == 0 ? UInt16(descriptor) : address.port
            listeners[Int32(descriptor)] = SimulatedListener(port: port)
        }
        return descriptor
    }

    package func boundPort(_ descriptor: Int32) -> UInt16 { listeners[descriptor]?.port ?? 0 }

    package func accept(_ listener: Int32, _ peer: inout PeerAddress) -> Int {
        if isInterrupted() { return -Int(EINTR) }
        acceptCalls += 1
        guard let door = listeners[listener], !door.backlog.isEmpty else { return -Int(EAGAIN) }
        let descriptor = open()
        if descriptor < 0 { return descriptor }
        let socket = door.backlog.removeFirst()
        peer = socket.address
        sockets[Int32(descriptor)] = socket
        return descriptor
    }

    package func receive(_ descriptor: Int32, _ room: UnsafeMutableRawBufferPointer, peek: Bool) -> Int {
        if isInterrupted() { return -Int(EINTR) }
        return sockets[descriptor]?.receive(room, peek: peek) ?? -Int(EBADF)
    }

    package func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        if isInterrupted() { return -Int(EINTR) }
        return sockets[descriptor]?.take(bytes, &dice) ?? -Int(EBADF)
    }

    package func shutdownWriting(_ descriptor: Int32) { sockets[descriptor]?.isEndedByServer = true }

    package func pendingError(_ descriptor: Int32) -> Int32 { sockets[descriptor]?.isReset == true ? ECONNRESET : 0 }

    package func openReserve() -> Int {
        let descriptor = open()
        if descriptor >= 0 { reserves.insert(Int32(descriptor)) }
        return descriptor
    }

    package func close(_ descriptor: Int32) {
        reserves.remove(descriptor)
        for waiting in listeners.removeValue(forKey: descriptor)?.backlog ?? [] { waiting.closeByServer() }
        sockets.removeValue(forKey: descriptor)?.closeByServer()
    }

    private func open() -> Int {
        if openDescriptors >= descriptorLimit { return -Int(EMFILE) }
        nextDescriptor += 1
        return Int(nextDescriptor)
    }

    private func isInterrupted() -> Bool { dice.roll(100) < interruptions }
}

private final class SimulatedListener {
    let port: UInt16
    var backlog: [SimulatedSocket] = []
    var interest: UInt32 = 0
    var tag: UInt64 = 0

    init(port: UInt16) { self.port = port }

    func watch(_ events: UInt32, _ tag: UInt64) {
        interest = events
        self.tag = tag
    }
}

/// SplitMix64: the same numbers for the same seed everywhere.
package struct SimulatedDice {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// 0 ..< sides.
    package mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) }
}
