package import CSystem
import Glibc

/// A scripted stand-in for the kernel. Every call answers as `Kernel`'s does: a result, or a negated errno.
package protocol KernelScript: AnyObject {
    func now() -> Int64
    func wait(_ events: UnsafeMutableBufferPointer<epoll_event>, timeout: Int) -> Int
    func watch(_ descriptor: Int32, _ events: UInt32, _ tag: UInt64, isNew: Bool) -> Int
    func listen(_ address: PeerAddress, _ limits: NetLimits) -> Int
    func boundPort(_ descriptor: Int32) -> UInt16
    func accept(_ listener: Int32, _ peer: inout PeerAddress) -> Int
    func receive(_ descriptor: Int32, _ room: UnsafeMutableRawBufferPointer, peek: Bool) -> Int
    func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int
    func shutdownWriting(_ descriptor: Int32)
    func pendingError(_ descriptor: Int32) -> Int32
    func openReserve() -> Int
    func close(_ descriptor: Int32)
}

/// The system calls of a reactor, in one place so that a test can play the kernel.
///
/// On Linux each call is one comparison away from the system call; nothing is dispatched. Results are negated errno
/// values when negative; EINTR never comes out. A TLS session reads and writes its descriptor itself (SSL_set_fd),
/// beside this seam.
struct Kernel: ~Copyable {
    private let script: (any KernelScript)?
    private let epoll: Int32

    init(_ script: (any KernelScript)?) throws(NetError) {
        self.script = script
        guard script == nil else {
            epoll = -1
            return
        }
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        if epoll < 0 { throw NetError("cannot make an epoll descriptor", errno: errno) }
    }

    deinit { if epoll >= 0 { _ = Glibc.close(epoll) } }

    /// Milliseconds of a clock that never jumps.
    func now() -> Int64 {
        if let script { return script.now() }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// How many events came; 0 when a signal interrupted the wait.
    func wait(_ events: UnsafeMutableBufferPointer<epoll_event>, timeout: Int) -> Int {
        if let script { return max(0, script.wait(events, timeout: timeout)) }
        return max(0, Int(epoll_wait(epoll, events.baseAddress!, Int32(events.count), Int32(clamping: timeout))))
    }

    /// Asks for `events` of a descriptor, newly or from now on.
    @discardableResult
    func watch(_ descriptor: Int32, _ events: UInt32, _ tag: UInt64, isNew: Bool) -> Int {
        if let script { return script.watch(descriptor, events, tag, isNew: isNew) }
        var event = epoll_event()
        event.events = events
        event.data.u64 = tag
        return result(epoll_ctl(epoll, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event))
    }

    func listen(_ address: PeerAddress, _ limits: NetLimits) -> Int {
        if let script { return script.listen(address, limits) }
        let descriptor = socket(address.isIPv6 ? AF_INET6 : AF_INET, streamSocket | nonblocking | closeOnExec, 0)
        if descriptor < 0 { return -Int(errno) }
        setListenerOptions(descriptor, address, limits)
        let isBound = address.withKernelForm { bind(descriptor, $0, $1) } == 0
        if isBound, Glibc.listen(descriptor, 4096) == 0 { return Int(descriptor) }
        let failure = errno
        _ = Glibc.close(descriptor)
        return -Int(failure)
    }

    func boundPort(_ descriptor: Int32) -> UInt16 {
        if let script { return script.boundPort(descriptor) }
        var storage = sockaddr_storage()
        _ = withSocketAddress(&storage) { getsockname(descriptor, $0, $1) }
        return PeerAddress(storage).port
    }

    func accept(_ listener: Int32, _ peer: inout PeerAddress) -> Int {
        if let script { return retrying { script.accept(listener, &peer) } }
        var storage = sockaddr_storage()
        let descriptor = retrying {
            result(withSocketAddress(&storage) { accept4(listener, $0, $1, nonblocking | closeOnExec) })
        }
        if descriptor >= 0 { peer = PeerAddress(storage) }
        return descriptor
    }

    /// 0 is the end of the stream. `peek` leaves the bytes where they are.
    func receive(_ descriptor: Int32, _ room: UnsafeMutableRawBufferPointer, peek: Bool = false) -> Int {
        if let script { return retrying { script.receive(descriptor, room, peek: peek) } }
        let flags = peek ? Int32(MSG_PEEK) : 0
        return retrying { result(recv(descriptor, room.baseAddress!, room.count, flags)) }
    }

    /// MSG_NOSIGNAL: a peer that is gone is an error, not a SIGPIPE.
    func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        if let script { return retrying { script.send(descriptor, bytes) } }
        return retrying {
            result(Glibc.send(descriptor, bytes.baseAddress!, bytes.count, Int32(MSG_NOSIGNAL)))
        }
    }

    func shutdownWriting(_ descriptor: Int32) {
        if let script { return script.shutdownWriting(descriptor) }
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// The error that a hang-up left behind; 0 when there is none.
    func pendingError(_ descriptor: Int32) -> Int32 {
        if let script { return script.pendingError(descriptor) }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : 0
    }

    /// A descriptor held in reserve, given up to accept and close when there are no others.
    func openReserve() -> Int {
        if let script { return script.openReserve() }
        return result(open("/dev/null", O_RDONLY | O_CLOEXEC))
    }

    func close(_ descriptor: Int32) {
        if let script { return script.close(descriptor) }
        _ = Glibc.close(descriptor)
    }
}

private let streamSocket = Int32(SOCK_STREAM.rawValue)
private let nonblocking = Int32(SOCK_NONBLOCK.rawValue)
private let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)

@inline(__always)
private func result(_ value: some FixedWidthInteger & SignedInteger) -> Int { value < 0 ? -Int(errno) : Int(value) }

@inline(__always)
private func retrying(_ call: () -> Int) -> Int {
    while true {
        let value = call()
        if value != -Int(EINTR) { return value }
    }
}

private func withSocketAddress(
    _ storage: inout sockaddr_storage,
    _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
) -> Int32 {
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &storage) {
        body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
    }
}

/// Linux copies these to every accepted socket, so that a connection costs no call for them.
///
/// SO_OOBINLINE: telnet sends the second byte of its Synch as urgent data; taken out of the stream it would leave an
/// IAC that swallows the next byte. TCP_NODELAY: we coalesce ourselves, Nagle and delayed acknowledgements add 40 ms.
private func setListenerOptions(_ descriptor: Int32, _ address: PeerAddress, _ limits: NetLimits) {
    func set(_ level: Int32, _ option: Int32, _ value: Int) {
        var value = Int32(clamping: value)
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
    let tcp = Int32(IPPROTO_TCP)
    set(SOL_SOCKET, SO_REUSEADDR, 1)
    if address.isIPv6 { set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
    set(SOL_SOCKET, SO_OOBINLINE, 1)
    set(SOL_SOCKET, SO_KEEPALIVE, 1)
    set(tcp, TCP_NODELAY, 1)
    set(tcp, TCP_KEEPIDLE, limits.keepaliveIdleSeconds)
    set(tcp, TCP_KEEPINTVL, limits.keepaliveIntervalSeconds)
    set(tcp, TCP_KEEPCNT, limits.keepaliveCount)
    set(tcp, TCP_USER_TIMEOUT, limits.userTimeoutMs)
    set(tcp, TCP_NOTSENT_LOWAT, limits.kernelUnsentBytes)
}

/// Errno values by name, for files that make no system calls.
enum SystemError {
    static let wouldBlock = EAGAIN
    static let connectionReset = ECONNRESET
    static let brokenPipe = EPIPE
    static let timedOut = ETIMEDOUT
    static let hostUnreachable = EHOSTUNREACH
    /// No descriptors or no memory for another socket: waiting helps, trying again at once does not.
    static func isExhaustion(_ code: Int32) -> Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) }

    static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

/// Raises the soft limit of descriptors to the hard one; returns what holds now.
package func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return 1024 }
    let soft = limit.rlim_cur
    limit.rlim_cur = limit.rlim_max
    if setrlimit(resource, &limit) != 0 { limit.rlim_cur = soft }
    return Int(clamping: limit.rlim_cur)
}
