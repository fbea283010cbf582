package import Bytes

/// The kinds of frames (RFC 6455, 5.2).
package enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
}

/// Why a side ends (RFC 6455, 7.4.1).
package enum WebSocketStatus: UInt16, Sendable {
    case normal = 1000
    case protocolError = 1002
    case messageTooBig = 1009
}

/// Reads a client's frames as lines: each message ends in LF, as if it had come by plain TCP. Bytes are taken whatever
/// the reads are, and none is kept but a header and a control frame in parts.
package struct WebSocketDecoder: Sendable {
    /// What a client wants answered, or ends with.
    package enum Event: Equatable, Sendable {
        /// To be answered with the same bytes.
        case ping([UInt8])
        /// The end.
        case close
        /// It does what no client may; the end.
        case violation(WebSocketStatus)
    }

    private var header: [UInt8] = []
    private var control: [UInt8] = []
    private var opcode = WebSocketOpcode.continuation
    private var isFinal = false
    /// Bytes of the frame that are still to come.
    private var left = 0
    private var mask: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
    private var maskIndex = 0
    private var isInPayload = false
    /// A message of several frames is open.
    private var isFragmented = false
    private var messageBytes = 0
    private let limit: Int

    /// `limit`: bytes of one message.
    package init(limit: Int) { self.limit = limit }

    /// Appends the text of `bytes`, up to what ends the connection; nothing may be given behind that.
    package mutating func decode(_ bytes: ByteView, into text: inout ByteBuffer) -> [Event] {
        var events: [Event] = []
        var at = 0
        while at < bytes.count {
            if !isInPayload {
                header.append(bytes[at])
                at += 1
                // Clients must mask, and no extension was agreed on.
                if header.count == 2, header[0] & 0x70 != 0 || header[1] & 0x80 == 0 {
                    return events + [.violation(.protocolError)]
                }
                guard header.count >= 2, header.count == headerLength else { continue }
                if let status = begin() { return events + [.violation(status)] }
            }
            let count = min(left, bytes.count - at)
            take(bytes[at..<at + count], &text)
            at += count
            left -= count
            guard left == 0 else { continue }
            isInPayload = false
            if let event = endFrame(&text) {
                events.append(event)
                if case .ping = event { continue }
                return events
            }
        }
        return events
    }

    /// With length and mask.
    private var headerLength: Int {
        switch header[1] & 0x7F {
        case 126: 8
        case 127: 14
        default: 6
        }
    }

    /// The header is whole. What is wrong with it; nil: nothing.
    private mutating func begin() -> WebSocketStatus? {
        defer { header.removeAll(keepingCapacity: true) }
        guard let opcode = WebSocketOpcode(rawValue: header[0] & 0x0F) else { return .protocolError }
        let length = header[2..<header.count - 4].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let isShort = header.count == 6
        let count = isShort ? UInt64(header[1] & 0x7F) : length
        // The shortest form there is (RFC 6455, 5.2).
        guard isShort || count > (header.count == 8 ? 125 : 0xFFFF) else { return .protocolError }
        isFinal = header[0] & 0x80 != 0
        if opcode.isControl {
            guard isFinal, isShort, count <= 125 else { return .protocolError }
            control.removeAll(keepingCapacity: true)
        } else {
            guard (opcode == .continuation) == isFragmented else { return .protocolError }
            guard count <= UInt64(limit - messageBytes) else { return .messageTooBig }
            messageBytes += Int(count)
            isFragmented = !isFinal
        }
        self.opcode = opcode
        left = Int(count)
        let end = header.count
        mask = (header[end - 4], header[end - 3], header[end - 2], header[end - 1])
        maskIndex = 0
        isInPayload = true
        return nil
    }

    private mutating func take(_ payload: ByteView, _ text: inout ByteBuffer) {
        if payload.isEmpty { return }
        let key = [mask.0, mask.1, mask.2, mask.3]
        let start = maskIndex
        maskIndex = (maskIndex + payload.count) & 3
        if opcode.isControl {
            for i in 0..<payload.count { control.append(payload[i] ^ key[(start + i) & 3]) }
            return
        }
        text.appendUnsafe(payload.count) { room in
            for i in 0..<payload.count { room[i] = payload[i] ^ key[(start + i) & 3] }
            return payload.count
        }
    }

    private mutating func endFrame(_ text: inout ByteBuffer) -> Event? {
        switch opcode {
        case .continuation, .text, .binary:
            if isFinal {
                text.append(byte: 0x0A)
                messageBytes = 0
            }
            return nil
        case .ping: return .ping(control)
        case .pong: return nil
        case .close:
            // None, or a status that may be sent, and words (RFC 6455, 5.5.1).
            if control.isEmpty { return .close }
            guard control.count >= 2 else { return .violation(.protocolError) }
            let status = UInt16(control[0]) << 8 | UInt16(control[1])
            let isKnown = (1000...1011).contains(status) && !(1004...1006).contains(status)
            return isKnown || (3000...4999).contains(status) ? .close : .violation(.protocolError)
        }
    }
}

/// A server's frames, which are not masked.
package enum WebSocketWriter {
    package static func append(_ payload: ByteView, _ opcode: WebSocketOpcode, to out: inout ByteBuffer) {
        out.append(byte: 0x80 | opcode.rawValue)
        switch payload.count {
        case ...125: out.append(byte: UInt8(payload.count))
        case ...0xFFFF:
            out.append(byte: 126)
            for shift in [8, 0] { out.append(byte: UInt8(truncatingIfNeeded: payload.count >> shift)) }
        default:
            out.append(byte: 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                out.append(byte: UInt8(truncatingIfNeeded: payload.count >> shift))
            }
        }
        out.append(payload)
    }

    /// Each line as a message without its end (IRCv3 websocket). What is not UTF-8 stands as U+FFFD in text, which a
    /// browser would end the connection for.
    package static func append(lines: ByteView, isText: Bool, to out: inout ByteBuffer) {
        var start = 0
        while start < lines.count {
            let end = lines.firstIndex(of: 0x0A, from: start) ?? lines.count
            var line = lines[start..<end]
            if line.last == 0x0D { line = line.prefix(line.count - 1) }
            start = end + 1
            if !isText {
                append(line, .binary, to: &out)
            } else if UTF8Check.isValid(line) {
                append(line, .text, to: &out)
            } else {
                ByteString(String(decoding: line.raw, as: UTF8.self)).withView { append($0, .text, to: &out) }
            }
        }
    }

    package static func appendClose(_ status: WebSocketStatus, to out: inout ByteBuffer) {
        let code = [UInt8(status.rawValue >> 8), UInt8(status.rawValue & 255)]
        code.withUnsafeBytes { append(ByteView($0), .close, to: &out) }
    }
}
