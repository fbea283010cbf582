import Glibc

/// A client as blunt as netcat: bytes out, lines in, a deadline on everything. Not for more than one thread.
package final class LineClient {
    /// How long one expectation may take; long, because it only ever passes by when something is wrong.
    package static let patience = 10.0

    package let label: String
    package private(set) var descriptor: Int32
    private let tunnel: ChildProcess?
    private var partial: [UInt8] = []
    private var queue: [ReceivedLine] = []
    private var head = 0
    private var seen: [String] = []
    package private(set) var hasEnded = false

    /// Connects to the loopback address in the clear.
    package init(
        port: UInt16, label: String = "client", ipv6: Bool = false, receiveBuffer: Int32? = nil,
        deadline: Deadline = .seconds(patience)
    ) throws {
        self.label = label
        tunnel = nil
        let family = ipv6 ? AF_INET6 : AF_INET
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw DoorError.system("socket") }
        if let receiveBuffer { try set(SOL_SOCKET, SO_RCVBUF, receiveBuffer) }
        guard SocketAddress.loopback(family, port).withPointer({ connect(descriptor, $0, $1) }) == 0 else {
            let error = DoorError.system("connect to port \(port)")
            Glibc.close(descriptor)
            descriptor = -1
            throw error
        }
        try set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Connects over TLS through `openssl s_client`, as a person would; its ends are one socket pair.
    package init(tlsPort: UInt16, label: String = "tls", options: [String] = []) throws {
        self.label = label
        guard let ends = SocketPair() else { throw DoorError.system("socketpair") }
        defer { Glibc.close(ends.theirs) }
        descriptor = ends.ours
        tunnel = try ChildProcess(
            ["openssl", "s_client", "-quiet", "-connect", "127.0.0.1:\(tlsPort)"] + options, input: ends.theirs,
            output: ends.theirs)
    }

    deinit { close() }

    // MARK: Sending

    /// All of the bytes; throws when the peer takes none of them in time.
    package func send(_ bytes: some Sequence<UInt8>, deadline: Deadline = .seconds(patience)) throws {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN || errno == EINTR {
                guard poll(for: POLLOUT, deadline) else { throw failure("the peer does not read what it is sent") }
            } else {
                throw failure("send: \(String(cString: strerror(errno)))")
            }
        }
    }

    package func send(raw text: String) throws { try send(text.utf8) }

    /// Each line with CR LF, in one packet as far as TCP allows.
    package func send(_ lines: String...) throws { try send(lines.map { $0 + "\r\n" }.joined().utf8) }

    /// As many bytes as the socket takes now.
    package func sendSome(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes {
            max(0, Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)))
        }
    }

    // MARK: Receiving

    /// The next line, or nil at the end of the stream.
    package func next(_ deadline: Deadline = .seconds(patience)) throws -> ReceivedLine? {
        while head == queue.count {
            if hasEnded { return nil }
            guard poll(for: POLLIN, deadline) else { throw failure("nothing came in time") }
            receive()
        }
        defer {
            head += 1
            if head == queue.count {
                queue.removeAll(keepingCapacity: true)
                head = 0
            }
        }
        return queue[head]
    }

    /// Reads on to the first line that holds all of `needles`; throws with what came instead.
    @discardableResult
    package func expect(
        _ needles: String..., within seconds: Double = patience, where also: (ReceivedLine) -> Bool = { _ in true }
    ) throws -> ReceivedLine {
        let deadline = Deadline.seconds(seconds)
        let wanted = "expected \(needles)"
        do {
            while let line = try next(deadline) {
                if needles.allSatisfy({ line.text.contains($0) }) && also(line) { return line }
            }
        } catch let error as DoorError {
            throw DoorError("\(wanted): \(error)")
        }
        throw failure("\(wanted), but the connection ended")
    }

    /// All lines up to the first that holds all of `needles`, that one included.
    package func lines(until needles: String..., within seconds: Double = patience) throws -> [ReceivedLine] {
        let deadline = Deadline.seconds(seconds)
        var lines: [ReceivedLine] = []
        while let line = try next(deadline) {
            lines.append(line)
            if needles.allSatisfy({ line.text.contains($0) }) { return lines }
        }
        throw failure("expected \(needles), but the connection ended")
    }

    /// Everything that the server sent before it came to a PING sent now. Replies leave in the order of the commands,
    /// so this proves that something does *not* come, without waiting for it.
    @discardableResult
    package func sync() throws -> [ReceivedLine] {
        let marker = "sync-\(UInt32.random(in: 0...UInt32.max))"
        try send("PING \(marker)")
        return Array(try lines(until: "PONG", marker).dropLast())
    }

    /// Everything up to the end of the stream.
    @discardableResult
    package func readToEnd(within seconds: Double = patience) throws -> [ReceivedLine] {
        let deadline = Deadline.seconds(seconds)
        var lines: [ReceivedLine] = []
        while let line = try next(deadline) { lines.append(line) }
        return lines
    }

    /// Bytes that came after the last line end.
    package var unfinishedLine: [UInt8] { partial }

    /// Takes what lies ready; for loops that serve many clients. False when the stream has ended.
    @discardableResult
    package func receive() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 16) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                take(UnsafeRawBufferPointer(rebasing: buffer[0..<count]))
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                hasEnded = true
            }
        }
        return !hasEnded
    }

    /// Waits until something came or the stream ended; false when neither happened in time.
    package func receive(before deadline: Deadline) throws -> Bool {
        guard poll(for: POLLIN, deadline) else { return false }
        receive()
        return true
    }

    /// What was received and not yet looked at, as the bytes that came; for protocols without lines.
    package func takeBytes() -> [UInt8] {
        var bytes: [UInt8] = []
        for line in drain() { bytes += line.bytes + (line.endsWithCRLF ? [0x0d, 0x0a] : [0x0a]) }
        bytes += partial
        partial.removeAll()
        return bytes
    }

    package var hasLines: Bool { head < queue.count }

    /// What was received and not yet looked at.
    package func drain() -> [ReceivedLine] {
        defer {
            queue.removeAll(keepingCapacity: true)
            head = 0
        }
        return Array(queue[head...])
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0a) {
            partial.append(contentsOf: rest[rest.startIndex..<end])
            let complete = partial.last == 0x0d
            if complete { partial.removeLast() }
            let line = ReceivedLine(partial, endsWithCRLF: complete)
            queue.append(line)
            remember(line.text)
            partial.removeAll(keepingCapacity: true)
            rest = rest[(end + 1)...]
        }
        partial.append(contentsOf: rest)
    }

    private func remember(_ text: String) {
        seen.append(text)
        if seen.count > 60 { seen.removeFirst(30) }
    }

    // MARK: Leaving

    /// Says that no more comes, and goes on reading (`nc -N`).
    package func halfClose() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Leaves with a RST, as a process that dies with unread data does.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    package func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
        hasEnded = true
        tunnel?.kill(SIGKILL)
    }

    // MARK: Helpers

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) throws {
        var value = value
        guard setsockopt(descriptor, level, option, &value, 4) == 0 else { throw DoorError.system("setsockopt") }
    }

    /// Waits until the socket is ready; false when the deadline came first.
    private func poll(for events: Int32, _ deadline: Deadline) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let count = Glibc.poll(&entry, 1, deadline.left)
            if count > 0 { return true }
            if count == 0 || errno != EINTR { return false }
        }
    }

    private func failure(_ what: String) -> DoorError {
        let last = seen.suffix(25).map { "    \($0)" }.joined(separator: "\n")
        return DoorError("\(label): \(what); last seen:\n\(last)")
    }
}
