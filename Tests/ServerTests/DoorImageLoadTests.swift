import Bytes
import Foundation
import TestKit
import Testing

/// Pictures when there is much: many at once, and no room left.
@Suite(.serialized) struct DoorImageLoadTests {
    private func lines(_ picture: [UInt8], from start: Int = 0) -> [String] {
        stride(from: start, to: picture.count, by: 4500).map {
            "IMG DATA * \($0) \(Base64.encode(Array(picture[$0..<min(picture.count, $0 + 4500)])))"
        }
    }

    private func expectFine(_ server: ServerProcess) throws {
        try server.terminate()
        let check = try Pipeline.run("\(ServerProcess.binary) check-store --config \(server.configurationPath)")
        #expect(check.status == 0, "\(check.output)")
    }

    @Test("A hundred uploads at once from who never waits: talk comes through meanwhile, and all become whole")
    func crowd() throws {
        let server = try ServerProcess()
        let listener = try server.watcher("#talk")
        let speaker = try server.watcher("#talk")
        let picture = Fixture.largePNG(300_000)
        let text = ["IMG BEGIN #pictures image/png \(picture.count) -"] + lines(picture) + ["IMG END *", ""]
        let senders = try (0..<100).map { try server.person("s\($0)", in: "#pictures") }
        var rest = senders.map { _ in Array(text.joined(separator: "\r\n").utf8)[...] }
        var done = Set<Int>()
        var heardBefore = 0
        let deadline = Deadline.seconds(120)
        while done.count < senders.count, !deadline.isOver {
            for i in senders.indices where !done.contains(i) {
                if !rest[i].isEmpty { rest[i] = rest[i].dropFirst(senders[i].sendSome(rest[i])) }
                senders[i].receive()
                for line in senders[i].drain() {
                    #expect(line.command != "FAIL", "\(line.text)")
                    if line.text.contains(" IMG DONE ") { done.insert(i) }
                }
            }
            let isBusy = done.count < senders.count / 2
            try speaker.send("PRIVMSG #talk :still here \(done.count)")
            try listener.expect("still here")
            if isBusy { heardBefore += 1 }
        }
        #expect(done.count == 100)
        #expect(heardBefore > 0)
        try expectFine(server)
    }

    @Test(
        "A disk that fills up while pictures come: STORE_FULL, nothing half done, and on it goes when there is room",
        .enabled(if: SmallDisk.isPossible, "mounting a small tmpfs needs root"))
    func fullDisk() throws {
        let disk = try SmallDisk(megabytes: 16)
        var configuration = ServerConfiguration()
        configuration.dataDirectory = disk.path
        let server = try ServerProcess(configuration)
        let watcher = try server.watcher("#disk")
        let ana = try server.watcher("#disk")
        let picture = Fixture.largePNG(400_000)
        try ana.send("IMG BEGIN #disk image/png \(picture.count) name=one.png -")
        let id = try ana.expect(" IMG READY ").parameters[1]
        for line in lines(picture).prefix(20) { try ana.send(line) }
        try ana.expect(" IMG ACK \(id) ")

        try disk.fill()
        for line in lines(picture).dropFirst(20) { try ana.send(line) }
        try ana.expect("FAIL IMG STORE_FULL \(id) ")
        try server.person("visitor").sync()
        try disk.makeRoom()
        try ana.sync()
        try ana.send("IMG RESUME \(id)")
        let next = try #require(Int(try ana.expect(" IMG READY \(id) ").parameters[2]))
        #expect(next >= 16_384 && next < picture.count)
        for line in lines(picture, from: next) { try ana.send(line) }
        try ana.expect(" IMG ACK \(id) \(picture.count)")

        // There is room for what came, and none for the picture that is made of it.
        try disk.fill()
        try ana.send("IMG END \(id)")
        try ana.expect("FAIL IMG STORE_FULL \(id) ")
        let parts = try FileManager.default.contentsOfDirectory(atPath: "\(disk.path)/images/parts")
        #expect(parts.count == 1, "\(parts)")
        #expect(try watcher.messages() == [])
        try disk.makeRoom()
        let isDone = try Deadline.seconds(15).wait(every: 100) {
            try ana.send("IMG END \(id)")
            return try ana.sync().contains { $0.text.contains(" IMG DONE \(id) ") }
        }
        #expect(isDone)
        #expect(try watcher.messages().count { $0.hasPrefix("[image] one.png") } == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(disk.path)/images/parts") == [])
        try expectFine(server)
    }
}
