import CSystem
import Glibc
import TestKit

/// Many clients in channels who talk to each other: how long each delivery takes, and whether each came once and in
/// order.
final class ChatBench {
    static let options = ["address", "port", "pid", "clients", "channels", "rate", "window", "seconds", "size"]

    private struct Client {
        var socket: Int32
        var input: [UInt8] = []
        var output: ArraySlice<UInt8> = []
        /// The socket took not all of it.
        var waits = false
        var isIn = false
        /// The next number that each sender in the channel says, by client.
        var expected: [Int: Int] = [:]
        /// One's own messages that nobody has answered for yet.
        var sent = 0
        var returned = 0
        var channel: Int
    }

    private let address: String
    private let port: UInt16
    private let meter: Meter?
    private let own: ServerProcess?
    private let count: Int
    private let channels: Int
    /// Messages each second of all together; 0: as many as go, `window` of each sender on their way at once.
    private let rate: Int
    private let window: Int
    private let seconds: Int
    private let text: String
    private var clients: [Client] = []
    private var poller: Int32 = -1
    private var buffer = [UInt8](repeating: 0, count: 256 << 10)
    private var latencies = Latencies()
    private var entered = 0
    private var (said, delivered, outOfOrder) = (0, 0, 0)
    private let run = UInt32.random(in: 0...999_999)

    init(_ options: Options) throws {
        count = max(2, try options.number("clients", 100))
        channels = min(count / 2, max(1, try options.number("channels", 10)))
        rate = try options.number("rate", 1000)
        window = max(1, try options.number("window", 4))
        seconds = max(1, try options.number("seconds", 10))
        text = String(repeating: "x", count: try options.number("size", 40))
        address = options.text("address") ?? "127.0.0.1"
        if let port = options.text("port").flatMap({ UInt16($0) }) {
            (self.port, own) = (port, nil)
            let pid = try options.number("pid", 0)
            meter = pid == 0 ? nil : Meter(Int32(pid))
        } else {
            let server = try ServerProcess(ServerConfiguration().with("networks", "connections", "0"))
            (port, own, meter) = (server.port(), server, Meter(server.pid))
        }
        let most = Crowd.raiseDescriptorLimit()
        if count + 20 > most { throw DoorError("only \(most) descriptors are allowed; ulimit -n says how many") }
        poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    }

    func measure() throws {
        try enter()
        try talk()
        let members = (count + channels - 1) / channels
        say("\(count) clients in \(channels) channels of \(members), \(seconds) s, \(text.count) bytes of text")
        say("said \(said) messages, delivered \(delivered), \(delivered / seconds) a second")
        say("on the way: \(latencies.described())")
        let lost = missing()
        say("lost \(lost), double or out of order \(outOfOrder)")
        try own?.terminate()
        if lost + outOfOrder > 0 { throw DoorError("not every message came once and in order") }
    }

    // MARK: Coming in

    private func enter() throws {
        let start = nanoseconds()
        for i in 0..<count {
            try connect(i)
            // Not all at once: a backlog is not what is measured.
            if i % 50 == 49 { try serve(until: { self.entered > i - 50 }, within: 30) }
        }
        try serve(until: { self.entered == self.count }, within: 60)
        let time = Double(nanoseconds() - start) / 1e9
        say(
            "\(count) clients came in and joined in \(rounded(time, 2)) s, \(rounded(Double(count) / time, 0)) a second"
        )
    }

    private func connect(_ i: Int) throws {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        guard socket >= 0, inet_pton(AF_INET, address, &place.sin_addr) == 1 else {
            throw DoorError("\(address) is no numeric IPv4 address, or there are no more sockets")
        }
        let result = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw DoorError("client \(i) cannot connect: \(String(cString: strerror(errno)))") }
        var yes: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(i)))
        epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event)
        clients.append(Client(socket: socket, channel: i % channels))
        let join = "JOIN #bench\(run)-\(i % channels)\r\n"
        send(i, "CAP REQ :echo-message\r\nNICK b\(run)x\(i)\r\nUSER bench 0 * :bench\r\nCAP END\r\n" + join)
    }

    // MARK: Talking

    private func talk() throws {
        let before = meter?.seconds()
        let start = nanoseconds()
        let end = start + Int64(seconds) * 1_000_000_000
        var turn = 0
        while nanoseconds() < end {
            if rate > 0 {
                let due = Int(Double(nanoseconds() - start) / 1e9 * Double(rate))
                while said < due { speak(&turn) }
            } else {
                for i in 0..<count { while clients[i].sent - clients[i].returned < window { speak(i) } }
            }
            try receive(wait: 1)
        }
        let time = Double(nanoseconds() - start) / 1e9
        let all = expectedDeliveries
        // What is still on its way.
        let deadline = Deadline.seconds(10)
        while delivered < all, !deadline.isOver { try receive(wait: 10) }
        guard let before, let after = meter?.seconds() else { return }
        let spent = after.reduce(0.0) { $0 + $1.value - (before[$1.key] ?? 0) }
        let each = rounded(spent * 1e6 / Double(max(1, delivered)), 2)
        say("the server used \(rounded(spent / time, 2)) of a processor, \(each) µs for each delivery")
    }

    /// Each hears all of a channel, its own as echoes.
    private var expectedDeliveries: Int {
        var members = [Int](repeating: 0, count: channels)
        var messages = members
        for client in clients {
            members[client.channel] += 1
            messages[client.channel] += client.sent
        }
        return zip(members, messages).reduce(0) { $0 + $1.0 * $1.1 }
    }

    private func missing() -> Int { max(0, expectedDeliveries - delivered) }

    private func speak(_ turn: inout Int) {
        speak(turn % count)
        turn += 1
    }

    /// `<sender> <number> <nanoseconds> <text>`
    private func speak(_ i: Int) {
        let words = "\(i) \(clients[i].sent) \(nanoseconds()) \(text)"
        send(i, "PRIVMSG #bench\(run)-\(clients[i].channel) :\(words)\r\n")
        clients[i].sent += 1
        said += 1
    }

    // MARK: Bytes

    private func send(_ i: Int, _ text: String) {
        clients[i].output += Array(text.utf8)
        flush(i)
    }

    private func flush(_ i: Int) {
        let count = clients[i].output.withUnsafeBytes {
            Glibc.send(clients[i].socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        if count > 0 { clients[i].output = clients[i].output.dropFirst(count) }
        let waits = !clients[i].output.isEmpty
        if waits == clients[i].waits { return }
        clients[i].waits = waits
        let wanted = waits ? EPOLLIN.rawValue | EPOLLOUT.rawValue : EPOLLIN.rawValue
        var event = epoll_event(events: wanted, data: epoll_data_t(u64: UInt64(i)))
        epoll_ctl(poller, EPOLL_CTL_MOD, clients[i].socket, &event)
    }

    private func serve(until done: () -> Bool, within seconds: Double) throws {
        let deadline = Deadline.seconds(seconds)
        while !done() {
            if deadline.isOver { throw DoorError("only \(entered) of \(count) clients came in in \(seconds) s") }
            try receive(wait: 20)
        }
    }

    private func receive(wait milliseconds: Int32) throws {
        try withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 256) { events in
            let ready = epoll_wait(poller, events.baseAddress, 256, milliseconds)
            for event in events.prefix(Int(max(0, ready))) {
                let i = Int(event.data.u64)
                if event.events & EPOLLOUT.rawValue != 0 { flush(i) }
                if event.events & EPOLLIN.rawValue != 0 { try read(i) }
            }
        }
    }

    private func read(_ i: Int) throws {
        let count = recv(clients[i].socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN { return }
        guard count > 0 else { throw DoorError("the server closed the connection of client \(i)") }
        let now = nanoseconds()
        clients[i].input += buffer[..<count]
        var start = 0
        while let end = clients[i].input[start...].firstIndex(of: 0x0A) {
            take(i, clients[i].input[start..<end], now)
            start = end + 1
        }
        clients[i].input.removeFirst(start)
    }

    private func take(_ i: Int, _ line: ArraySlice<UInt8>, _ now: Int64) {
        let words = line.split(separator: 0x20, maxSplits: 6)
        guard words.count > 1 else { return }
        if words[0].elementsEqual("PING".utf8) { return send(i, "PONG \(String(decoding: words[1], as: UTF8.self))\n") }
        if words[1].elementsEqual("366".utf8), !clients[i].isIn {
            clients[i].isIn = true
            entered += 1
        }
        guard words.count > 5, words[1].elementsEqual("PRIVMSG".utf8), let sender = number(words[3].dropFirst()),
            let which = number(words[4]), let sent = number(words[5])
        else { return }
        delivered += 1
        latencies.add(now - Int64(sent))
        if which != clients[i].expected[sender, default: 0] { outOfOrder += 1 }
        clients[i].expected[sender] = which + 1
        if sender == i { clients[i].returned += 1 }
    }

    private func number(_ text: some Collection<UInt8>) -> Int? {
        var value = 0
        for byte in text {
            guard 0x30...0x39 ~= byte else { return nil }
            value = value &* 10 &+ Int(byte - 0x30)
        }
        return value
    }
}
