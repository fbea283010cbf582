import CSystem
import Glibc
import TestKit

/// Two people in a channel; one says something every few milliseconds, the other notes how long it was on its way.
final class ChatProbe {
    private let speaker: LineClient
    private let listener: LineClient
    private let interval: Int64 = 3_000_000

    init(_ server: ServerProcess) throws {
        speaker = try server.client("speaker")
        listener = try server.client("listener")
        try speaker.join("#probe")
        try listener.join("#probe")
        try listener.sync()
    }

    func run(seconds: Int) throws -> Latencies {
        var latencies = Latencies()
        let start = nanoseconds()
        var due = start
        var said = 0
        let end = start + Int64(seconds) * 1_000_000_000
        // What is due within a millisecond is waited for without sleeping.
        while due < end || latencies.count < said {
            if nanoseconds() >= due, due < end {
                try speaker.send("PRIVMSG #probe :\(nanoseconds())")
                said += 1
                due += interval
            }
            let wait = due < end ? max(0, due - nanoseconds()) / 1_000_000 : 5_000
            var entry = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&entry, 1, Int32(wait))
            if count == 0, due >= end { throw DoorError("\(said - latencies.count) messages did not arrive") }
            if count > 0 { listen(&latencies) }
        }
        return latencies
    }

    private func listen(_ latencies: inout Latencies) {
        listener.receive()
        let now = nanoseconds()
        for line in listener.drain() where line.command == "PRIVMSG" {
            if let sent = line.parameters.last.flatMap({ Int64($0) }) { latencies.add(now - sent) }
        }
    }
}
