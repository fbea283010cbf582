import Foundation
import TestKit
import Testing

/// Nothing that anybody saw is lost: kill -9 at a random moment under load, and a disk that fills up.
/// `PARLEY_CRASH_ROUNDS` says how often (10 unless it is set).
@Suite(.serialized) struct DoorCrashTests {
    static let rounds = ProcessInfo.processInfo.environment["PARLEY_CRASH_ROUNDS"].flatMap { Int($0) } ?? 10

    @Test("After kill -9 under load every message whose echo or delivery any client saw is in history, in order, once")
    func killedUnderLoad() throws {
        // One process plays all clients and is not always quick to read; cutting those who do not is not the subject.
        let server = try ServerProcess(ServerConfiguration().with("limits", "send-queue", "\"16MiB\""))
        var seen = 0
        for round in 1...Self.rounds {
            do { seen += try play(round, on: server) } catch {
                throw DoorError("round \(round): \(error)\nthe server's log ends:\n\(server.log.suffix(2000))")
            }
        }
        // A load that nobody saw anything of would prove nothing.
        #expect(seen > Self.rounds * 10)
    }

    private func play(_ round: Int, on server: ServerProcess) throws -> Int {
        let load = try Load(server, round: round)
        let seen = try load.run(milliseconds: Int.random(in: 1...150))
        // A server that acknowledges too early is caught in the moment after it did: every other round dies there.
        if round.isMultiple(of: 2) { try load.runToDelivery() }
        server.kill9()
        load.drain()
        try server.start()
        try load.verify(on: server)
        return seen
    }

    @Test("Killed while it starts, again and again, the server still starts and has everything")
    func killedWhileStarting() throws {
        let server = try ServerProcess()
        let load = try Load(server, round: 1)
        _ = try load.run(milliseconds: 200)
        server.kill9()
        load.drain()
        for delay in [1, 2, 5, 10, 20, 40] as [UInt32] {
            try server.startWithoutWaiting()
            usleep(delay * 1000)
            server.kill9()
        }
        try server.start()
        try load.verify(on: server)
    }

    @Test(
        "A disk that fills up: a clear FAIL, nothing delivered that is not stored, and the server recovers by itself",
        .enabled(if: SmallDisk.isPossible, "mounting a small tmpfs needs root"))
    func fullDisk() throws {
        let disk = try SmallDisk(megabytes: 12)
        var configuration = ServerConfiguration()
        configuration.dataDirectory = disk.path
        let server = try ServerProcess(configuration)
        let watcher = try server.client("watcher", "message-tags")
        try watcher.join("#disk")
        let speaker = try server.client(
            "speaker", "echo-message", "labeled-response", "batch", "message-tags", "standard-replies")
        try speaker.join("#disk")
        let talk = Speaker(speaker, watcher)

        try talk.say(20)
        #expect(talk.refused.isEmpty)
        try disk.fill()
        for _ in 0..<400 where talk.refused.count < 20 { try talk.say(50) }
        #expect(talk.refused.count >= 20, "the full disk refused nothing")
        try server.person("visitor").sync()

        let before = talk.stored.count
        try disk.makeRoom()
        let recovered = try Deadline.seconds(15).wait(every: 100) {
            try talk.say(1)
            return talk.stored.count > before
        }
        #expect(recovered)
        try talk.say(20)
        let heard = try watcher.messages()
        #expect(heard == talk.stored, "delivered is what was acknowledged, in order, once")

        server.kill9()
        try server.start()
        let reader = try HistoryReader(server).texts("#disk")
        #expect(reader == talk.stored)
    }
}

/// Several clients that talk in several channels and to each other, and what each of them saw.
private final class Load {
    private enum Talk: Hashable {
        case channel(String)
        /// Two clients, the lower number first.
        case between(Int, Int)
    }

    private let round: Int
    private let clients: [LineClient]
    private let nicks: [String]
    private let identities: [(uid: String, token: String)]
    private let channels: [String]
    private var pending: [[UInt8]]
    /// By client and conversation: the texts in the order of their arrival.
    private var seen: [[Talk: [String]]]
    private var sent = 0

    init(_ server: ServerProcess, round: Int) throws {
        self.round = round
        let channels = (0..<3).map { "#round\(round)-\($0)" }
        self.channels = channels
        let nicks = (0..<5).map { "c\(round)x\($0)" }
        self.nicks = nicks
        clients = try nicks.map { nick in
            let client = try server.connect(nick)
            try client.register(nick, capabilities: ["echo-message", "message-tags", "server-time"])
            for channel in channels { try client.join(channel) }
            return client
        }
        identities = try clients.map { client in
            try client.send("IDENTITY", "IDENTITY TOKEN")
            let uid = try client.expect("NOTE IDENTITY u").parameters[1]
            return (uid, try client.expect("NOTE IDENTITY TOKEN").parameters[2])
        }
        pending = clients.map { _ in [] }
        seen = clients.map { _ in [:] }
    }

    /// Talks for so long; how many lines were seen.
    func run(milliseconds: Int) throws -> Int {
        let deadline = Deadline.seconds(Double(milliseconds) / 1000)
        while !deadline.isOver {
            for index in clients.indices {
                talk(index)
                collect(index)
            }
        }
        return seen.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } }
    }

    /// Waits for everything said so far, talks again and returns as soon as the first line of that comes.
    func runToDelivery() throws {
        for index in clients.indices {
            try clients[index].send(pending[index])
            pending[index] = []
            for line in try clients[index].sync() { note(line, index) }
        }
        for index in clients.indices { for line in try clients[index].sync() { note(line, index) } }
        for index in clients.indices { talk(index) }
        let deadline = Deadline.seconds(LineClient.patience)
        while !clients.contains(where: { $0.receive() && $0.hasLines }) {
            if deadline.isOver { throw DoorError("nothing of what was said came back") }
        }
    }

    /// What had left the server before it died was seen as well.
    func drain() {
        let deadline = Deadline.seconds(10)
        for index in clients.indices {
            while clients[index].receive() && !deadline.isOver { collect(index) }
            collect(index)
            clients[index].close()
        }
    }

    func verify(on server: ServerProcess) throws {
        let stranger = try HistoryReader(server)
        for channel in channels { verify(.channel(channel), try stranger.texts(channel)) }
        for first in clients.indices.dropLast() {
            let reader = try HistoryReader(server, token: identities[first].token)
            for second in (first + 1)..<clients.count {
                verify(.between(first, second), try reader.texts("=\(identities[second].uid)"))
            }
        }
    }

    private func verify(_ talk: Talk, _ history: [String]) {
        let place = Dictionary(history.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        #expect(place.count == history.count, "round \(round): something is in \(talk) twice")
        for (index, all) in seen.enumerated() {
            let places = (all[talk] ?? []).map { place[$0] ?? -1 }
            #expect(!places.contains(-1), "round \(round): client \(index) saw in \(talk) what is lost")
            #expect(places == places.sorted(), "round \(round): client \(index) saw \(talk) in another order")
        }
        for index in clients.indices {
            let own = history.filter { $0.hasPrefix("\(index) ") }.compactMap { Int($0.dropFirst(2)) }
            #expect(own == own.sorted(), "round \(round): client \(index)'s messages are out of order")
        }
    }

    private func burst(of index: Int) -> [UInt8] {
        var text = ""
        for _ in 0..<Int.random(in: 1...8) {
            sent += 1
            let others = nicks.filter { $0 != nicks[index] }
            text += "PRIVMSG \((channels + channels + others).randomElement()!) :\(index) \(sent)\r\n"
        }
        return Array(text.utf8)
    }

    private func talk(_ index: Int) {
        if pending[index].isEmpty { pending[index] = burst(of: index) }
        pending[index].removeFirst(clients[index].sendSome(pending[index][...]))
    }

    private func collect(_ index: Int) {
        clients[index].receive()
        for line in clients[index].drain() { note(line, index) }
    }

    private func note(_ line: ReceivedLine, _ index: Int) {
        guard line.command == "PRIVMSG" else { return }
        let target = line.parameters[0]
        var talk = Talk.channel(target)
        if let from = nicks.firstIndex(of: line.nick), let to = nicks.firstIndex(of: target) {
            talk = .between(min(from, to), max(from, to))
        }
        seen[index][talk, default: []].append(line.last)
    }
}

/// Reads a conversation's whole history, page by page, from the newest.
struct HistoryReader {
    private let client: LineClient

    /// - Parameter token: of the guest who reads; nil: a new one.
    init(_ server: ServerProcess, token: String? = nil) throws {
        let nick = Door.unique("reader")
        client = try server.connect(nick)
        try client.register(
            nick, capabilities: ["batch", "labeled-response", "message-tags", "server-time", "draft/chathistory"],
            password: token.map { "guest:\($0)" })
        try client.sync()
    }

    /// The texts of all messages, oldest first; msgids rise and none comes twice.
    func texts(_ target: String) throws -> [String] {
        if target.hasPrefix("#") { try client.join(target) }
        var all: [ReceivedLine] = []
        var selector = "LATEST \(target) *"
        while true {
            try client.send("@label=page CHATHISTORY \(selector) 100")
            let page = try client.labeled("page").filter { $0.command == "PRIVMSG" }
            all = page + all
            guard let oldest = page.first?.tags["msgid"] else { break }
            selector = "BEFORE \(target) msgid=\(oldest)"
        }
        let ids = all.compactMap { $0.tags["msgid"] }
        #expect(ids.count == all.count && Set(ids).count == ids.count && ids == ids.sorted())
        if target.hasPrefix("#") { try client.send("PART \(target)") }
        try client.sync()
        return all.map(\.last)
    }
}

/// A speaker who notes which of his messages were acknowledged, and which refused.
private final class Speaker {
    private let speaker: LineClient
    private(set) var stored: [String] = []
    private(set) var refused: [String] = []
    private var number = 0

    init(_ speaker: LineClient, _ watcher: LineClient) { self.speaker = speaker }

    func say(_ count: Int) throws {
        let filler = String(repeating: "x", count: 300)
        var texts: [String: String] = [:]
        for _ in 0..<count {
            number += 1
            texts["l\(number)"] = "\(number) \(filler)"
            try speaker.send("@label=l\(number) PRIVMSG #disk :\(number) \(filler)")
        }
        for line in try speaker.sync() {
            guard let label = line.tags["label"], let text = texts.removeValue(forKey: label) else { continue }
            if line.command == "FAIL" {
                #expect(line.parameters.first == "PRIVMSG")
                refused.append(text)
            } else {
                #expect(line.command == "PRIVMSG")
                stored.append(text)
            }
        }
        guard texts.isEmpty else { throw DoorError("neither acknowledged nor refused: \(texts.keys.sorted())") }
    }
}
