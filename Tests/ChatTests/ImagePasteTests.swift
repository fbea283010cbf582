import Bytes
import Chat
import TestKit
import Testing

/// IMG PASTE: what a person with netcat does.
@Suite struct ImagePasteTests {
    private func stage(_ change: (inout Settings) -> Void = { _ in }) throws -> (
        WorldScript, ScriptClient, ScriptClient
    ) {
        let stage = try ImageStage(change)
        let person = stage.person("eve")
        _ = stage.bo.read()
        return (stage.script, person, stage.bo)
    }

    @Test("Lines of 76 characters and of any other length, then a dot", arguments: [4, 60, 75, 76, 77, 400])
    func lines(width: Int) throws {
        let (script, eve, bo) = try stage()
        let picture = try Fixture.bytes("camera.jpg")
        #expect(eve.ask("IMG PASTE #cats image/jpeg :sleepy").first?.contains(" IMG READY i") == true)
        eve.paste(picture, width: width)
        #expect(eve.ask(".").contains { $0.contains(" IMG DONE ") })
        #expect(bo.read() == [":eve!eve@host.test PRIVMSG #cats :[image] (image/jpeg, 2 KiB, 48x32) – sleepy"])
        #expect(script.images.images.count == 1)
    }

    @Test("One line of any length, in pieces")
    func oneLine() throws {
        let (script, eve, bo) = try stage()
        let text = base64(try Fixture.bytes("animated.gif"))
        _ = eve.ask("/IMG PASTE #cats image/gif")
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            ByteString(Array(rest.prefix(1000))).withView { script.apply(.fragment(eve.id, $0)) }
            rest = rest.dropFirst(1000)
        }
        #expect(eve.ask(".").contains { $0.contains(" IMG DONE ") })
        #expect(bo.read().last?.contains("[image] (image/gif, 4 KiB, 24x24)") == true)
    }

    @Test("What looks like a command is base64; with a space it is a command, and the paste goes on")
    func commandsBetween() throws {
        let (_, eve, bo) = try stage()
        let picture = try Fixture.bytes("camera.jpg")
        let text = base64(picture)
        #expect(text.hasPrefix("/9j/"))
        _ = eve.ask("IMG PASTE #cats image/jpeg")
        eve.send(String(text.prefix(76)))
        #expect(eve.ask("PING x").contains { $0.contains("PONG") })
        _ = eve.ask("PRIVMSG #cats :wait for it")
        #expect(bo.read() == [":eve!eve@host.test PRIVMSG #cats :wait for it"])
        eve.send(String(text.dropFirst(76)))
        #expect(eve.ask(".").contains { $0.contains(" IMG DONE ") })
        _ = eve.ask("quit now?")
        #expect(bo.read().last == ":eve!eve@host.test PRIVMSG #cats :quit now?", "after the dot lines are said again")
    }

    @Test(
        "A refused paste is ignored up to its dot: nothing of it is said",
        arguments: [
            ("IMG PASTE #cats image/svg+xml", "TYPE_NOT_ALLOWED"), ("IMG PASTE #dogs image/jpeg", "INVALID_TARGET"),
            ("IMG PASTE #cats", "NEED_MORE_PARAMS"), ("IMG PASTE #locked image/jpeg", "CANNOT_SEND"),
        ])
    func refused(line: String, code: String) throws {
        let (script, eve, bo) = try stage()
        let owner = script.client("owner")
        _ = owner.ask("JOIN #locked")
        #expect(failure(eve.ask(line)) == code)
        eve.paste(try Fixture.bytes("camera.jpg"))
        eve.send("QUIT")
        #expect(eve.ask(".") == [])
        #expect(bo.read() == [])
        #expect(script.images.parts.isEmpty && script.images.uploads.isEmpty)
        _ = eve.ask("hello all")
        #expect(bo.read().count == 1)
    }

    @Test("What is no base64 breaks it off, once, and the rest is ignored")
    func badBase64() throws {
        let (script, eve, bo) = try stage()
        let picture = try Fixture.bytes("camera.jpg")
        _ = eve.ask("IMG PASTE #cats image/jpeg")
        eve.paste(Array(picture[..<300]))
        #expect(failure(eve.ask("!!!!")) == "BAD_BASE64")
        eve.paste(picture)
        #expect(eve.ask(".") == [])
        #expect(bo.read() == [] && script.images.parts.isEmpty)
        _ = eve.ask("IMG PASTE #cats image/jpeg")
        eve.send("QUI")
        #expect(failure(eve.ask(".")) == "BAD_BASE64", "half a group")
    }

    @Test("ABORT, and another PASTE")
    func abort() throws {
        let (script, eve, _) = try stage()
        let first = try eve.begin("IMG PASTE #cats image/jpeg")
        eve.send("AAAA")
        #expect(eve.ask("abort").first?.contains(" IMG ABORTED \(first) :") == true)
        let second = try eve.begin("IMG PASTE #cats image/jpeg")
        let third = eve.ask("IMG PASTE #cats image/png")
        #expect(third.first?.contains(" IMG ABORTED \(second) :") == true)
        #expect(third.last?.contains(" IMG READY ") == true)
        let id = String(third.last!.split(separator: " ")[3])
        #expect(eve.ask("IMG ABORT \(id)").first?.contains("ABORTED") == true)
        #expect(script.images.uploads.isEmpty)
        _ = eve.ask("hello")
        #expect(script.log.last?.text == "hello", "nothing is pasted any more")
    }

    @Test("What comes first makes a guest")
    func guest() throws {
        let (script, _, bo) = try stage()
        let visitor = script.connect()
        visitor.send("JOIN #cats")
        _ = bo.read()
        visitor.send("IMG PASTE #cats image/png")
        visitor.paste(try Fixture.bytes("rgb.png"))
        #expect(visitor.ask(".").contains { $0.contains(" IMG DONE ") })
        #expect(bo.read().first?.hasPrefix(":guest-") == true)
    }

    @Test("When the input ends after the dot, the picture is told before the connection closes")
    func inputEnds() throws {
        let (script, eve, bo) = try stage()
        _ = eve.ask("IMG PASTE #cats image/jpeg")
        eve.paste(try Fixture.bytes("camera.jpg"))
        script.holdsImages = true
        eve.send(".")
        #expect(eve.isBlocked)
        script.apply(.inputEnded(eve.id))
        #expect(!eve.isClosed)
        script.holdsImages = false
        bo.send("PING x")
        #expect(eve.read().contains { $0.contains(" IMG DONE ") })
        #expect(eve.isClosed)
        #expect(bo.read().contains { $0.contains("[image]") })
    }
}
