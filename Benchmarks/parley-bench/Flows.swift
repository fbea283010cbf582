import CSystem
import Glibc
import TestKit

/// Bytes that go out and come in on many connections, in one loop; what comes is looked at only for how it ends.
final class Flows {
    struct Flow {
        var client: LineClient
        var out: ArraySlice<UInt8>
        var received = 0
        /// The last bytes that came.
        var tail: [UInt8] = []
        var isDone = false
    }

    private(set) var flows: [Flow] = []
    private var buffer = [UInt8](repeating: 0, count: 256 << 10)

    func add(_ client: LineClient, sending bytes: [UInt8]) { flows.append(Flow(client: client, out: bytes[...])) }

    /// Until the last line of each begins with one of `ends` behind an optional source; throws when one says FAIL.
    func run(until ends: [String], within seconds: Double = 120) throws {
        let deadline = Deadline.seconds(seconds)
        var entries = flows.map { pollfd(fd: $0.client.descriptor, events: Int16(POLLIN | POLLOUT), revents: 0) }
        var left = flows.count
        while left > 0 {
            guard poll(&entries, nfds_t(entries.count), deadline.left) > 0 else {
                throw DoorError("\(left) of \(flows.count) transfers are not done in \(seconds) s")
            }
            for i in entries.indices where entries[i].revents != 0 && !flows[i].isDone {
                if entries[i].revents & Int16(POLLOUT) != 0 { send(i) }
                if entries[i].revents & Int16(POLLIN | POLLHUP) != 0 { try receive(i, ends) }
                if flows[i].out.isEmpty { entries[i].events = Int16(POLLIN) }
                if flows[i].isDone {
                    entries[i].fd = -1
                    left -= 1
                }
            }
        }
    }

    private func send(_ i: Int) {
        let part = flows[i].out.prefix(256 << 10)
        if !part.isEmpty { flows[i].out = flows[i].out.dropFirst(flows[i].client.sendSome(part)) }
    }

    private func receive(_ i: Int, _ ends: [String]) throws {
        let count = recv(flows[i].client.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN { return }
        guard count > 0 else { throw DoorError("the server closed a connection") }
        flows[i].received += count
        flows[i].tail = Array((flows[i].tail + buffer[max(0, count - 400)..<count]).suffix(400))
        let lines = String(decoding: flows[i].tail, as: UTF8.self).split(separator: "\r\n")
        guard buffer[count - 1] == 0x0A, let last = lines.last else { return }
        if last.contains(" FAIL ") { throw DoorError("the server refused: \(last)") }
        flows[i].isDone = ends.contains { last.contains($0) }
    }
}
