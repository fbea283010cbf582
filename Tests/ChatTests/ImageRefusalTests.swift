import Bytes
import Chat
import TestKit
import Testing

/// Every code that IMG refuses by, and that nothing is half done.
@Suite struct ImageRefusalTests {
    @Test(
        "What is wrong in the line itself",
        arguments: [
            ("IMG", "NEED_MORE_PARAMS"), ("IMG BEGIN", "NEED_MORE_PARAMS"),
            ("IMG BEGIN #cats image/jpeg", "NEED_MORE_PARAMS"),
            ("IMG DATA * *", "NEED_MORE_PARAMS"), ("IMG GET", "NEED_MORE_PARAMS"), ("IMG FOO", "INVALID_PARAMS"),
            ("IMG BEGIN #cats image/jpeg many", "INVALID_PARAMS"), ("IMG BEGIN #cats image/jpeg 0", "INVALID_PARAMS"),
            ("IMG BEGIN #cats image/jpeg * sha256=abc -", "INVALID_PARAMS"),
            ("IMG BEGIN #cats image/jpeg * colour=red :x", "INVALID_PARAMS"),
            ("IMG BEGIN #cats image/tiff *", "TYPE_NOT_ALLOWED"),
            ("IMG BEGIN #cats image/svg+xml *", "TYPE_NOT_ALLOWED"),
            ("IMG BEGIN #nowhere image/jpeg *", "INVALID_TARGET"), ("IMG BEGIN nobody image/jpeg *", "INVALID_TARGET"),
            ("IMG BEGIN #secret image/jpeg *", "INVALID_TARGET"), ("IMG BEGIN #open image/jpeg *", "CANNOT_SEND"),
            ("IMG BEGIN #unkept image/jpeg *", "CANNOT_SEND"), ("IMG BEGIN #cats image/jpeg 5242881", "TOO_LARGE"),
            ("IMG GET i000000000000", "UNKNOWN_ID"), ("IMG GET i123456789abc", "UNKNOWN_ID"),
            ("IMG INFO x", "UNKNOWN_ID"),
            ("IMG END *", "UNKNOWN_ID"), ("IMG DATA i123456789abc * AAAA", "UNKNOWN_ID"), ("IMG STOP *", "NOT_OPEN"),
            ("IMG URL i123456789abc", "DISABLED"), ("IMG LIST #nowhere", "INVALID_TARGET"),
            ("IMG LIST #cats x", "INVALID_PARAMS"), ("IMG GET i123456789abc x", "INVALID_PARAMS"),
            ("IMG GET i123456789abc chunk=9000", "INVALID_PARAMS"), ("IMG GET i123456789abc 1 2 3", "INVALID_PARAMS"),
        ])
    func lines(line: String, code: String) throws {
        let stage = try ImageStage()
        for (channel, mode) in [("#secret", "+s"), ("#open", "+t"), ("#unkept", "+H")] {
            stage.bo.send("JOIN \(channel)")
            stage.bo.send("MODE \(channel) \(mode)")
        }
        _ = stage.ana.ask("JOIN #unkept")
        #expect(failure(stage.ana.ask(line)) == code)
        #expect(stage.script.images.uploads.isEmpty && stage.script.images.parts.isEmpty)
    }

    @Test("Data that cannot be right leave the upload open")
    func data() throws {
        let stage = try ImageStage()
        let id = try stage.ana.begin("IMG BEGIN #cats image/jpeg *")
        for word in ["!!!!", "AAA", "AA=A", "QR=="] {
            #expect(failure(stage.ana.ask("IMG DATA \(id) * \(word)")) == "BAD_BASE64")
        }
        #expect(failure(stage.ana.ask("IMG DATA \(id) 1 AAAA")) == "BAD_OFFSET")
        #expect(failure(stage.ana.ask("IMG DATA \(id) -1 AAAA")) == "BAD_OFFSET")
        #expect(stage.ana.ask("IMG DATA \(id) 0 QQ==") == [])
        #expect(failure(stage.ana.ask("IMG DATA \(id) 1 AAAA")) == "BAD_BASE64", "padding is in the last line only")
        #expect(stage.ana.ask("IMG STATUS \(id)").first?.contains(" open 1 0 ") == true)
    }

    @Test(
        "What is wrong at the end closes the upload",
        arguments: [
            ("image/png", "", "TYPE_MISMATCH"), ("image/jpeg", "", "HASH_MISMATCH"),
            ("image/jpeg", "half", "BAD_IMAGE"),
            ("image/jpeg", "zip", "BAD_IMAGE"), ("image/jpeg", "text", "BAD_IMAGE"),
        ])
    func end(type: String, what: String, code: String) throws {
        let stage = try ImageStage()
        var bytes = stage.picture
        switch what {
        case "half": bytes = Array(bytes.dropLast(bytes.count / 2))
        case "zip": bytes += Array("PK\u{3}\u{4}".utf8)
        case "text": bytes = Array("<html>".utf8)
        default: break
        }
        let id = try stage.ana.begin("IMG BEGIN #cats \(type) *")
        stage.ana.data(id, bytes)
        let hash = code == "HASH_MISMATCH" ? " " + String(repeating: "0", count: 64) : ""
        #expect(failure(stage.ana.ask("IMG END \(id)\(hash)")) == code)
        #expect(stage.script.images.parts.isEmpty && stage.script.images.uploads.isEmpty)
        #expect(stage.bo.read() == [] && stage.script.images.files.isEmpty)
        #expect(failure(stage.ana.ask("IMG END \(id)")) == "UNKNOWN_ID")
    }

    @Test("Sizes: another than was told, more than may come")
    func sizes() throws {
        let stage = try ImageStage { $0.images.guestSize = 3_000 }
        let short = try stage.ana.begin("IMG BEGIN #cats image/jpeg 2000")
        stage.ana.data(short, stage.picture)
        #expect(failure(stage.ana.ask("IMG END \(short)")) == "SIZE_MISMATCH")
        let long = try stage.ana.begin("IMG BEGIN #cats image/jpeg 100")
        #expect(failure(stage.ana.ask("IMG DATA \(long) * \(base64(stage.picture))")) == "SIZE_MISMATCH")
        let large = try stage.ana.begin("IMG BEGIN #cats image/jpeg *")
        #expect(failure(stage.ana.ask("IMG DATA \(large) * \(base64(largeUpload[..<3_001]))")) == "TOO_LARGE")
        #expect(stage.script.images.parts.isEmpty && stage.script.images.uploads.isEmpty)
    }

    @Test("Too many at a time, and too much in a day")
    func quotas() throws {
        let stage = try ImageStage { $0.images.guestDaily = 4_000 }
        let eve = stage.person("eve")
        _ = try eve.begin("IMG BEGIN #cats image/jpeg *")
        let second = try eve.begin("IMG BEGIN #cats image/jpeg *")
        #expect(failure(eve.ask("IMG BEGIN #cats image/jpeg *")) == "TOO_MANY_UPLOADS")
        _ = eve.ask("IMG ABORT \(second)")
        _ = try eve.upload(stage.picture, to: "#cats")
        #expect(eve.ask("IMG BEGIN #cats image/jpeg 2286").first?.contains("QUOTA_EXCEEDED #cats 2285 :") == true)
        let rest = try eve.begin("IMG BEGIN #cats image/jpeg *")
        #expect(failure(eve.ask("IMG DATA \(rest) * \(base64(largeUpload[..<2_286]))")) == "QUOTA_EXCEEDED")
        stage.script.advance(86_401_000)
        #expect(try eve.begin("IMG BEGIN #cats image/jpeg 2286") != "")
    }

    @Test("The server's own room")
    func total() throws {
        let stage = try ImageStage { $0.images.total = 3_000 }
        _ = try stage.ana.upload(stage.picture, to: "#cats")
        #expect(failure(stage.ana.ask("IMG BEGIN #cats image/jpeg 2000")) == "STORE_FULL")
    }

    @Test("Switched off")
    func disabled() throws {
        let stage = try ImageStage { $0.images.isEnabled = false }
        for line in [
            "IMG BEGIN #cats image/jpeg *", "IMG GET i123456789abc", "IMG LIST #cats", "IMG PASTE #cats image/png",
        ] {
            #expect(failure(stage.ana.ask(line)) == "DISABLED")
        }
        stage.ana.paste(stage.picture)
        stage.ana.send(".")
        #expect(stage.bo.read() == [])
        #expect(!stage.ana.ask("ISUPPORT").contains { $0.contains("parley.chat/IMG") })
    }

    @Test("Who may not speak any more when the picture is whole")
    func rightsAtTheEnd() throws {
        let stage = try ImageStage()
        let id = try stage.bo.begin("IMG BEGIN #cats image/jpeg *")
        stage.bo.data(id, stage.picture)
        _ = stage.ana.ask("MODE #cats +m")
        _ = stage.ana.read()
        #expect(failure(stage.bo.ask("IMG END \(id)")) == "CANNOT_SEND")
        _ = stage.ana.ask("MODE #cats -m")
        let kicked = try stage.bo.begin("IMG BEGIN #cats image/jpeg *")
        stage.bo.data(kicked, stage.picture)
        stage.script.holdsImages = true
        stage.bo.send("IMG END \(kicked)")
        stage.ana.send("KICK #cats bo")
        _ = stage.ana.read()
        stage.script.holdsImages = false
        stage.ana.send("PING x")
        #expect(failure(stage.bo.read()) == "CANNOT_SEND")
        #expect(!stage.ana.read().contains { $0.contains("[image]") })
        #expect(stage.script.images.files.isEmpty && stage.script.images.parts.isEmpty)
    }

    @Test("A disk that takes no data: told once, and RESUME goes on when there is room")
    func fullDisk() throws {
        let stage = try ImageStage()
        let id = try stage.ana.begin("IMG BEGIN #cats image/jpeg \(stage.picture.count)")
        stage.ana.data(id, stage.picture[..<600])
        stage.script.images.isFull = true
        stage.ana.send("IMG DATA \(id) 600 \(base64(stage.picture[600..<900]))")
        #expect(failure(stage.ana.read()) == "STORE_FULL")
        #expect(failure(stage.ana.ask("IMG DATA \(id) * AAAA")) == "STORE_FULL")
        #expect(failure(stage.ana.ask("IMG END \(id)")) == "STORE_FULL")
        stage.script.images.isFull = false
        #expect(stage.ana.ask("IMG RESUME \(id)").first?.contains(" IMG READY \(id) 600 ") == true)
        stage.ana.data(id, stage.picture[600...])
        stage.script.images.isFull = true
        #expect(failure(stage.ana.ask("IMG END \(id)")) == "STORE_FULL")
        stage.script.images.isFull = false
        #expect(stage.ana.ask("IMG END \(id)").contains { $0.contains(" IMG DONE ") })
    }

    @Test("A store that refuses the message: nobody hears it, and END may be said again")
    func refusedBatch() throws {
        let stage = try ImageStage()
        let id = try stage.ana.begin("IMG BEGIN #cats image/jpeg *")
        stage.ana.data(id, stage.picture)
        stage.script.isStoreFull = true
        #expect(failure(stage.ana.ask("IMG END \(id)")) == "STORE_FULL")
        #expect(stage.bo.read() == [] && stage.script.images.images.isEmpty && stage.script.images.files.isEmpty)
        #expect(failure(stage.ana.ask("IMG BEGIN #cats image/jpeg *")) == "STORE_FULL")
        stage.script.isStoreFull = false
        stage.script.apply(.storeRecovered)
        #expect(stage.script.images.images.isEmpty, "it is not written without its message")
        #expect(stage.ana.ask("IMG END \(id)").contains { $0.contains(" IMG DONE \(id) ") })
        #expect(stage.bo.read().count == 1)
    }

    @Test("A store that refuses the beginning")
    func refusedBeginning() throws {
        let stage = try ImageStage()
        stage.script.isStoreFull = true
        #expect(failure(stage.ana.ask("IMG BEGIN #cats image/jpeg *")) == "STORE_FULL")
        stage.script.isStoreFull = false
        stage.script.apply(.storeRecovered)
        #expect(stage.script.images.uploads.isEmpty)
        #expect(stage.ana.ask("IMG STATUS") == [":parley.test NOTE IMG END * :You are sending no pictures"])
    }

    @Test(
        "A check that dies, or cannot be made",
        arguments: [
            (ImageOutcome.broken("checking it failed"), "BAD_IMAGE"), (.tooLarge("pixels"), "TOO_LARGE"),
            (.failed(reason: "no process"), "INTERNAL_ERROR"),
        ])
    func outcomes(outcome: ImageOutcome, code: String) throws {
        let stage = try ImageStage()
        stage.script.images.outcome = outcome
        #expect(failure(try stage.ana.upload(stage.picture, to: "#cats")) == code)
        #expect(stage.script.images.parts.isEmpty == (code != "INTERNAL_ERROR"))
    }
}
