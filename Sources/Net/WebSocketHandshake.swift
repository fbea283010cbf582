package import Bytes

/// The opening handshake (RFC 6455, 4.2): an HTTP request, and our answer.
package enum WebSocketHandshake {
    /// Bytes of a request; more is refused.
    package static let longest = 8 << 10

    package enum Outcome {
        case incomplete
        /// The response that says why.
        case refused([UInt8])
        case accepted(Accepted)
    }

    package struct Accepted {
        /// Bytes of the request.
        package var length: Int
        package var response: [UInt8]
        /// Messages go out as text, not binary.
        package var isText: Bool
        /// The last address of X-Forwarded-For: whom the proxy before us connects for. Empty: none.
        package var forwarded: ByteString
    }

    /// `origins`: the pages that may connect; empty: all of them.
    package static func read(_ bytes: ByteView, origins: [ByteString]) -> Outcome {
        guard let firstEnd = bytes.firstIndex(of: 0x0A) else {
            return bytes.count < longest ? .incomplete : refuse("431 Request Header Fields Too Large", tooLarge)
        }
        let words = bytes.prefix(firstEnd).trimmedOfReturn.parts(0x20)
        guard words.count == 3, words[2].hasPrefix("HTTP/") else { return refuse("400 Bad Request", notChat) }
        guard let length = end(of: bytes) else {
            return bytes.count < longest ? .incomplete : refuse("431 Request Header Fields Too Large", tooLarge)
        }
        let request = Request(bytes[firstEnd + 1..<length])
        guard words[0] == "GET", words[2] == "HTTP/1.1", request.value("upgrade").equalsIgnoringCase("websocket"),
            request.list("connection").contains(where: { $0.equalsIgnoringCase("upgrade") })
        else { return refuse("426 Upgrade Required", notChat, "Upgrade: websocket\r\nConnection: Upgrade\r\n") }
        guard request.value("sec-websocket-version") == "13" else {
            return refuse("426 Upgrade Required", "This server speaks version 13", "Sec-WebSocket-Version: 13\r\n")
        }
        guard let key = request.key else { return refuse("400 Bad Request", "Sec-WebSocket-Key is missing or wrong") }
        let origin = request.value("origin")
        if !origins.isEmpty, !origin.isEmpty, !origins.contains(where: { $0.equals(origin) }) {
            return refuse("403 Forbidden", "Pages of this origin may not connect here")
        }
        return .accepted(accept(request, key, length))
    }

    private static var notChat: StaticString { "This port speaks chat (IRC) over WebSocket" }
    private static var tooLarge: StaticString { "The request is too large" }

    /// Behind the empty line; nil: it has not come.
    private static func end(of bytes: ByteView) -> Int? {
        var at = 0
        while let end = bytes.firstIndex(of: 0x0A, from: at) {
            if bytes[at..<end].trimmedOfReturn.isEmpty, at > 0 { return end + 1 }
            at = end + 1
        }
        return nil
    }

    private static func accept(_ request: Request, _ key: ByteView, _ length: Int) -> Accepted {
        let seal = Crypto.sha1(Array(key.raw) + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        var head: ByteString = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        head = "\(head)Sec-WebSocket-Accept: \(Base64.encode(seal))\r\n"
        // The first one that we know, in the client's order (IRCv3 websocket).
        let chosen = request.list("sec-websocket-protocol").first {
            $0 == "text.ircv3.net" || $0 == "binary.ircv3.net"
        }
        if let chosen { head = "\(head)Sec-WebSocket-Protocol: \(chosen)\r\n" }
        let forwarded = request.list("x-forwarded-for").last ?? .empty
        let response: ByteString = "\(head)\r\n"
        return Accepted(
            length: length, response: response.bytes, isText: chosen.map { $0 == "text.ircv3.net" } ?? true,
            forwarded: ByteString(forwarded))
    }

    private static func refuse(
        _ status: StaticString, _ text: StaticString, _ headers: StaticString = "Connection: close\r\n"
    ) -> Outcome {
        let length = ByteView(text).count + 2
        let response: ByteString =
            "HTTP/1.1 \(status)\r\n\(headers)Content-Type: text/plain; charset=utf-8\r\nContent-Length: \(length)\r\n\r\n\(text)\r\n"
        return .refused(response.bytes)
    }

    /// The header fields.
    private struct Request {
        private var fields: [(name: ByteView, value: ByteView)] = []

        init(_ bytes: ByteView) {
            bytes.split(0x0A) { line in
                guard let colon = line.firstIndex(of: 0x3A) else { return }
                fields.append((line.prefix(colon), line.dropFirst(colon + 1).trimmedOfReturn))
            }
        }

        func value(_ name: StaticString) -> ByteView {
            fields.first { $0.name.equalsIgnoringCase(name) }?.value ?? .empty
        }

        /// The elements of all fields of this name.
        func list(_ name: StaticString) -> [ByteView] {
            fields.filter { $0.name.equalsIgnoringCase(name) }.flatMap { $0.value.parts(0x2C).map(\.trimmed) }
        }

        /// Sixteen bytes in base64.
        var key: ByteView? {
            let key = value("sec-websocket-key")
            return key.count == 24 && Base64.decode(key)?.count == 16 ? key : nil
        }
    }
}

extension ByteView {
    /// Without spaces around it and the CR of its line.
    fileprivate var trimmedOfReturn: ByteView { (last == 0x0D ? prefix(count - 1) : self).trimmed }
}
