import Bytes
import CSystem
import Glibc
import Net
import Testing

/// Writes down what a reactor tells. What it does with received bytes is chosen by the test.
struct Recorder: ReactorHandler {
    var accepted: [(id: ConnectionID, peer: PeerInfo)] = []
    var received: [ConnectionID: [UInt8]] = [:]
    var chunks: [Int] = []
    var ended: [ConnectionID: Int] = [:]
    var closed: [(id: ConnectionID, reason: CloseReason)] = []
    var wakes = 0
    var signals: [Int32] = []
    var refusedProxies: [(address: ByteString, isTrusted: Bool)] = []
    /// Echoes to send when the turn is over.
    var echoes: [(id: ConnectionID, bytes: [UInt8])] = []
    var isEchoing = false
    /// Consumes whole lines only, as a chat server does.
    var byLines = false
    /// Pauses whenever it has consumed something.
    var pauses = false
    /// Pauses at once, and consumes nothing.
    var refusesAll = false

    mutating func accepted(_ id: ConnectionID, _ peer: PeerInfo) { accepted.append((id, peer)) }

    mutating func received(_ id: ConnectionID, _ bytes: ByteView, ended isEnd: Bool) -> Received {
        chunks.append(bytes.count)
        if refusesAll { return Received(consumed: 0, pause: true) }
        var count = bytes.count
        if byLines, !isEnd {
            count = 0
            if let end = bytes.firstIndex(of: 0x0A) {
                count = end + 1
                while !pauses, let next = bytes.firstIndex(of: 0x0A, from: count) { count = next + 1 }
            }
        }
        let taken = [UInt8](bytes.prefix(count).raw)
        received[id, default: []] += taken
        if isEchoing, !taken.isEmpty { echoes.append((id, taken)) }
        if isEnd { ended[id, default: 0] += 1 }
        return Received(consumed: count, pause: pauses && count > 0 && !isEnd)
    }

    mutating func closed(_ id: ConnectionID, _ reason: CloseReason) { closed.append((id, reason)) }

    mutating func woken() { wakes += 1 }

    mutating func refusedProxy(_ address: ByteString, isTrusted: Bool) { refusedProxies.append((address, isTrusted)) }

    mutating func signalled(_ signal: Int32) { signals.append(signal) }

    func text(_ id: ConnectionID) -> String { String(decoding: received[id] ?? [], as: UTF8.self) }
}

/// A reactor and its recorder, turned by the test itself.
struct Host: ~Copyable {
    var reactor: Reactor
    var log = Recorder()
    /// Of the latest listener.
    private(set) var port: UInt16 = 0

    init(_ limits: NetLimits = NetLimits(), script: (any KernelScript)? = nil) throws {
        reactor = try Reactor(limits: limits, script: script)
    }

    mutating func listen(
        _ mode: ListenerMode = .plain, address: String = "127.0.0.1", isWebSocket: Bool = false
    ) throws -> UInt16 {
        port = try reactor.listen(ListenerSpec(address: address, port: 0, mode: mode, isWebSocket: isWebSocket))
        return port
    }

    mutating func turn(_ timeout: Int = 0) {
        reactor.turn(timeoutMilliseconds: timeout, handler: &log)
        for echo in log.echoes { send(echo.id, echo.bytes) }
        log.echoes.removeAll()
    }

    mutating func send(_ id: ConnectionID, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { reactor.send(id, ByteView($0)) }
    }

    mutating func send(_ id: ConnectionID, _ text: String) { send(id, Array(text.utf8)) }

    /// Turns until `condition` holds; a failure of the test when it does not within ten seconds.
    mutating func turn(
        until condition: (borrowing Host) throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let deadline = milliseconds() + 10_000
        while try !condition(self) {
            if milliseconds() > deadline {
                Issue.record("the condition never came", sourceLocation: sourceLocation)
                throw NetError("no such event")
            }
            turn(5)
        }
    }

    /// The id of the connection accepted as number `index`.
    mutating func accept(_ index: Int = 0) throws -> ConnectionID {
        try turn { $0.log.accepted.count > index }
        return log.accepted[index].id
    }
}

func milliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}

/// A peer over loopback that never blocks.
final class Peer {
    let descriptor: Int32
    private(set) var bytes: [UInt8] = []
    private(set) var isEnded = false
    private(set) var error: Int32 = 0

    init(_ port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafeBytes(of: address) {
            connect(
                descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self),
                socklen_t(MemoryLayout<sockaddr_in>.size))
        }
        try #require(result == 0)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Int { Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    @discardableResult
    func send(_ text: String) -> Int { send(Array(text.utf8)) }

    func endWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next close sends a reset.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Reads what there is.
    @discardableResult
    func poll() -> Peer {
        var room = [UInt8](repeating: 0, count: 65_536)
        while !isEnded, error == 0 {
            let count = recv(descriptor, &room, room.count, 0)
            if count > 0 {
                bytes += room[0..<count]
            } else if count == 0 {
                isEnded = true
            } else {
                if errno != EAGAIN { error = errno }
                return self
            }
        }
        return self
    }
}
