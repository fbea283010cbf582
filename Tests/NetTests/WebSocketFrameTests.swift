import Bytes
import Net
import Testing

/// A client's frame, masked.
func frame(
    _ payload: String, opcode: UInt8 = 1, isFinal: Bool = true, mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
) -> [UInt8] { frame(Array(payload.utf8), opcode: opcode, isFinal: isFinal, mask: mask) }

func frame(
    _ payload: [UInt8], opcode: UInt8 = 1, isFinal: Bool = true, mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
) -> [UInt8] {
    var out = [(isFinal ? 0x80 : 0) | opcode]
    switch payload.count {
    case ...125: out.append(0x80 | UInt8(payload.count))
    case ...65_535: out += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    default: out += [0x80 | 127, 0, 0, 0, 0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) }
    }
    return out + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
}

private struct Decoded: Equatable {
    var text: String
    var events: [WebSocketDecoder.Event]
}

private func decode(_ bytes: [UInt8], pieces: Int = .max, limit: Int = 1000) -> Decoded {
    var decoder = WebSocketDecoder(limit: limit)
    var text = ByteBuffer()
    var events: [WebSocketDecoder.Event] = []
    var at = 0
    while at < bytes.count {
        let end = pieces == .max ? bytes.count : min(at + pieces, bytes.count)
        bytes[at..<end].withUnsafeBytes { events += decoder.decode(ByteView($0), into: &text) }
        if case .violation = events.last { break }
        if case .close = events.last { break }
        at = end
    }
    return Decoded(text: text.view.description, events: events)
}

@Suite struct WebSocketFrameTests {
    @Test(arguments: [1, 2, 3, 7, .max]) func messagesAreLines(pieces: Int) {
        let long = String(repeating: "é", count: 400)
        let bytes =
            frame("NICK ana") + frame("JO", isFinal: false) + frame("hi", opcode: 9)
            + frame("IN ", opcode: 0, isFinal: false) + frame("#c", opcode: 0) + frame("", opcode: 10)
            + frame(long, opcode: 2, mask: [0, 0, 0, 0]) + frame("")
        #expect(
            decode(bytes, pieces: pieces)
                == Decoded(text: "NICK ana\nJOIN #c\n\(long)\n\n", events: [.ping(Array("hi".utf8))]))
    }

    @Test(arguments: [
        [0x81, 0x02, 0x68, 0x69], frame("x", opcode: 3), frame("x", opcode: 0x41), frame("x", opcode: 0),
        frame("x", isFinal: false) + frame("x"), frame("x", opcode: 9, isFinal: false),
        frame(String(repeating: "x", count: 126), opcode: 9), [0x81, 0xFE, 0, 5, 0, 0, 0, 0],
        [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], frame("x", opcode: 8), frame([0x03, 0xED], opcode: 8),
        frame([0, 1], opcode: 8),
    ]) func whatNoClientMaySendEndsIt(bytes: [UInt8]) {
        for pieces in [1, .max] {
            #expect(decode(bytes, pieces: pieces).events == [.violation(.protocolError)])
        }
    }

    @Test func aMessageHasALimitInAllItsFrames() {
        let half = String(repeating: "x", count: 500)
        let bytes = frame(half, isFinal: false) + frame(half, opcode: 0, isFinal: false)
        #expect(decode(bytes + frame("", opcode: 0)).events.isEmpty)
        #expect(decode(bytes + frame("x", opcode: 0)).events == [.violation(.messageTooBig)])
        #expect(decode([0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 12)).events == [.violation(.messageTooBig)])
    }

    @Test(arguments: [[], [0x03, 0xE8], [0x03, 0xE9, 0x62, 0x79, 0x65], [0x0F, 0xA0]]) func theEnd(payload: [UInt8]) {
        let bytes = frame("QUIT") + frame(payload, opcode: 8) + [1, 2]
        #expect(decode(bytes) == Decoded(text: "QUIT\n", events: [.close]))
    }

    @Test func linesAreMessages() {
        func written(_ lines: [UInt8], isText: Bool) -> [UInt8] {
            var out = ByteBuffer()
            lines.withUnsafeBytes { WebSocketWriter.append(lines: ByteView($0), isText: isText, to: &out) }
            return [UInt8](out.view.raw)
        }
        let long = [UInt8](repeating: 0x78, count: 300)
        #expect(written(Array("a\r\nbc\r\n".utf8), isText: true) == [0x81, 1, 0x61, 0x81, 2, 0x62, 0x63])
        #expect(written(long + [13, 10], isText: false) == [0x82, 126, 1, 44] + long)
        #expect(written([0x61, 0xE9, 13, 10], isText: true) == [0x81, 4, 0x61, 0xEF, 0xBF, 0xBD])
        #expect(written([0x61, 0xE9, 13, 10], isText: false) == [0x82, 2, 0x61, 0xE9])
        let huge = [UInt8](repeating: 0x78, count: 70_000)
        #expect(written(huge, isText: false).prefix(10) == [0x82, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70])
    }
}

func upgradeRequest(
    _ protocols: String = "text.ircv3.net", version: String = "13", more: String = "", method: String = "GET"
) -> String {
    "\(method) /chat HTTP/1.1\r\nHost: x\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: \(version)\r\n"
        + "Sec-WebSocket-Protocol: \(protocols)\r\n\(more)\r\n"
}

@Suite struct WebSocketHandshakeTests {
    private func read(_ text: String, origins: [ByteString] = []) -> WebSocketHandshake.Outcome {
        ByteString(text).withView { WebSocketHandshake.read($0, origins: origins) }
    }

    /// The key and its seal are the example of RFC 6455, 1.3.
    @Test(arguments: [
        ("text.ircv3.net", "text.ircv3.net", true), ("binary.ircv3.net, text.ircv3.net", "binary.ircv3.net", false),
        ("soap, text.ircv3.net ,binary.ircv3.net", "text.ircv3.net", true), ("soap", nil, true),
    ]) func itIsAccepted(offer: String, chosen: String?, isText: Bool) {
        let request = upgradeRequest(offer)
        for end in 1..<request.utf8.count {
            guard case .incomplete = read(String(decoding: request.utf8.prefix(end), as: UTF8.self)) else {
                Issue.record("whole at \(end)")
                return
            }
        }
        guard case .accepted(let accepted) = read(request + "more") else {
            Issue.record("refused")
            return
        }
        let response = String(decoding: accepted.response, as: UTF8.self)
        #expect(response.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(response.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(response.contains("Sec-WebSocket-Protocol") == (chosen != nil))
        if let chosen { #expect(response.contains("\r\nSec-WebSocket-Protocol: \(chosen)\r\n")) }
        #expect(response.hasSuffix("\r\n\r\n"))
        #expect(accepted.isText == isText && accepted.length == request.utf8.count)
    }

    @Test(arguments: [
        ("NICK ana\r\n", "400"), ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "426"), (upgradeRequest(version: "8"), "426"),
        (upgradeRequest(method: "POST"), "426"), (upgradeRequest(more: "Origin: https://evil.example\r\n"), "403"),
        (upgradeRequest().replacing("dGhlIHNhbXBsZSBub25jZQ==", with: "short"), "400"),
        (String(repeating: "x", count: 9000), "431"),
        ("GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 2000), "431"),
    ]) func itIsRefused(request: String, status: String) {
        guard case .refused(let response) = read(request, origins: ["https://chat.example"]) else {
            Issue.record("not refused")
            return
        }
        #expect(String(decoding: response, as: UTF8.self).hasPrefix("HTTP/1.1 \(status) "))
    }

    @Test func pagesAreAllowedByTheirOrigin() {
        let own = upgradeRequest(more: "Origin: https://chat.example\r\n")
        guard case .accepted = read(own, origins: ["https://a.example", "https://chat.example"]) else {
            Issue.record("refused")
            return
        }
        // Only browsers say where a page is from.
        guard case .accepted = read(upgradeRequest(), origins: ["https://a.example"]) else {
            Issue.record("refused")
            return
        }
    }
}
