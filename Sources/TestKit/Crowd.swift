import Glibc

/// Thousands of clients in one loop, for the tests of many. Lines are counted and looked at as bytes: taking a million
/// of them apart would measure the tests.
package final class Crowd {
    private struct Member {
        var descriptor: Int32
        var partial: [UInt8] = []
        var lines = 0
        var hasEnded = false
    }

    private var members: [Member] = []

    package init() {}

    deinit { for member in members where member.descriptor >= 0 { close(member.descriptor) } }

    package var count: Int { members.count }
    package func hasEnded(_ index: Int) -> Bool { members[index].hasEnded }
    package func lines(_ index: Int) -> Int { members[index].lines }

    /// Allows as many open descriptors as the machine does; what that is.
    package static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        let files = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
        getrlimit(files, &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(files, &limit)
        return Int(clamping: limit.rlim_cur)
    }

    /// Connects and sends `text` at once; blocks until the kernel has the connection.
    /// - Parameter address: a numeric IPv4 address of this machine to come from; nil: any.
    package func add(port: UInt16, from address: String? = nil, sending text: String) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw DoorError.system("socket \(members.count)") }
        if let address, SocketAddress.ipv4(address).withPointer({ bind(descriptor, $0, $1) }) != 0 {
            defer { close(descriptor) }
            throw DoorError.system("bind to \(address)")
        }
        guard SocketAddress.loopback(AF_INET, port).withPointer({ connect(descriptor, $0, $1) }) == 0 else {
            defer { close(descriptor) }
            throw DoorError.system("connect \(members.count)")
        }
        members.append(Member(descriptor: descriptor))
        try send(members.count - 1, text)
    }

    /// Small enough for the socket's buffer.
    package func send(_ index: Int, _ text: String) throws {
        let bytes = Array(text.utf8)
        let sent = bytes.withUnsafeBytes {
            Glibc.send(members[index].descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        guard sent == bytes.count else { throw DoorError.system("send to member \(index)") }
    }

    /// Reads what comes and gives every line to `look` until `done` or the deadline; whether it was `done`.
    package func read(
        _ deadline: Deadline, until done: () -> Bool, look: (Int, UnsafeRawBufferPointer) -> Void = { _, _ in }
    ) -> Bool {
        var entries = members.map { pollfd(fd: $0.hasEnded ? -1 : $0.descriptor, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while !done() {
            guard !deadline.isOver else { return false }
            guard poll(&entries, nfds_t(entries.count), min(deadline.left, 100)) > 0 else { continue }
            for index in entries.indices where entries[index].revents != 0 {
                receive(index, &buffer, look)
                if members[index].hasEnded { entries[index].fd = -1 }
            }
        }
        return true
    }

    private func receive(_ index: Int, _ buffer: inout [UInt8], _ look: (Int, UnsafeRawBufferPointer) -> Void) {
        let count = recv(members[index].descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { members[index].hasEnded = true }
            return
        }
        buffer.withUnsafeBytes { all in
            var start = 0
            while start < count, let end = memchr(all.baseAddress! + start, 0x0a, count - start) {
                let length = end - UnsafeMutableRawPointer(mutating: all.baseAddress! + start)
                take(index, UnsafeRawBufferPointer(rebasing: all[start..<(start + length)]), look)
                start += length + 1
            }
            members[index].partial.append(contentsOf: all[start..<count])
        }
    }

    private func take(_ index: Int, _ bytes: UnsafeRawBufferPointer, _ look: (Int, UnsafeRawBufferPointer) -> Void) {
        members[index].lines += 1
        guard !members[index].partial.isEmpty else { return look(index, bytes) }
        members[index].partial.append(contentsOf: bytes)
        members[index].partial.withUnsafeBytes { look(index, $0) }
        members[index].partial.removeAll(keepingCapacity: true)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether `text` is somewhere in these bytes.
    package func contains(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { wanted in
            guard let base = baseAddress, let bytes = wanted.baseAddress, let first = wanted.first else {
                return wanted.isEmpty
            }
            var start = 0
            while start + wanted.count <= count, let found = memchr(base + start, Int32(first), count - start) {
                let place = UnsafeRawPointer(found) - base
                guard place + wanted.count <= count else { return false }
                if memcmp(base + place, bytes, wanted.count) == 0 { return true }
                start = place + 1
            }
            return false
        }
    }
}
