import Bytes

/// What a WebSocket peer needs besides its connection.
final class WebSocketSession {
    var decoder: WebSocketDecoder
    var isText = true
    /// Our Close has left: nothing may follow it.
    var hasClosed = false

    init(limit: Int) { decoder = WebSocketDecoder(limit: limit) }
}

/// WebSocket listeners (RFC 6455): to the handler their peers send and get lines as all others do.
extension Reactor {
    /// It is accepted after the handshake.
    mutating func startUpgrade(_ slot: Int) {
        connections[slot].web = WebSocketSession(limit: limits.webSocketMessageBytes)
        connections[slot].state = .upgrading
        connections[slot].flags.insert(.readable)
        arm(slot, after: limits.handshakeTimeoutMs)
        enqueue(slot)
    }

    mutating func readUpgrade(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        while connections[slot].state == .upgrading {
            let size = min(chunk.count, WebSocketHandshake.longest)
            let room = UnsafeMutableRawBufferPointer(rebasing: chunk[0..<size])
            switch connections[slot].receive(kernel, room) {
            case .bytes(let count):
                connections[slot].input.append(ByteView(UnsafeRawBufferPointer(rebasing: room[0..<count])))
                readRequest(slot, &handler)
            case .wouldBlock: return
            case .wantsWriting: return watchWrites(slot)
            case .ended: return bury(slot, .endOfStream)
            case .failed(let code): return bury(slot, reason(code))
            }
        }
    }

    private mutating func readRequest(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        if !connections[slot].tls.isActive, connections[slot].input.view.first == tlsFirstByte {
            return refuse(slot, wrongProtocolText.tlsOnPlain)
        }
        switch WebSocketHandshake.read(connections[slot].input.view, origins: limits.webSocketOrigins) {
        case .incomplete: break
        case .refused(let response): refuse(slot, response)
        case .accepted(let accepted): upgrade(slot, accepted, &handler)
        }
    }

    private mutating func upgrade(
        _ slot: Int, _ accepted: WebSocketHandshake.Accepted, _ handler: inout some ReactorHandler & ~Copyable
    ) {
        if isTrusted(connections[slot].peer), let source = PeerAddress("\(accepted.forwarded)", port: 0) {
            guard count(source) else { return bury(slot, .closedByUs) }
            connections[slot].peer = source
        }
        connections[slot].web?.isText = accepted.isText
        // What came behind the request is frames already.
        let rest = [UInt8](connections[slot].input.view.dropFirst(accepted.length).raw)
        connections[slot].input.clear(keeping: 0)
        connections[slot].flags.remove(.fresh)
        accepted.response.withUnsafeBytes { connections[slot].output.append(ByteView($0)) }
        flush(slot)
        open(slot, &handler)
        connections[slot].flags.insert(.readable)
        enqueue(slot)
        if !rest.isEmpty { _ = rest.withUnsafeBytes { takeFrames(slot, ByteView($0), &handler) } }
    }

    /// False when nothing more is to be read.
    mutating func takeFrames(
        _ slot: Int, _ bytes: ByteView, _ handler: inout some ReactorHandler & ~Copyable
    ) -> Bool {
        guard let session = connections[slot].web else { return false }
        let before = connections[slot].input.count
        let events = session.decoder.decode(bytes, into: &connections[slot].input)
        var out = ByteBuffer()
        for case .ping(let payload) in events {
            payload.withUnsafeBytes { WebSocketWriter.append(ByteView($0), .pong, to: &out) }
        }
        if !out.isEmpty { sendFrames(slot, out.view) }
        if connections[slot].input.count > before {
            copyKept(slot)
            hand(slot, connections[slot].input.count, ended: false, &handler)
        }
        switch events.last {
        case .close:
            // Answered when what it asked for has left.
            if connections[slot].state == .open { end(slot, &handler) }
            return false
        case .violation(let status):
            sendClose(slot, status)
            if connections[slot].state == .open { startClosing(slot, .protocolViolation) }
            return false
        case .ping, nil: return connections[slot].state == .open
        }
    }

    mutating func sendLines(_ slot: Int, _ lines: ByteView) {
        guard let session = connections[slot].web, !session.hasClosed else { return }
        var out = ByteBuffer()
        WebSocketWriter.append(lines: lines, isText: session.isText, to: &out)
        sendFrames(slot, out.view)
    }

    /// The last frame; what waits leaves before it.
    mutating func sendClose(_ slot: Int, _ status: WebSocketStatus) {
        guard let session = connections[slot].web, !session.hasClosed else { return }
        session.hasClosed = true
        var out = ByteBuffer()
        WebSocketWriter.appendClose(status, to: &out)
        sendFrames(slot, out.view)
    }
}
