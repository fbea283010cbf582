import Bytes
import Chat
import TestKit
import Testing

/// IMG BEGIN, DATA, END: what a program sends, and what everybody gets.
@Suite struct ImageUploadTests {
    private static let head = "[image] cat.jpg (image/jpeg, 2 KiB, 48x32)"

    @Test("A whole picture is one message to the members, and its author is told where it is")
    func upload() throws {
        let stage = try ImageStage()
        let answer = try stage.ana.upload(
            stage.picture, to: "#cats", details: "name=C:\\\\pets/cat.jpg;sha256=\(sha256(stage.picture)) :my cat")
        let done = try #require(answer.first { $0.contains(" IMG DONE ") }).split(separator: " ").map(String.init)
        let image = try #require(stage.script.images.images.first)
        let stored = try #require(stage.script.images.files[image.hash])
        #expect(done[0...4] == [":parley.test", "IMG", "DONE", ImageID.text(image.id).string, "#cats"])
        #expect(done[5...] == [MessageID.text(image.position).string, "\(stored.count)", image.hash.string])
        #expect(stage.bo.read() == [":ana!ana@host.test PRIVMSG #cats :\(Self.head) – my cat"])
        #expect(stored.firstRange(of: Array("SecretCam".utf8)) == nil)
        #expect(stage.script.images.parts.isEmpty && stage.script.images.uploads.isEmpty)
        #expect(stage.ana.ask("HISTORY #cats").contains { $0.contains("[image] cat.jpg") })
    }

    @Test("Who asked for the capability gets the tags, at once and from history; who knows tags alone does not")
    func tags() throws {
        let stage = try ImageStage()
        let knowing = stage.script.client("cy", capabilities: "parley.chat/img message-tags batch draft/chathistory")
        let plain = stage.script.client("dan", capabilities: "message-tags")
        for client in [knowing, plain] { _ = client.ask("JOIN #cats") }
        _ = try stage.ana.upload(stage.picture, to: "#cats")
        let image = try #require(stage.script.images.images.first)
        let tags =
            "parley.chat/img=\(ImageID.text(image.id));parley.chat/img-type=image/jpeg;parley.chat/img-size=\(image.size);parley.chat/img-dim=48x32;parley.chat/img-sha256=\(image.hash)"
        let msgid = MessageID.text(image.position)
        #expect(knowing.read().contains { $0.hasPrefix("@msgid=\(msgid);\(tags) :ana!") })
        #expect(plain.read().contains { $0.hasPrefix("@msgid=\(msgid) :ana!") })
        #expect(knowing.ask("CHATHISTORY LATEST #cats * 1").contains { $0.contains(";\(tags) :ana!") })
    }

    @Test("To one person, and to oneself")
    func direct() throws {
        let stage = try ImageStage()
        #expect(try stage.ana.upload(stage.picture, to: "bo", details: "-").contains { $0.contains(" IMG DONE ") })
        #expect(stage.bo.read() == [":ana!ana@host.test PRIVMSG bo :[image] (image/jpeg, 2 KiB, 48x32)"])
        #expect(try stage.ana.upload(stage.picture, to: "ana", details: "-").contains { $0.contains(" IMG DONE ") })
        #expect(stage.script.images.images.count == 2)
        #expect(stage.script.images.files.count == 1, "the same picture twice is one file")
    }

    @Test("Acknowledged each 16 KiB and at the end")
    func acknowledgements() throws {
        let stage = try ImageStage()
        stage.script.images.outcome = .broken("it is none")
        let id = try stage.ana.begin("IMG BEGIN #cats image/jpeg 50000")
        stage.ana.data(id, largeUpload[..<50_000], chunk: 4_500)
        let acknowledged = stage.ana.read().compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(acknowledged == [18_000, 36_000, 50_000])
        #expect(failure(stage.ana.ask("IMG END *")) == "BAD_IMAGE")
    }

    @Test("A sender that ignores the window is not read until the disk has what came, and is not cut")
    func window() throws {
        let stage = try ImageStage()
        let id = try stage.ana.begin("IMG BEGIN #cats image/jpeg *")
        stage.script.holdsImages = true
        var sent = 0
        while !stage.ana.isBlocked, sent < 200_000 {
            stage.ana.data(id, largeUpload[..<4_500], chunk: 4_500)
            sent += 4_500
        }
        #expect(sent > 65_536 && sent <= 65_536 + 4_500)
        stage.script.holdsImages = false
        stage.bo.send("PING x")
        #expect(!stage.ana.isBlocked)
        #expect(stage.script.images.parts.values.first?.count == sent)
    }

    @Test("After a drop it goes on where it was, from any connection of the identity")
    func resume() throws {
        let stage = try ImageStage()
        let token = try #require(stage.ana.ask("IDENTITY TOKEN").first?.split(separator: " ")[4])
        let id = try stage.ana.begin("IMG BEGIN #cats image/jpeg \(stage.picture.count) ref=one :cat")
        stage.ana.data(id, stage.picture[..<900])
        stage.ana.drop()
        let again = stage.script.connect()
        again.send("PASS guest:\(token)")
        again.send("NICK ana")
        _ = again.ask("JOIN #cats")
        #expect(again.ask("IMG STATUS").first?.hasPrefix(":parley.test IMG STATE \(id) open 900 1869 ") == true)
        let ready = again.ask("IMG RESUME \(id)")
        #expect(ready.first?.hasPrefix(":parley.test IMG READY \(id) 900 4500 65536 20") == true)
        #expect(failure(again.ask("IMG DATA \(id) 0 AAAA")) == "BAD_OFFSET")
        #expect(again.ask("IMG DATA \(id) 0 AAAA").first?.contains("BAD_OFFSET \(id) 900 :") == true)
        again.send("IMG DATA \(id) 900 \(base64(stage.picture[900...]))")
        #expect(again.ask("IMG END \(id)").contains { $0.contains(" IMG DONE \(id) #cats ") })
        #expect(again.ask("IMG STATUS \(id)") == [":parley.test IMG STATE \(id) done 1715 1715 *"])
        #expect(again.ask("IMG RESUME \(id)").first?.contains(" IMG DONE \(id) #cats ") == true)
    }

    @Test("The same ref is the same picture: while it comes in, and when the answer to END was lost")
    func reference() throws {
        let stage = try ImageStage()
        let line = "IMG BEGIN #cats image/jpeg \(stage.picture.count) ref=abc -"
        let id = try stage.ana.begin(line)
        stage.ana.data(id, stage.picture[..<300])
        let again = stage.ana.ask(line)
        #expect(again.first?.contains(" IMG READY \(id) 300 ") == true)
        stage.ana.data(id, stage.picture[300...])
        _ = stage.ana.ask("IMG END \(id)")
        #expect(stage.ana.ask(line).first?.contains(" IMG DONE \(id) #cats ") == true)
        #expect(stage.ana.ask("IMG BEGIN #cats image/jpeg * ref=abc").first?.contains(" IMG DONE \(id) ") == true)
        #expect(stage.bo.read().count == 1, "one message")
        #expect(try stage.bo.begin(line) != id, "another's mark is another's")
    }

    @Test("An upload to which nothing comes is removed, and its id is known for a while")
    func idle() throws {
        let stage = try ImageStage()
        let eve = stage.person("eve")
        let id = try eve.begin("IMG BEGIN #cats image/jpeg *")
        eve.data(id, stage.picture[..<300])
        stage.script.advance(59 * 60_000)
        eve.data(id, stage.picture[300..<600])
        stage.script.advance(59 * 60_000)
        #expect(stage.script.images.parts.count == 1)
        stage.script.advance(2 * 60_000)
        #expect(stage.script.images.parts.isEmpty && stage.script.images.uploads.isEmpty)
        #expect(eve.ask("IMG STATUS \(id)").first?.contains(" IMG STATE \(id) expired 600 0 ") == true)
        #expect(failure(eve.ask("IMG RESUME \(id)")) == "NOT_OPEN")
        stage.script.advance(62 * 60_000)
        #expect(failure(eve.ask("IMG RESUME \(id)")) == "UNKNOWN_ID")
    }

    @Test("ABORT leaves nothing")
    func abort() throws {
        let stage = try ImageStage()
        let id = try stage.ana.begin("IMG BEGIN #cats image/jpeg *")
        stage.ana.data(id, stage.picture)
        #expect(failure(stage.bo.ask("IMG ABORT \(id)")) == "UNKNOWN_ID")
        #expect(stage.ana.ask("IMG ABORT *") == [":parley.test IMG ABORTED \(id) :You aborted it; nothing is kept"])
        #expect(stage.script.images.parts.isEmpty && stage.script.images.uploads.isEmpty)
        #expect(failure(stage.ana.ask("IMG DATA \(id) * AAAA")) == "UNKNOWN_ID")
    }

    @Test("A photo: METADATA and WHOIS name it, anybody may have it, the next one takes its place")
    func portrait() throws {
        let stage = try ImageStage()
        let first = try stage.ana.upload(stage.picture, to: "*", details: "-")
        #expect(first.contains { $0.contains(" IMG DONE ") && $0.contains(" * * 1715 ") })
        let id = try #require(stage.script.images.images.first.map { ImageID.text($0.id).string })
        #expect(stage.bo.ask("METADATA ana GET avatar").contains { $0.hasSuffix(":parley:\(id)") })
        #expect(stage.bo.fetched(stage.bo.ask("IMG GET \(id)"))?.count == 1715)
        _ = try stage.ana.upload(try Fixture.bytes("rgb.png"), to: "*", type: "image/png", details: "-")
        #expect(stage.script.images.images.count == 1 && stage.script.images.files.count == 1)
        #expect(failure(stage.bo.ask("IMG GET \(id)")) == "UNKNOWN_ID")
        _ = stage.ana.ask("METADATA * SET avatar :https://example.org/ana.png")
        #expect(stage.script.images.images.isEmpty)
    }

    @Test("A label stands on the answer to END")
    func label() throws {
        let stage = try ImageStage(capabilities: "labeled-response batch message-tags")
        let id = try stage.ana.begin("IMG BEGIN #cats image/jpeg *")
        stage.ana.data(id, stage.picture)
        let answer = stage.ana.ask("@label=x IMG END \(id)")
        #expect(answer.count == 1 && answer[0].hasPrefix("@label=x"))
        #expect(answer[0].contains(" IMG DONE "))
    }

    @Test("EDIT gives the picture another caption, and IMG INFO tells it")
    func caption() throws {
        let stage = try ImageStage()
        _ = try stage.ana.upload(stage.picture, to: "#cats", details: "name=cat.jpg :my cat")
        let id = try #require(stage.script.images.images.first.map { ImageID.text($0.id).string })
        let info = try #require(stage.bo.ask("IMG INFO \(id)").first).split(separator: " ").map(String.init)
        let image = try #require(stage.script.images.images.first)
        #expect(info[2...5] == ["META", id, "image/jpeg", "1715"])
        #expect(info[6...8] == [image.hash.string, "48x32", "cat.jpg"])
        #expect(info[9...10] == [MessageID.text(image.position).string, image.uid.text.string])
        #expect(info.suffix(2) == [":my", "cat"])
        _ = stage.ana.ask("EDIT #cats * :his cat")
        #expect(stage.bo.read().last == ":ana!ana@host.test PRIVMSG #cats :[edited] \(Self.head) – his cat")
        #expect(stage.bo.ask("IMG INFO \(id)").first?.hasSuffix(" :his cat") == true)
    }
}
