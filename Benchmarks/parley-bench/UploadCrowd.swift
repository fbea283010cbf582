import Bytes
import CSystem
import Glibc
import Net
import Synchronization
import TestKit

/// Many who upload at once and never wait for an answer, again and again, in a thread that gives way to the others.
final class UploadCrowd: Sendable {
    private let server: ServerProcess
    private let count: Int
    private let isOver = Atomic(false)
    private let isReady = Atomic(false)
    private let bytes = Atomic(0)
    private let failure = Mutex<String?>(nil)

    init(_ count: Int, _ server: ServerProcess) throws {
        self.count = count
        self.server = server
    }

    /// How many bytes were sent while `body` ran.
    func during(_ body: () throws -> Void) throws -> Int {
        let thread = startThread(name: "crowd") { [self] in
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
            do { try upload() } catch { failure.withLock { $0 = "\(error)" } }
            isReady.store(true, ordering: .releasing)
        }
        _ = Deadline.seconds(60).wait { isReady.load(ordering: .acquiring) }
        let before = bytes.load(ordering: .relaxed)
        defer { thread.join() }
        do { try body() } catch {
            isOver.store(true, ordering: .relaxed)
            throw error
        }
        let sent = bytes.load(ordering: .relaxed) - before
        isOver.store(true, ordering: .relaxed)
        if let failure = failure.withLock({ $0 }) { throw DoorError(failure) }
        return sent
    }

    private struct Upload {
        var client: LineClient
        var text: [UInt8]
        var at = 0
    }

    private func upload() throws {
        var uploads: [Upload] = []
        for i in 0..<count {
            let client = try server.client("crowd\(i)")
            try client.join("#crowd")
            let text = Pictures.lines(try Pictures.make("jpeg", 1 << 20), "jpeg", "#crowd", chunk: 4500)
            uploads.append(Upload(client: client, text: text))
        }
        isReady.store(true, ordering: .releasing)
        var entries = uploads.map { pollfd(fd: $0.client.descriptor, events: Int16(POLLIN | POLLOUT), revents: 0) }
        while !isOver.load(ordering: .relaxed) {
            guard poll(&entries, nfds_t(entries.count), 100) > 0 else { continue }
            for i in entries.indices where entries[i].revents != 0 {
                if entries[i].revents & Int16(POLLOUT) != 0 { send(&uploads[i]) }
                guard uploads[i].client.receive() else { throw DoorError("an upload was cut") }
                for line in uploads[i].client.drain() where line.text.contains(" FAIL ") {
                    throw DoorError("refused: \(line.text)")
                }
            }
        }
    }

    private func send(_ upload: inout Upload) {
        let sent = upload.client.sendSome(upload.text[upload.at..<min(upload.text.count, upload.at + (64 << 10))])
        bytes.add(sent, ordering: .relaxed)
        upload.at += sent
        guard upload.at == upload.text.count else { return }
        upload.at = 0
        // Another picture: four characters in the middle of a line in the middle of it are others.
        let place = (upload.text.count / 2..<upload.text.count).first { upload.text[$0] == 0x0A }! + 1000
        for i in 0..<4 { upload.text[place + i] = UInt8.random(in: 0x41...0x5A) }
    }
}
