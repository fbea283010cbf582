import Bytes
import Foundation
import TestKit
import Testing

/// kill -9 while pictures come in: what was told stays, what was not is there once when its author comes back, and the
/// files are those that the database names.
@Suite(.serialized) struct DoorImageCrashTests {
    @Test("After kill -9 an upload goes on with its identity, and its reference makes one message of it")
    func killed() throws {
        let server = try ServerProcess()
        let rounds = DoorCrashTests.rounds
        for round in 1...rounds {
            do { try play(round, on: server) } catch {
                throw DoorError("round \(round): \(error)\nthe server's log ends:\n\(server.log.suffix(2000))")
            }
        }
        let reader = try HistoryReader(server).texts("#cats")
        #expect(reader.count { $0.hasPrefix("[image]") } == 3 * rounds)
        #expect(Set(reader).count == reader.count)
        try server.terminate()
        try check(server)
    }

    private func play(_ round: Int, on server: ServerProcess) throws {
        let senders = try (0..<3).map { try Sender(server, "s\(round)x\($0)", round: round) }
        for sender in senders { try sender.start() }
        usleep(UInt32.random(in: 0...60_000))
        server.kill9()
        try check(server, allowing: "no row names this file")
        try server.start()
        for sender in senders { try sender.finish(server) }
        try server.terminate()
        try check(server)
        try server.start()
    }

    /// What a crash leaves without a row is swept when the server starts; a row without its file could not be mended.
    private func check(_ server: ServerProcess, allowing leftover: String? = nil) throws {
        let check = try Pipeline.run("\(ServerProcess.binary) check-store --config \(server.configurationPath)")
        let problems = check.lines.filter { line in
            !line.hasSuffix(": fine") && leftover.map { !line.contains($0) } ?? true
        }
        #expect(!check.lines.isEmpty && problems.isEmpty, "\(problems)")
    }
}

/// A client that sends one picture, and sends it again until it is told that it is there.
private final class Sender {
    private let client: LineClient
    private let nick: String
    private let token: String
    private let picture: [UInt8]
    private var begin: String

    init(_ server: ServerProcess, _ nick: String, round: Int) throws {
        self.nick = nick
        client = try server.client(nick)
        try client.send("IDENTITY TOKEN")
        token = try client.expect("NOTE IDENTITY TOKEN").parameters[2]
        try client.join("#cats")
        picture = Fixture.largePNG(Int.random(in: 20_000...200_000))
        begin = "IMG BEGIN #cats image/png \(picture.count) name=\(nick).png;ref=\(nick) -"
    }

    /// Everything at once, as a pipe does, as far as the socket takes it.
    func start() throws {
        var text = begin + "\r\n"
        for at in stride(from: 0, to: picture.count, by: 4500) {
            let part = Array(picture[at..<min(picture.count, at + 4500)])
            text += "IMG DATA * \(at) \(Base64.encode(part).string)\r\n"
        }
        text += "IMG END *\r\n"
        _ = client.sendSome(Array(text.utf8)[...])
    }

    func finish(_ server: ServerProcess) throws {
        client.close()
        let again = try server.connect(nick)
        try again.send("PASS guest:\(token)")
        try again.register(nick)
        try again.join("#cats")
        try again.send(begin)
        let answer = try again.expect(" IMG ") { ["READY", "DONE"].contains($0.parameters.first) }
        if answer.parameters[0] == "READY" {
            var at = try #require(Int(answer.parameters[2]))
            while at < picture.count {
                let part = Array(picture[at..<min(picture.count, at + 4500)])
                try again.send("IMG DATA * \(at) \(Base64.encode(part).string)")
                at += part.count
            }
            try again.send("IMG END *")
            try again.expect(" IMG DONE ")
        }
        again.close()
    }
}
