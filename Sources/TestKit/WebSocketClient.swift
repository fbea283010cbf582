/// A client over WebSocket, which says lines and reads lines as `LineClient` does.
package final class WebSocketClient {
    private let connection: LineClient
    /// The response to the handshake.
    package let response: [String]
    private var pending: [UInt8] = []

    package convenience init(port: UInt16, protocols: String = "text.ircv3.net", headers: [String] = []) throws {
        try self.init(over: LineClient(port: port, label: "web"), protocols: protocols, headers: headers)
    }

    package init(over connection: LineClient, protocols: String = "text.ircv3.net", headers: [String] = []) throws {
        self.connection = connection
        var request = ["GET / HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade"]
        request += ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"]
        request += ["Sec-WebSocket-Protocol: \(protocols)"] + headers + ["", ""]
        try connection.send(request.joined(separator: "\r\n").utf8)
        var response: [String] = []
        while let line = try connection.next(), !line.text.isEmpty { response.append(line.text) }
        self.response = response
    }

    /// Each as one masked message.
    package func send(_ lines: String...) throws {
        for line in lines { try send(frame: 1, Array(line.utf8)) }
    }

    package func send(frame opcode: UInt8, _ payload: [UInt8]) throws {
        precondition(payload.count < 65_536)
        let mask: [UInt8] = (0..<4).map { _ in UInt8.random(in: 0...255) }
        let length: [UInt8] =
            payload.count < 126 ? [UInt8(payload.count)] : [126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        let head = [0x80 | opcode, length[0] | 0x80] + length.dropFirst()
        try connection.send(head + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] })
    }

    /// The next frame; nil at the end of the connection.
    package func frame() throws -> (opcode: UInt8, payload: [UInt8])? {
        let deadline = Deadline.seconds(LineClient.patience)
        while true {
            if let frame = takeFrame() { return frame }
            if connection.hasEnded { return nil }
            guard try connection.receive(before: deadline) else { throw DoorError("web: nothing came in time") }
            pending += connection.takeBytes()
        }
    }

    private func takeFrame() -> (opcode: UInt8, payload: [UInt8])? {
        guard pending.count >= 2 else { return nil }
        let isLong = pending[1] == 126
        let start = isLong ? 4 : 2
        guard pending.count >= start else { return nil }
        let count = isLong ? Int(pending[2]) << 8 | Int(pending[3]) : Int(pending[1])
        guard pending.count >= start + count else { return nil }
        defer { pending.removeFirst(start + count) }
        return (pending[0] & 0x0F, Array(pending[start..<start + count]))
    }

    /// Reads on to the first message that holds all of `needles`.
    @discardableResult
    package func expect(_ needles: String...) throws -> ReceivedLine {
        while let frame = try frame() {
            let line = ReceivedLine(frame.payload, endsWithCRLF: false)
            if frame.opcode < 8, needles.allSatisfy({ line.text.contains($0) }) { return line }
        }
        throw DoorError("web: expected \(needles), but the connection ended")
    }
}
