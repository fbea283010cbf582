import Foundation
import Bytes
import TestKit
import Testing

/// Pictures through the door: with netcat as a person, by the examples as a program, over restarts and kills.
@Suite struct DoorImageTests {
    private func id(_ output: String) throws -> String {
        let done = output.split(whereSeparator: \.isNewline).first { $0.contains(" IMG DONE ") }
        return String(try #require(done, "\(output)").split(separator: " ")[3])
    }

    private func checkStore(_ server: ServerProcess) throws {
        try server.terminate()
        let check = try Pipeline.run("\(ServerProcess.binary) check-store --config \(server.configurationPath)")
        #expect(check.status == 0 && check.output.hasSuffix(": fine\n"), "\(check.output)")
    }

    @Test("Pasted and fetched with netcat, in one line or in many", arguments: [76, 0])
    func netcat(width: Int) throws {
        let server = try ServerProcess()
        let nc = "nc -N 127.0.0.1 \(server.port())"
        let paste = try Pipeline.run(
            """
            (printf 'NICK ana\\nJOIN #cats\\nIMG PASTE #cats image/jpeg :sleepy\\n'; \
            base64 -w \(width) \(Fixture.path("camera.jpg")); printf '\\n.\\nPRIVMSG #cats :there\\nQUIT\\n') | \(nc)
            """)
        let id = try id(paste.output)
        let fetched = try Pipeline.run(
            """
            printf 'NICK bo\\nJOIN #cats\\nIMG GET \(id)\\nQUIT\\n' | \(nc) | tee all | tr -d '\\r' \
            | awk '/^IMG DATA/ {print $5}' | base64 -d > cat.jpg; cat all
            """, directory: server.directory)
        let lines = fetched.lines
        let shown = try #require(lines.firstIndex { $0.hasSuffix("[image] (image/jpeg, 2 KiB, 48x32) – sleepy") })
        #expect(lines[shown + 1].hasSuffix("there"), "what was said behind the dot comes behind the picture")
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: "\(server.directory)/cat.jpg")))
        #expect(bytes.count == 1715 && bytes.starts(with: [0xFF, 0xD8]) && bytes.suffix(2) == [0xFF, 0xD9])
        #expect(bytes.firstRange(of: Array("SecretCam".utf8)) == nil)
        try checkStore(server)
    }

    @Test("Every kind goes in and comes out, and what is none is refused")
    func kinds() throws {
        let server = try ServerProcess()
        let ana = try server.person("ana", in: "#cats")
        for name in Fixture.pictures {
            try ana.send("IMG PASTE #cats \(Fixture.type(name))")
            try ana.expect(" IMG READY ")
            try ana.send(Base64.encode(try Fixture.bytes(name)).string, ".")
            try ana.expect(" IMG DONE ")
        }
        try ana.send("IMG PASTE #cats image/png", Base64.encode(try Fixture.bytes("still.gif")).string, ".")
        try ana.expect("FAIL IMG TYPE_MISMATCH", "image/gif")
        try ana.send("IMG PASTE #cats image/png", Base64.encode(Array("hello world".utf8)).string, ".")
        try ana.expect("FAIL IMG BAD_IMAGE")
        try ana.send("IMG LIST #cats")
        #expect(try ana.lines(until: " NOTE IMG END ").count { $0.text.contains(" META ") } == Fixture.pictures.count)
        try checkStore(server)
    }

    @Test("The process that looks into pictures has no rights when it reads the first byte")
    func sandbox() throws {
        let ends = try #require(SocketPair())
        let worker = try ChildProcess(
            [ServerProcess.binary, "image-worker", "40"], input: ends.theirs, output: ends.theirs)
        close(ends.theirs)
        defer { close(ends.ours) }
        let status = { (try? String(contentsOfFile: "/proc/\(worker.pid)/status", encoding: .utf8)) ?? "" }
        let isLocked = Deadline.seconds(10).wait(every: 5) { status().contains("Seccomp:\t2") }
        #expect(isLocked && status().contains("NoNewPrivs:\t1"))
        let picture = try Fixture.bytes("lossy.webp")
        #expect(picture.withUnsafeBytes { write(ends.ours, $0.baseAddress, $0.count) } == picture.count)
        shutdown(ends.ours, Int32(SHUT_WR))
        #expect(worker.wait(.seconds(10)) == 0)
        var answer = [UInt8](repeating: 0, count: 4096)
        #expect(read(ends.ours, &answer, answer.count) > 1000)
        #expect(answer[0...1] == [0, 4] && answer[2] == 48 && answer[6] == 32)
    }

    @Test("The shell function of docs/examples sends and fetches, and goes on where it was")
    func shellExample() throws {
        let server = try ServerProcess()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/examples/img.sh").path
        let run = try Pipeline.run(
            """
            . \(script); IMG_SERVER='127.0.0.1 \(server.port())'
            id=$(img_send '#cats' \(Fixture.path("animated.gif")) 'my cats') && img_get '#cats' $id one.gif &&
            head -c 1000 one.gif > two.gif && img_get '#cats' $id two.gif && cmp one.gif two.gif && wc -c < two.gif
            ! img_send '#cats' \(Fixture.path("../Fuzz/run")) && ! img_get '#cats' i123456789abc none
            """, directory: server.directory)
        #expect(run.status == 0 && run.lines.contains("4108"), "\(run.output)")
        #expect(run.output.contains("FAIL IMG UNKNOWN_ID"))
    }

    @Test("The bot of docs/examples loses its connection while it sends and while it fetches; there is one picture")
    func botExample() throws {
        let server = try ServerProcess()
        try Data(Fixture.largePNG(300_000)).write(to: URL(fileURLWithPath: "\(server.directory)/big.png"))
        let watcher = try server.watcher("#cats")
        let bot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/examples/imgbot.py").path
        let call = "python3 \(bot) 127.0.0.1 \(server.port())"
        let run = try Pipeline.run(
            """
            export IMGBOT_TOKEN=token
            id=$(IMGBOT_DROP=100000 \(call) send '#cats' big.png 'a large cat') &&
            test $(\(call) send '#cats' big.png again) = $id &&
            IMGBOT_DROP=90000 \(call) get '#cats' $id copy.png && cmp big.png copy.png && echo same
            """, within: 60, directory: server.directory)
        #expect(run.status == 0 && run.output.contains("same"), "\(run.output)")
        #expect(run.lines.count { $0.contains("lost") } == 2, "\(run.output)")
        #expect(try watcher.messages().count { $0.hasPrefix("[image] big.png") } == 1)
        try checkStore(server)
    }

    @Test("Who sends without waiting is slowed and not cut, and who fetches a large picture still hears what is said")
    func flow() throws {
        let server = try ServerProcess()
        let picture = Fixture.largePNG(2_000_000)
        let ana = try server.person("ana", in: "#cats")
        try ana.send("IMG PASTE #cats image/png :large")
        try ana.send(Base64.encode(picture).bytes + Array("\n.\n".utf8), deadline: .seconds(60))
        let done = try ana.expect(" IMG DONE ", within: 60)
        let bo = try server.person("bo", in: "#cats")
        try bo.send("IMG GET \(done.parameters[1]) chunk=4500")
        try bo.expect("IMG DATA")
        try ana.send("PRIVMSG #cats :are you there?")
        let before = try bo.lines(until: "are you there?", within: 60)
        let rest = try bo.lines(until: "IMG EOF", within: 60)
        #expect(!rest.isEmpty && before.count < 440, "what is said does not wait for the end of the picture")
        var bytes: [UInt8] = []
        try bo.send("IMG GET \(done.parameters[1]) chunk=4500")
        for line in try bo.lines(until: "IMG EOF", within: 60)
        where line.command == "IMG" && line.parameters[0] == "DATA" {
            bytes += ByteString(line.parameters[3]).withView { Base64.decode($0) } ?? []
        }
        #expect(bytes == picture)
        try checkStore(server)
    }
}
