import Foundation
import Images
import Server
import TestKit
import Testing

/// Whatever the process does that looks into a picture, one picture is refused and no more.
@Suite struct ImageWorkerTests {
    private func check(_ script: String, size: Int64 = 1000, milliseconds: Int64 = 10_000) throws -> (
        ImageWorker.Verdict, [UInt8]
    ) {
        let path = "\(NSTemporaryDirectory())parley-worker-\(UUID().uuidString)"
        try "#!/bin/bash\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
        defer { unlink(path) }
        chmod(path, 0o700)
        let input = open(Fixture.path("rgb.png"), O_RDONLY | O_CLOEXEC)
        defer { close(input) }
        var taken: [UInt8] = []
        let worker = ImageWorker(program: path, milliseconds: milliseconds)
        func verdict() -> ImageWorker.Verdict {
            worker.check(input, size: size, megapixels: 40) {
                taken += $0
                return taken.count <= 500
            }
        }
        var said = verdict()
        // A process that another test is starting may have the script open for writing still.
        _ = Deadline.seconds(10).wait {
            if said == .none("Text file busy") { said = verdict() }
            return said != .none("Text file busy")
        }
        return (said, taken)
    }

    @Test("The server's own: a picture comes back clean")
    func clean() throws {
        let (verdict, taken) = try check("exec \(ServerProcess.binary) \"$@\"", size: 2000)
        let whole = try Fixture.bytes("rgb.png")
        // No more than 500 bytes were wanted.
        guard case .died = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(whole.starts(with: taken.prefix(8)) && taken.count > 500)
        let input = open(Fixture.path("grey.jpg"), O_RDONLY | O_CLOEXEC)
        defer { close(input) }
        var picture: [UInt8] = []
        let worker = ImageWorker(program: ServerProcess.binary)
        let answer = worker.check(input, size: 1000, megapixels: 40) {
            picture += $0
            return true
        }
        #expect(answer == .clean(.jpeg, width: 40, height: 40))
        #expect(picture.starts(with: [0xFF, 0xD8]) && picture.suffix(2) == [0xFF, 0xD9])
    }

    @Test(
        "It dies, says nothing, or says what makes no sense",
        arguments: [
            "kill -SEGV $$", "kill -9 $$", "exit 1", ":", "printf '\\7'", "printf '\\0\\2'",
            // A picture of another kind than it says, without size, or with another end than it should have.
            "printf '\\0\\2\\1\\0\\0\\0\\1\\0\\0\\0GIF89a'", "printf '\\0\\3\\0\\0\\0\\0\\1\\0\\0\\0GIF89a'",
            "printf '\\0\\3\\1\\0\\0\\0\\1\\0\\0\\0GIF89a'; exit 1", "printf '\\0\\11\\1\\0\\0\\0\\1\\0\\0\\0GIF89a'",
        ])
    func dies(script: String) throws {
        let (verdict, _) = try check("cat >/dev/null; \(script)")
        guard case .died = verdict else {
            Issue.record("\(verdict)")
            return
        }
    }

    @Test("It reads nothing of what it is given, or closes at once")
    func deaf() throws {
        #expect(try check("printf '\\2it is odd'").0 == .refused(.broken("it is odd")))
        guard case .died = try check("exec 0<&- 1>&-; exit 0").0 else {
            Issue.record("taken for an answer")
            return
        }
    }

    @Test("It says much more than it was told, or never comes to an end")
    func endless() throws {
        let started = Deadline.now()
        let scripts = ["exec yes", "printf '\\0\\3\\1\\0\\0\\0\\1\\0\\0\\0GIF89a'; exec yes", "exec sleep 60"]
        for script in scripts {
            guard case .died = try check(script, milliseconds: 500).0 else {
                Issue.record("\(script) was taken for an answer")
                continue
            }
        }
        #expect(Deadline.now() - started < 30_000)
    }

    @Test("Its reasons are words that can be shown, and not many")
    func words() throws {
        let (verdict, _) = try check("printf '\\2a\\r\\nQUIT\\1'; head -c 900 /dev/zero | tr '\\0' x")
        guard case .refused(.broken(let why)) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(why.hasPrefix("aQUITxxx") && why.count < 200)
        #expect(try check("printf '\\3too many'").0 == .refused(.tooLarge("too many")))
        #expect(try check("printf '\\1'").0 == .refused(.unknown))
        #expect(try check("printf '\\4'").0 == .none("it could not give up its rights"))
    }

    @Test("None can be started")
    func none() {
        let worker = ImageWorker(program: "/nowhere/parley")
        #expect(worker.check(0, size: 1, megapixels: 1) { _ in true } == .none("No such file or directory"))
    }

    @Test("It has a file, a pipe and nothing else; nothing of the server's environment")
    func nothingElse() throws {
        let (verdict, _) = try check("printf '\\2'; ls /proc/self/fd | tr '\\n' ' '; /usr/bin/env | grep -c TOKEN")
        guard case .refused(.broken(let why)) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        // The last one is the folder that ls reads.
        #expect(why.hasPrefix("0 1 2 3 ") && why.hasSuffix("0"), "\(why)")
    }
}
