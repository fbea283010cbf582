import Bytes
import CSystem
import Glibc

/// What one read or write did.
enum Transfer {
    case bytes(Int)
    /// Nothing to read now.
    case wouldBlock
    /// The kernel takes no more now (or TLS must write before it can read).
    case wantsWriting
    case ended
    /// An errno, or one of `TLSSession`'s own codes.
    case failed(Int32)
}

/// One peer, at most 160 bytes (a test holds it); nothing else is allocated for it while it is idle and plain.
struct Connection: ~Copyable {
    enum State: UInt8 {
        /// The slot is nobody's.
        case free
        /// The proxy's header comes first.
        case proxying
        /// Its first byte decides between TLS and plain text.
        case sniffing
        case handshaking
        /// The request for a WebSocket comes.
        case upgrading
        case open
        /// Closing: what is queued leaves first, what comes is thrown away.
        case flushing
        /// Everything left and the peer was told so; what it still sends is read away.
        case lingering
        /// The descriptor is closed, the handler not told yet.
        case dead
    }

    struct Flags: OptionSet {
        let rawValue: UInt16
        /// In the list of those to serve.
        static let queued = Flags(rawValue: 1 << 0)
        static let readable = Flags(rawValue: 1 << 1)
        static let writable = Flags(rawValue: 1 << 2)
        /// A short read proves nothing: the end of the stream or urgent data stands behind it.
        static let drain = Flags(rawValue: 1 << 3)
        static let paused = Flags(rawValue: 1 << 4)
        /// Resumed: the kept bytes are handed again before anything is read.
        static let handKept = Flags(rawValue: 1 << 5)
        /// The peer sends no more.
        static let ended = Flags(rawValue: 1 << 6)
        /// The handler paused when it was told of the end, and will be told again.
        static let owesEnd = Flags(rawValue: 1 << 7)
        /// The handler knows this connection, and will hear `closed`.
        static let told = Flags(rawValue: 1 << 8)
        /// Nothing can be sent any more; what came before is still read.
        static let broken = Flags(rawValue: 1 << 9)
        /// No byte has come yet.
        static let fresh = Flags(rawValue: 1 << 10)
        static let watchingWrites = Flags(rawValue: 1 << 11)
    }

    /// Of bytes that the handler did not consume.
    var input = ByteBuffer()
    var output = SendQueue()
    var tls = TLSSession()
    /// nil: it speaks lines as they are.
    var web: WebSocketSession?
    /// Milliseconds; 0: none.
    var deadline: Int64 = 0
    var peer = PeerAddress()
    /// Why it is being closed.
    var reason: CloseReason?
    var descriptor: Int32 = -1
    var generation: UInt32 = 1
    var listener: UInt16 = 0
    var flags: Flags = []
    var state: State = .free

    /// Reads at most `room` bytes.
    func receive(_ kernel: borrowing Kernel, _ room: UnsafeMutableRawBufferPointer) -> Transfer {
        if tls.isActive { return tls.read(room) }
        let count = kernel.receive(descriptor, room)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .ended }
        return count == -Int(EAGAIN) ? .wouldBlock : .failed(Int32(-count))
    }

    /// Writes as much as goes; `bytes` is not empty.
    func transmit(_ kernel: borrowing Kernel, _ bytes: ByteView) -> Transfer {
        if tls.isActive { return tls.write(bytes.raw) }
        let count = kernel.send(descriptor, bytes.raw)
        if count >= 0 { return .bytes(count) }
        return count == -Int(EAGAIN) ? .wantsWriting : .failed(Int32(-count))
    }
}

/// What waits for one peer, in order. Empty it holds no memory.
struct SendQueue: ~Copyable {
    private var buffer = ByteBuffer()
    /// Bytes at the front that have left: moved away in large steps only, since a full queue leaves in small ones.
    private var sent = 0

    var count: Int { buffer.count - sent }

    var isEmpty: Bool { count == 0 }

    var view: ByteView { buffer.view.dropFirst(sent) }

    mutating func append(_ bytes: ByteView) {
        if sent > 0, sent >= buffer.count / 2 {
            buffer.consume(sent)
            sent = 0
        }
        buffer.append(bytes)
    }

    mutating func consume(_ count: Int) {
        sent += count
        if sent == buffer.count { clear() }
    }

    mutating func clear() {
        buffer.clear(keeping: 0)
        sent = 0
    }
}

/// Connections by slot in memory of their own, because arrays hold no noncopyable values.
struct ConnectionTable: ~Copyable {
    private var memory: UnsafeMutablePointer<Connection>
    private var capacity: Int
    /// Slots ever used.
    private(set) var slots = 0
    private var free: ContiguousArray<Int32> = []

    init() {
        capacity = 16
        memory = .allocate(capacity: capacity)
    }

    deinit {
        memory.deinitialize(count: slots)
        memory.deallocate()
    }

    subscript(slot: Int) -> Connection {
        @inline(__always) _read {
            precondition(slot >= 0 && slot < slots)
            yield memory[slot]
        }
        @inline(__always) _modify {
            precondition(slot >= 0 && slot < slots)
            yield &memory[slot]
        }
    }

    /// nil when the id has expired.
    @inline(__always)
    func slot(_ id: ConnectionID) -> Int? {
        let slot = Int(id.index)
        guard slot >= 0, slot < slots, memory[slot].generation == id.generation else { return nil }
        return memory[slot].state == .free ? nil : slot
    }

    func id(_ slot: Int) -> ConnectionID { ConnectionID(index: Int32(slot), generation: self[slot].generation) }

    /// A fresh connection's slot; the last freed one is used first.
    mutating func insert() -> Int {
        if let slot = free.popLast() { return Int(slot) }
        if slots == capacity { grow() }
        (memory + slots).initialize(to: Connection())
        slots += 1
        return slots - 1
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Connection>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: memory, count: slots)
        memory.deallocate()
        memory = larger
        capacity *= 2
    }

    /// The slot becomes free and its id expires.
    mutating func remove(_ slot: Int) {
        let generation = self[slot].generation
        self[slot] = Connection()
        self[slot].generation = generation &+ 1
        free.append(Int32(slot))
    }
}
