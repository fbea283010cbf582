import Foundation
import TestKit
import Testing

/// docs/PROTOCOL.md, Operators: a person's data on request, and its end.
@Suite struct DoorEraseTests {
    fileprivate func parley(_ server: ServerProcess, _ words: String) throws -> Pipeline {
        try Pipeline.run("'\(ServerProcess.binary)' --config '\(server.configurationPath)' \(words) 2>&1")
    }

    @Test("export prints what is kept of a person; after ERASE nothing of it is on the disk, and others' words stay")
    func exportAndErase() throws {
        let server = try ServerProcess()
        let bo = try server.client("bo")
        try bo.join("#talk")
        try bo.say("#talk", "bo-says-something")
        let ana = try server.client("ana-the-erased", "draft/metadata-2")
        try ana.join("#talk")
        try ana.say("#talk", "ana-in-the-channel")
        try ana.say("bo", "ana-in-private")
        try ana.send("METADATA * SET homepage :ana-at-home")
        try bo.say("ana-the-erased", "bo-in-private")
        try ana.send("IDENTITY")
        let uid = try ana.expect("NOTE IDENTITY u").parameters[1]

        let exported = try parley(server, "export =\(uid)")
        #expect(exported.status == 0)
        let objects = try exported.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let texts = Set(objects.compactMap { $0["text"] as? String })
        #expect(texts.isSuperset(of: ["ana-in-the-channel", "ana-in-private", "bo-in-private"]))
        #expect(!texts.contains("bo-says-something"))
        #expect(objects.contains { $0["type"] as? String == "metadata" && $0["value"] as? String == "ana-at-home" })
        #expect(objects.contains { $0["type"] as? String == "channel" && $0["name"] as? String == "#talk" })

        #expect(try parley(server, "operator ERASE ana-the-erased").status == 0)
        _ = try ana.readToEnd()
        try bo.expect(":ana-the-erased!", "QUIT")
        let said = ["ana-in-the-channel", "ana-in-private", "ana-at-home", "ana-the-erased"]
        let isGone = try Deadline.seconds(30).wait(every: 100) {
            try said.allSatisfy { word in try !server.holdsInDatabase(word) }
        }
        #expect(isGone)
        #expect(try server.holdsInDatabase("bo-says-something"))
        #expect(try server.holdsInDatabase("bo-in-private"))
        #expect(try parley(server, "export ana-the-erased").status == 1)
        server.kill9()
        try server.start()
        let reader = try HistoryReader(server)
        #expect(try reader.texts("#talk") == ["bo-says-something"])
    }
}

extension DoorEraseTests {
    @Test("An account is exported and erased with its name, its address and its picture")
    func accounts() throws {
        let server = try ServerProcess()
        let ana = try server.client("ana-with-account")
        try ana.send("REGISTER * ana-at@cats.example correct-horse")
        try ana.expect("REGISTER SUCCESS")
        try ana.join("#talk")
        try ana.send("NICK otherwise")
        let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        try ana.send("IMG PASTE #talk image/png :a dot of ana", png, ".")
        try ana.expect("IMG DONE")
        try ana.send("QUIT")
        try ana.readToEnd()
        let exported = try parley(server, "export ana-with-account").output
        for kept in ["ana-at@cats.example", "a dot of ana", "\"images/files/", "\"#talk\""] {
            #expect(exported.contains(kept), "\(kept)")
        }
        func pictures() -> [String] {
            let all = FileManager.default.enumerator(atPath: "\(server.directory)/data/images/files")
            return all?.compactMap { $0 as? String }.filter { $0.contains("/") } ?? []
        }
        #expect(pictures().count == 1)
        #expect(try parley(server, "operator ERASE ana-with-account").status == 0)
        let isGone = try Deadline.seconds(30).wait(every: 100) {
            try ["ana-with-account", "ana-at@cats.example", "a dot of ana"].allSatisfy {
                try !server.holdsInDatabase($0)
            } && pictures().isEmpty
        }
        #expect(isGone)
        #expect(try parley(server, "export ana-with-account").status == 1)
    }
}

extension ServerProcess {
    /// Whether these bytes are in the database or its write-ahead log.
    fileprivate func holdsInDatabase(_ text: String) throws -> Bool {
        ["parley.db", "parley.db-wal"].contains { name in
            let bytes = FileManager.default.contents(atPath: "\(directory)/data/\(name)")
            return bytes?.range(of: Data(text.utf8)) != nil
        }
    }
}
