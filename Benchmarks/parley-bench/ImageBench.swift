import Bytes
import TestKit

/// What pictures cost a server of its own: bytes of base64 each second, on the clock and for each second of CPU that
/// the server and the processes it starts have used.
final class ImageBench {
    static let options = ["size", "pictures", "uploads", "seconds"]

    private let server: ServerProcess
    private let meter: Meter
    private let size: Int
    private let pictures: Int
    private let uploads: Int
    private let seconds: Int
    private var names = 0

    init(_ options: Options) throws {
        size = try options.number("size", 8 << 20)
        pictures = max(1, try options.number("pictures", 6))
        uploads = try options.number("uploads", 100)
        seconds = try options.number("seconds", 5)
        _ = Crowd.raiseDescriptorLimit()
        let configuration = ServerConfiguration().with("images", "guest-size", "\"64MiB\"")
            .with("images", "guest-daily", "\"1000GiB\"").with("images", "total", "\"1000GiB\"")
        server = try ServerProcess(configuration)
        meter = Meter(server.pid)
    }

    func run() throws {
        say("\(pictures) pictures of \(size >> 10) KiB one after the other; MB are of base64")
        say("                            MB/s     MB/s of CPU    ms of CPU for each MB")
        for kind in ["jpeg", "png"] {
            try upload(kind, "lines of 4500") { Pictures.lines($0, kind, "#images", chunk: 4500) }
            try upload(kind, "paste, 76 columns") { Pictures.paste($0, kind, "#images", width: 76) }
            try upload(kind, "paste, one line") { Pictures.paste($0, kind, "#images", width: 0) }
        }
        try download(chunk: 4500)
        try download(chunk: nil)
        try memory(uploads: 1, size: 20 << 20)
        try memory(uploads: uploads, size: 2 << 20)
        try latency()
        try server.terminate()
    }

    // MARK: Speed

    private func upload(_ kind: String, _ way: String, _ text: ([UInt8]) -> [UInt8]) throws {
        let texts = try (0..<pictures).map { _ in text(try Pictures.make(kind, size)) }
        let client = try enter()
        try measure("\(kind), \(way)", of: base64(size) * pictures) {
            for text in texts {
                let flows = Flows()
                flows.add(client, sending: text)
                try flows.run(until: [" IMG DONE "])
            }
        }
    }

    private func download(chunk: Int?) throws {
        let client = try enter()
        let flows = Flows()
        flows.add(client, sending: Pictures.lines(try Pictures.make("jpeg", size), "jpeg", "#images", chunk: 4500))
        try flows.run(until: [" IMG DONE "])
        let get = "IMG GET *" + (chunk.map { " chunk=\($0)" } ?? "") + "\r\n"
        try measure("GET, lines of \(chunk ?? 351)", of: base64(size) * pictures) {
            for _ in 0..<pictures {
                let flows = Flows()
                flows.add(client, sending: Array(get.utf8))
                try flows.run(until: ["IMG EOF "])
                guard flows.flows[0].received > base64(size) else { throw DoorError("a picture came in part") }
            }
        }
    }

    private func base64(_ bytes: Int) -> Int { (bytes + 2) / 3 * 4 }

    private func measure(_ what: String, of bytes: Int, _ body: () throws -> Void) throws {
        let (before, start) = (meter.seconds(), nanoseconds())
        try body()
        let time = Double(nanoseconds() - start) / 1e9
        let spent = meter.seconds().map { (name: $0.key, seconds: $0.value - (before[$0.key] ?? 0)) }
        let all = spent.reduce(0) { $0 + $1.seconds }
        let megabytes = Double(bytes) / 1e6
        let parts = spent.filter { $0.seconds / megabytes >= 0.00005 }.sorted { $0.seconds > $1.seconds }
            .map { "\($0.name) \(rounded($0.seconds * 1000 / megabytes, 2))" }.joined(separator: ", ")
        say(
            what.padded(24) + rounded(megabytes / time, 0).padded(-8) + rounded(megabytes / all, 0).padded(-15)
                + "    \(rounded(all * 1000 / megabytes, 2)) = \(parts)")
    }

    private func enter() throws -> LineClient {
        names += 1
        let client = try server.client("bench\(names)")
        try client.join("#images")
        return client
    }

    // MARK: Memory

    private func memory(uploads: Int, size: Int) throws {
        let flows = Flows()
        for _ in 0..<uploads {
            flows.add(
                try enter(), sending: Pictures.lines(try Pictures.make("jpeg", size), "jpeg", "#images", chunk: 4500))
        }
        meter.forgetPeak()
        let before = meter.resident().now
        try flows.run(until: [" IMG DONE "], within: 300)
        let grown = meter.resident().peak - before
        say("memory for \(uploads) at once, \(size >> 20) MiB each: \(grown >> 10) KiB more at most")
    }

    // MARK: Latency

    private func latency() throws {
        let probe = try ChatProbe(server)
        let alone = try probe.run(seconds: seconds)
        say("chat alone:               \(alone.described())")
        let crowd = try UploadCrowd(uploads, server)
        let bytes = try crowd.during {
            say("with \(uploads) uploads at once: \(try probe.run(seconds: seconds).described())")
        }
        say("                          and \(rounded(Double(bytes) / 1e6 / Double(seconds), 0)) MB/s of base64 came in")
    }
}

extension String {
    /// To so many columns, on the left if negative.
    fileprivate func padded(_ width: Int) -> String {
        let blanks = String(repeating: " ", count: max(0, abs(width) - count))
        return width < 0 ? blanks + self : self + blanks
    }
}
