package import Bytes

/// Who is at the other end.
package struct PeerInfo: Sendable, Equatable {
    /// Numeric, `192.0.2.1` or `2001:db8::1`; an IPv4-mapped address is given as IPv4.
    package var address: ByteString
    /// 4 or 16 bytes, network order.
    package var addressBytes: [UInt8]
    package var port: UInt16
    package var isLoopback: Bool
    /// Which call of `listen` it came by, counted from 0.
    package var listener: Int
    package var isTLS: Bool
    /// Came by a socket in the file system: whoever may open that file.
    package var isLocal: Bool
    package var isWebSocket: Bool
    /// Its number, see `NetLimits.network`.
    package var network: UInt64
    /// SHA-256 of the client certificate, in hex; empty: it showed none. Nobody has vouched for it, but the peer has
    /// its key.
    package var certificate: ByteString

    package init(
        address: ByteString, addressBytes: [UInt8], port: UInt16, isLoopback: Bool, listener: Int, isTLS: Bool,
        isLocal: Bool = false, isWebSocket: Bool = false, network: UInt64 = 0,
        certificate: ByteString = ""
    ) {
        self.address = address
        self.addressBytes = addressBytes
        self.port = port
        self.isLoopback = isLoopback
        self.listener = listener
        self.isTLS = isTLS
        self.isLocal = isLocal
        self.isWebSocket = isWebSocket
        self.network = network
        self.certificate = certificate
    }
}

package enum CloseReason: Sendable, Equatable {
    case endOfStream
    case reset
    /// The kernel gave up: keepalive or TCP_USER_TIMEOUT.
    case timedOut
    case sendQueueExceeded
    /// OpenSSL's words.
    case tlsFailure(String)
    case handshakeTimeout
    case closedByUs
    /// An errno that has no name here.
    case ioError(Int32)
    /// TLS on a plain listener or the reverse.
    case wrongProtocol
    /// Frames that no client may send.
    case protocolViolation

    init(errno code: Int32) {
        switch code {
        case SystemError.connectionReset, SystemError.brokenPipe: self = .reset
        case SystemError.timedOut, SystemError.hostUnreachable: self = .timedOut
        default: self = .ioError(code)
        }
    }
}

package enum ListenerMode: Sendable {
    case plain
    case tls
    /// A first byte 0x16 starts TLS, any other is plain text, silence for `NetLimits.silenceMs` too.
    case both
}

package struct ListenerSpec: Sendable {
    /// Numeric IPv4 or IPv6.
    package var address: String
    /// 0: the kernel chooses.
    package var port: UInt16
    package var mode: ListenerMode
    /// Connections come from trusted proxies, which begin with a PROXY header, before TLS.
    package var isProxied: Bool
    /// Lines come as messages of a WebSocket.
    package var isWebSocket: Bool

    package init(
        address: String, port: UInt16, mode: ListenerMode, isProxied: Bool = false, isWebSocket: Bool = false
    ) {
        self.address = address
        self.port = port
        self.mode = mode
        self.isProxied = isProxied
        self.isWebSocket = isWebSocket
    }
}

/// Times are milliseconds unless the name says seconds; sizes are bytes.
package struct NetLimits: Sendable {
    /// What may wait for one peer before it is cut.
    package var sendQueueBytes = 1 << 20
    /// Of one read call; the shared buffer is twice this, and a handler never sees more at once.
    package var receiveChunk = 16 << 10
    /// Of one connection in one turn, so that one peer's flood does not delay the others.
    package var readsPerTurn = 32 << 10
    /// Of one listener.
    package var acceptsPerTurn = 64
    /// A P-256 handshake costs 0.3 ms: chat waits at most four of them.
    package var handshakesPerTurn = 4
    package var handshakeTimeoutMs = 10_000
    /// How long a `both` listener waits for a first byte before it takes the peer for a plain one: TLS clients speak
    /// first, a person at netcat waits to be greeted, within a second of connecting.
    package var silenceMs = 400
    package var maximumConnections = 65_536
    /// 0: unlimited. This machine's own are exempt.
    package var connectionsPerNetwork = 0
    /// Connections that one network may make in a minute, and at once; 0: unlimited.
    package var connectsPerMinute = 0
    /// Bits that tell networks apart. A customer gets one IPv4 address, and a /64 of IPv6.
    package var ipv4Prefix = 32
    package var ipv6Prefix = 64
    /// Not counted.
    package var exemptions: [AddressRange] = []
    /// Of one WebSocket message.
    package var webSocketMessageBytes = 64 << 10
    /// Pages that may open one; empty: all. Who names no page, as no browser does, may.
    package var webSocketOrigins: [ByteString] = []
    /// Who may say, by a PROXY header or X-Forwarded-For, for whom it connects; not counted by address.
    package var trustedProxies: [AddressRange] = []
    /// Not counted by address either: the protocol above learns whom they connect for.
    package var gateways: [AddressRange] = []
    /// How long what is queued may take to leave after `close(flush: true)`.
    package var closeFlushMs = 2_000
    /// How long the peer's unread bytes are read away after that, so that it gets our last lines and not a reset.
    package var lingerMs = 1_000
    /// How long a listener rests when descriptors or connections are exhausted.
    package var exhaustedPauseMs = 100
    /// A pulled cable is noticed after idle + interval * count seconds, within two minutes.
    package var keepaliveIdleSeconds = 45
    package var keepaliveIntervalSeconds = 15
    package var keepaliveCount = 4
    /// Unacknowledged data, and a peer that stops reading, end the connection after this.
    package var userTimeoutMs = 105_000
    /// TCP_NOTSENT_LOWAT: what may hide unsent in the kernel; the rest is in our queue, where it is counted.
    package var kernelUnsentBytes = 128 << 10

    package init() {}
}

/// What a call of this module could not do, in words for the operator.
package struct NetError: Error, Equatable, CustomStringConvertible {
    package let what: String
    /// 0 when no system call failed.
    package let errno: Int32

    package init(_ what: String, errno: Int32 = 0) {
        self.what = what
        self.errno = errno
    }

    package var description: String { errno == 0 ? what : "\(what): \(SystemError.text(errno))" }
}

/// A handler's answer to bytes.
package struct Received {
    /// How many bytes from the start are done with; the rest is handed again.
    package var consumed: Int
    /// Read no more until `resumeReading`.
    package var pause: Bool

    package init(consumed: Int, pause: Bool = false) {
        self.consumed = consumed
        self.pause = pause
    }
}

/// Who a reactor tells. It is called inside `turn` only, and answers through the reactor after the turn.
package protocol ReactorHandler: ~Copyable {
    /// A peer is here; over TLS after the handshake.
    mutating func accepted(_ id: ConnectionID, _ peer: PeerInfo)

    /// The bytes kept from before and the new ones. `ended`: the peer will send no more (half-close, close_notify);
    /// said once, and again on resume when the handler paused.
    /// A handler that consumes nothing of a full buffer (twice `receiveChunk`) is handed no more until `resumeReading`.
    mutating func received(_ id: ConnectionID, _ bytes: ByteView, ended: Bool) -> Received

    /// Exactly once for each accepted id, never for another; the id is dead afterwards.
    mutating func closed(_ id: ConnectionID, _ reason: CloseReason)

    /// A connection to a proxied listener was closed unheard: from this address nobody may connect for others, or it is
    /// trusted and began with no PROXY header.
    mutating func refusedProxy(_ address: ByteString, isTrusted: Bool)

    /// Somebody called the waker since the last turn.
    mutating func woken()

    /// One of the signals that `watchSignals` named.
    mutating func signalled(_ signal: Int32)
}

extension ReactorHandler where Self: ~Copyable {
    package mutating func refusedProxy(_ address: ByteString, isTrusted: Bool) {}
}
