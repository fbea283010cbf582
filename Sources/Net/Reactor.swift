import Bytes
import CSystem
import Glibc

/// The sockets of one thread: listens, accepts, reads, writes, and tells a handler.
///
/// Edge-triggered, because readiness is remembered here: a connection that pauses, or has more than its share of a turn
/// to read, waits in our own list at the cost of no system call, where level-triggered polling costs two `epoll_ctl`
/// for each pause and reports an unread socket every turn. What it requires: read until a short read, EAGAIN or the
/// end. Listeners, which stop in the middle on purpose, are level-triggered.
///
/// Everything per turn is bounded: reads and accepts of each, handshakes of all; what is left over makes the next turn
/// not sleep. Ids expire: every call ignores the id of a connection that is gone.
package struct Reactor: ~Copyable {
    /// Of memory for a connection that is idle and plain.
    package static var bytesPerConnection: Int { MemoryLayout<Connection>.stride }

    package let limits: NetLimits
    /// What a peer that speaks the wrong protocol is told, in plain text, before it is closed.
    package var wrongProtocolText: (plainOnTLS: [UInt8], requestOnTLS: [UInt8], tlsOnPlain: [UInt8]) = ([], [], [])
    /// Signals this reactor's next turn, from any thread.
    package let waker: Waker

    let kernel: Kernel
    var connections = ConnectionTable()
    var listeners: ContiguousArray<Listener> = []
    var deadlines = Deadlines()
    /// Those with something to do in this turn or, filled while serving, in the next.
    var ready: ContiguousArray<ConnectionID> = []
    private var serving: ContiguousArray<ConnectionID> = []
    var dead: ContiguousArray<(id: ConnectionID, reason: CloseReason)> = []
    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 512)
    /// Shared by all reads: the bytes kept from before, then the new ones.
    let chunk: UnsafeMutableRawBufferPointer
    /// Milliseconds of the kernel's clock, taken once per turn.
    package internal(set) var now: Int64
    var tls: TLSContext?
    var handshakesLeft = 0
    var signals: Int32 = -1
    private var signalsPending = false
    /// Spent to accept and close when there are no other descriptors.
    var reserve: Int32
    var admission = Admission()
    /// What a peer is told whose network has too many connections.
    package var crowdedText: [UInt8] = []
    /// Peers with an open descriptor, handshaking and closing ones too.
    package internal(set) var connectionCount = 0

    /// `script` plays the kernel in tests.
    package init(limits: NetLimits = NetLimits(), script: (any KernelScript)? = nil) throws(NetError) {
        self.init(limits, try Waker(), try Kernel(script))
    }

    private init(_ limits: NetLimits, _ waker: Waker, _ kernel: consuming Kernel) {
        // OpenSSL writes to its socket without MSG_NOSIGNAL.
        _ = Glibc.signal(SIGPIPE, SIG_IGN)
        self.limits = limits
        self.waker = waker
        self.kernel = kernel
        chunk = .allocate(byteCount: limits.receiveChunk * 2, alignment: 16)
        now = self.kernel.now()
        reserve = Int32(self.kernel.openReserve())
        self.kernel.watch(waker.descriptor, Interest.waker, Tag.waker.packed, isNew: true)
    }

    deinit {
        for slot in 0..<connections.slots where connections[slot].descriptor >= 0 {
            kernel.close(connections[slot].descriptor)
        }
        for listener in listeners where listener.descriptor >= 0 { kernel.close(listener.descriptor) }
        if reserve >= 0 { kernel.close(reserve) }
        if signals >= 0 { _ = Glibc.close(signals) }
        events.deallocate()
        chunk.deallocate()
    }

    /// New handshakes use this; sessions that are there go on with what they have.
    package mutating func setTLS(_ context: consuming TLSContext?) { tls = context }

    /// One round: waits for something to happen, at most so long (-1: forever), and tells the handler all of it.
    package mutating func turn(timeoutMilliseconds: Int, handler: inout some ReactorHandler & ~Copyable) {
        var timeout = waitTime(timeoutMilliseconds)
        if timeout != 0, !waker.maySleep() { timeout = 0 }
        let count = kernel.wait(events, timeout: timeout)
        let isWoken = waker.wake()
        now = kernel.now()
        handshakesLeft = limits.handshakesPerTurn
        for event in events[0..<count] { note(event.events, ConnectionID(packed: event.data.u64)) }
        if isWoken { handler.woken() }
        if signalsPending { readSignals(&handler) }
        serveReady(&handler)
        acceptPending(&handler)
        expireDeadlines(&handler)
        reportClosed(&handler)
    }

    private func waitTime(_ asked: Int) -> Int {
        if !ready.isEmpty || !dead.isEmpty { return 0 }
        guard let deadline = deadlines.first else { return asked }
        let left = Int(max(0, deadline - kernel.now()))
        return asked < 0 ? left : min(asked, left)
    }

    private mutating func note(_ events: UInt32, _ id: ConnectionID) {
        if id.index >= 0 {
            noteConnection(events, id)
        } else if id == Tag.signals {
            signalsPending = true
        } else if let listener = Tag.listener(id) {
            listeners[listener].isPending = true
        }
    }

    private mutating func noteConnection(_ events: UInt32, _ id: ConnectionID) {
        guard let slot = connections.slot(id) else { return }
        if events & Interest.anyReading != 0 { connections[slot].flags.insert(.readable) }
        if events & Interest.endings != 0 { connections[slot].flags.insert(.drain) }
        if events & Interest.writing != 0 { connections[slot].flags.insert(.writable) }
        if events & Interest.hangUps != 0 { noteHangUp(slot) }
        enqueue(slot)
    }

    /// Puts a connection on the list of those to serve.
    mutating func enqueue(_ slot: Int) {
        if connections[slot].flags.contains(.queued) { return }
        connections[slot].flags.insert(.queued)
        ready.append(connections.id(slot))
    }

    private mutating func serveReady(_ handler: inout some ReactorHandler & ~Copyable) {
        swap(&ready, &serving)
        for index in serving.indices {
            guard let slot = connections.slot(serving[index]) else { continue }
            connections[slot].flags.remove(.queued)
            serve(slot, &handler)
        }
        serving.removeAll(keepingCapacity: true)
    }

    private mutating func serve(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        switch connections[slot].state {
        case .free, .dead: break
        case .proxying: readProxyHeader(slot, &handler)
        case .sniffing: sniff(slot, &handler)
        case .handshaking: handshake(slot, &handler)
        case .upgrading: readUpgrade(slot, &handler)
        case .open:
            if connections[slot].flags.contains(.writable) { flush(slot) }
            if connections[slot].state == .open { read(slot, &handler) }
        case .flushing, .lingering: serveClosing(slot)
        }
    }

    /// The handler knows it from now on.
    mutating func open(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        if listeners[Int(connections[slot].listener)].isWebSocket, connections[slot].web == nil {
            return startUpgrade(slot)
        }
        connections[slot].state = .open
        connections[slot].deadline = 0
        connections[slot].flags.insert(.told)
        let peer = connections[slot].peer
        let listener = Int(connections[slot].listener)
        let isLocal = listeners[listener].isLocal
        let info = PeerInfo(
            address: peer.text, addressBytes: peer.bytes, port: peer.port, isLoopback: peer.isLoopback,
            listener: listener, isTLS: connections[slot].tls.isActive, isLocal: isLocal,
            isWebSocket: connections[slot].web != nil, network: isLocal ? 0 : limits.network(of: peer),
            certificate: connections[slot].tls.certificate)
        handler.accepted(connections.id(slot), info)
    }

    mutating func arm(_ slot: Int, after milliseconds: Int) {
        connections[slot].deadline = now + Int64(milliseconds)
        deadlines.insert(connections.id(slot), at: connections[slot].deadline)
    }

    private mutating func expireDeadlines(_ handler: inout some ReactorHandler & ~Copyable) {
        while let entry = deadlines.next(now) {
            if let listener = Tag.listener(entry.id) {
                resumeListener(listener)
            } else if let slot = connections.slot(entry.id), connections[slot].deadline == entry.time {
                expire(slot, &handler)
            }
        }
    }

    private mutating func expire(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        switch connections[slot].state {
        case .sniffing where listeners[Int(connections[slot].listener)].mode == .both: open(slot, &handler)
        case .proxying, .sniffing, .handshaking, .upgrading: bury(slot, .handshakeTimeout)
        case .flushing, .lingering: bury(slot, connections[slot].reason ?? .closedByUs)
        case .free, .open, .dead: break
        }
    }

    /// Closes the descriptor now; the handler hears of it at the end of this turn or the next.
    mutating func bury(_ slot: Int, _ reason: CloseReason) {
        let id = connections.id(slot)
        kernel.close(connections[slot].descriptor)
        connectionCount -= 1
        uncount(connections[slot].peer)
        let isTold = connections[slot].flags.contains(.told)
        if isTold {
            connections[slot].state = .dead
            connections[slot].descriptor = -1
            connections[slot].input.clear(keeping: 0)
            connections[slot].output.clear()
            connections[slot].tls = TLSSession()
            connections[slot].web = nil
            dead.append((id, reason))
        } else {
            connections.remove(slot)
        }
    }

    private mutating func reportClosed(_ handler: inout some ReactorHandler & ~Copyable) {
        for index in dead.indices {
            handler.closed(dead[index].id, dead[index].reason)
            connections.remove(Int(dead[index].id.index))
        }
        dead.removeAll(keepingCapacity: true)
    }

    /// Blocks these signals for this thread (and threads it starts later) and hands them to the handler instead.
    /// Once per reactor, on the thread that takes its turns, before other threads are started.
    package mutating func watchSignals(_ numbers: [Int32]) {
        precondition(signals < 0, "signals are watched once")
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signals = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        precondition(signals >= 0, "no signalfd: \(SystemError.text(errno))")
        kernel.watch(signals, Interest.levelReading, Tag.signals.packed, isNew: true)
    }

    private mutating func readSignals(_ handler: inout some ReactorHandler & ~Copyable) {
        signalsPending = false
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while Glibc.read(signals, &info, size) == size { handler.signalled(Int32(info.ssi_signo)) }
    }
}

/// What epoll is asked for, and says.
enum Interest {
    static let levelReading = EPOLLIN.rawValue
    static let nothing: UInt32 = 0
    /// Edges need no reading away of the eventfd.
    static let waker = EPOLLIN.rawValue | EPOLLET.rawValue
    static let writing = EPOLLOUT.rawValue
    static let hangUps = EPOLLHUP.rawValue | EPOLLERR.rawValue
    static let endings = EPOLLRDHUP.rawValue | EPOLLPRI.rawValue | hangUps
    static let anyReading = EPOLLIN.rawValue | endings
    static let connection = EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLPRI.rawValue | EPOLLET.rawValue
    static let connectionAndWrites = connection | writing
}

/// Ids with negative slots name what is no connection.
enum Tag {
    static let waker = ConnectionID(index: -1, generation: 0)
    static let signals = ConnectionID(index: -2, generation: 0)

    static func listener(_ index: Int) -> ConnectionID { ConnectionID(index: -3 - Int32(index), generation: 0) }

    static func listener(_ id: ConnectionID) -> Int? { id.index <= -3 ? -3 - Int(id.index) : nil }
}
