import Bytes
import Chat
import TestKit
import Testing

/// IMG GET, STOP, INFO, LIST, DEL: who gets what, and that what is said comes first.
@Suite struct ImageGetTests {
    private func posted(_ change: (inout Settings) -> Void = { _ in }, _ target: String = "#cats") throws
        -> (ImageStage, id: String, bytes: [UInt8])
    {
        let stage = try ImageStage(change)
        _ = try stage.ana.upload(stage.picture, to: target)
        _ = stage.bo.read()
        let image = try #require(stage.script.images.images.first)
        return (stage, ImageID.text(image.id).string, stage.script.images.files[image.hash] ?? [])
    }

    @Test("The bytes come in lines of 351, or as many as were asked for")
    func bytes() throws {
        let (stage, id, bytes) = try posted()
        let lines = stage.bo.ask("IMG GET \(id)")
        #expect(stage.bo.fetched(lines) == bytes)
        #expect(lines.count == (bytes.count + 350) / 351 + 1)
        #expect(lines.allSatisfy { $0.utf8.count <= 510 })
        let image = try #require(stage.script.images.images.first)
        #expect(lines.last == "IMG EOF \(id) \(image.hash)")
        let large = stage.bo.ask("IMG GET \(id) chunk=4500")
        #expect(large.count == 2 && stage.bo.fetched(large) == bytes)
    }

    @Test("A part of them, to resume")
    func ranges() throws {
        let (stage, id, bytes) = try posted()
        #expect(stage.bo.fetched(stage.bo.ask("IMG GET \(id) 1000")) == Array(bytes[1000...]))
        #expect(stage.bo.fetched(stage.bo.ask("IMG GET \(id) 10 20 chunk=9")) == Array(bytes[10..<30]))
        #expect(stage.bo.fetched(stage.bo.ask("IMG GET \(id) 1700 9999")) == Array(bytes[1700...]))
        #expect(stage.bo.fetched(stage.bo.ask("IMG GET \(id) \(bytes.count)")) == [])
        #expect(
            stage.bo.ask("IMG GET \(id) \(bytes.count + 1)").first?.contains("BAD_OFFSET \(id) \(bytes.count) :")
                == true)
    }

    @Test("A picture waits for who reads slowly, what is said does not, and STOP stops it")
    func pace() throws {
        let stage = try ImageStage()
        _ = try stage.ana.upload(try Fixture.bytes("animated.gif"), to: "#cats", type: "image/gif")
        let id = try #require(stage.script.images.images.first.map { ImageID.text($0.id).string })
        stage.script.deaf = [stage.bo.id]
        _ = stage.bo.ask("IMG GET \(id) chunk=3")
        #expect(stage.bo.ask("PING x").contains { $0.contains("PONG") })
        #expect(stage.script.awaitingRoom == [stage.bo.id])
        #expect(stage.bo.ask("IMG STOP \(id)") == [":parley.test IMG ABORTED \(id) :You stopped it"])
        #expect(stage.script.awaitingRoom.isEmpty)
    }

    @Test("A piece at a time: what is said meanwhile waits for one at most")
    func pieces() throws {
        let (stage, id, bytes) = try posted { $0.images.piece = 600 }
        stage.script.holdsImages = true
        _ = stage.bo.ask("IMG GET \(id)")
        stage.ana.send("PRIVMSG #cats :first")
        stage.script.holdsImages = false
        stage.ana.send("PRIVMSG #cats :second")
        let lines = stage.bo.read()
        let said = try #require(lines.firstIndex { $0.hasSuffix(":first") })
        #expect(said == 0)
        #expect(stage.bo.fetched(lines) == bytes)
    }

    @Test("So many at a time, one after the other; more are not read")
    func many() throws {
        let (stage, id, bytes) = try posted()
        stage.script.deaf = [stage.bo.id]
        for _ in 0..<8 { stage.bo.send("IMG GET \(id)") }
        #expect(stage.bo.isBlocked)
        stage.script.deaf = []
        stage.ana.send("PING x")
        #expect(!stage.bo.isBlocked)
        let lines = stage.bo.read()
        #expect(lines.count { $0.hasPrefix("IMG EOF") } == 8)
        #expect(lines.count { $0.hasPrefix("IMG DATA") } == 8 * ((bytes.count + 350) / 351))
    }

    @Test("The end of the input, and a person's QUIT, wait for the picture")
    func quit() throws {
        let (stage, id, bytes) = try posted()
        let person = stage.person("eve")
        stage.script.deaf = [person.id]
        person.send("IMG GET \(id)")
        person.send("QUIT :done")
        #expect(!person.isClosed)
        stage.script.deaf = []
        stage.ana.send("PING x")
        #expect(person.isClosed)
        let lines = person.read()
        #expect(person.fetched(lines) == bytes && lines.last == "ERROR :Quit: done")

        stage.script.deaf = [stage.bo.id]
        stage.bo.send("IMG GET \(id)")
        stage.script.apply(.inputEnded(stage.bo.id))
        #expect(!stage.bo.isClosed)
        stage.script.deaf = []
        stage.ana.send("PING x")
        #expect(stage.bo.isClosed && stage.bo.fetched(stage.bo.read()) == bytes)
    }

    @Test("Who may read the message may have the picture, and nobody else; asked anew each time")
    func rights() throws {
        let (stage, id, bytes) = try posted()
        let cy = stage.script.client("cy")
        let unknown = cy.ask("IMG GET i123456789abc").first?.replacing("i123456789abc", with: id)
        for verb in ["GET", "INFO", "STATUS", "DEL", "RESUME"] {
            #expect(cy.ask("IMG \(verb) \(id)").first == unknown, "\(verb): absent and forbidden are alike")
        }
        _ = cy.ask("JOIN #cats")
        #expect(cy.fetched(cy.ask("IMG GET \(id)")) == bytes)
        _ = stage.ana.ask("MODE #cats +b cy!*@*")
        #expect(cy.ask("IMG GET \(id)").first == unknown)
        _ = stage.ana.ask("MODE #cats -b cy!*@*")
        _ = stage.ana.ask("KICK #cats cy")
        _ = cy.read()
        #expect(cy.ask("IMG GET \(id)").first == unknown)
    }

    @Test("What was sent to one person is for the two")
    func directRights() throws {
        let (stage, id, bytes) = try posted({ _ in }, "bo")
        #expect(stage.bo.fetched(stage.bo.ask("IMG GET \(id)")) == bytes)
        #expect(stage.ana.fetched(stage.ana.ask("IMG GET \(id)")) == bytes)
        #expect(failure(stage.script.client("cy").ask("IMG GET \(id)")) == "UNKNOWN_ID")
    }

    @Test("Where history is since one joined, so are pictures")
    func sinceJoin() throws {
        let (stage, id, _) = try posted { $0.historySinceJoin = true }
        #expect(stage.bo.fetched(stage.bo.ask("IMG GET \(id)")) != nil)
        let cy = stage.script.client("cy")
        _ = cy.ask("JOIN #cats")
        #expect(failure(cy.ask("IMG GET \(id)")) == "UNKNOWN_ID")
        #expect(cy.ask("IMG LIST #cats") == [":parley.test NOTE IMG END #cats :These are all"])
    }

    @Test("LIST is newest first, with a cursor for the rest")
    func list() throws {
        let stage = try ImageStage(capabilities: "batch")
        for name in ["one", "two", "three"] {
            _ = try stage.ana.upload(stage.picture, to: "#cats", details: "name=\(name).jpg :\(name)")
        }
        _ = stage.bo.read()
        let first = stage.bo.ask("IMG LIST #cats * 2")
        #expect(first.count == 3)
        #expect(first[0].hasSuffix(" :three") && first[1].hasSuffix(" :two"))
        let cursor = try #require(first[2].split(separator: " ").dropFirst(5).first)
        #expect(first[2] == ":parley.test NOTE IMG END #cats \(cursor) :There are more before")
        let rest = stage.bo.ask("IMG LIST #cats \(cursor)")
        #expect(rest.count == 2 && rest[0].hasSuffix(" :one"))
        let batched = stage.ana.ask("IMG LIST #cats")
        #expect(batched.first?.contains(" BATCH +") == true && batched.last?.contains(" BATCH -") == true)
        #expect(batched[1...4].allSatisfy { $0.hasPrefix("@batch=") })
    }

    @Test("DEL is the author's; with the picture goes the message")
    func delete() throws {
        let (stage, id, _) = try posted()
        #expect(failure(stage.bo.ask("IMG DEL \(id)")) == "FORBIDDEN")
        #expect(stage.ana.ask("IMG DEL \(id)").first?.contains(" NOTE IMG DELETED #cats ") == true)
        #expect(stage.script.images.images.isEmpty && stage.script.images.files.isEmpty)
        #expect(failure(stage.bo.ask("IMG GET \(id)")) == "UNKNOWN_ID")
        #expect(!stage.bo.ask("HISTORY #cats").contains { $0.contains("[image]") })
    }

    @Test("REDACT by an operator takes the picture too; the same file of another message stays")
    func redact() throws {
        let (stage, id, bytes) = try posted()
        _ = try stage.bo.upload(stage.picture, to: "#cats")
        let other = try #require(stage.script.images.images.last)
        _ = stage.ana.ask("REDACT #cats \(MessageID.text(other.position))")
        #expect(stage.script.images.images.count == 1 && stage.script.images.files.count == 1)
        #expect(stage.bo.fetched(stage.bo.ask("IMG GET \(id)")) == bytes)
        _ = stage.ana.ask("REDACT #cats *")
        #expect(stage.script.images.files.isEmpty)
    }

    @Test("The limits are told")
    func limits() throws {
        let stage = try ImageStage()
        let token =
            "parley.chat/IMG=max:5242880,max-account:20971520,chunk:4500,window:65536,types:image/jpeg|image/png|image/gif|image/webp"
        #expect(stage.ana.ask("ISUPPORT").contains { $0.contains(" \(token) ") })
    }
}
