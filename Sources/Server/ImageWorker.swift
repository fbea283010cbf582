import Bytes
import CSystem
import Glibc
package import Images
import Net

/// The server's side of checking a picture: a process of its own for each, because what strangers made is taken apart
/// there. Whatever becomes of it, one picture is refused and nothing else happens.
package struct ImageWorker: Sendable {
    package enum Verdict: Equatable, Sendable {
        case clean(ImageKind, width: Int, height: Int)
        case refused(ImageFault)
        /// It ended without a word, took too long, or made no sense.
        case died(String)
        /// None could be started.
        case none(String)
    }

    /// This program, also when its file has been replaced meanwhile.
    private let program: String
    private let milliseconds: Int64

    package init(program: String = "/proc/self/exe", milliseconds: Int64 = 15_000) {
        self.program = program
        self.milliseconds = milliseconds
    }

    /// Checks the file of `size` bytes that `input` is at the beginning of.
    /// - Parameter take: is given the clean picture piece by piece; false: no more is wanted.
    package func check(
        _ input: Int32, size: Int64, megapixels: Int, take: (UnsafeRawBufferPointer) -> Bool
    ) -> Verdict {
        guard let child = WorkerProcess(program, [ImageSandbox.verb, "\(megapixels)"], input: input) else {
            return .none(String(cString: strerror(errno)))
        }
        var answer = WorkerAnswer(limit: Int(size) + 1024)
        let isWhole = child.read(until: Clock.steady() + milliseconds) { answer.add($0, take: take) }
        let status = child.end(kill: !isWhole)
        return isWhole ? answer.verdict(status) : .died("status \(status)")
    }
}

/// What the worker says, as it comes. Nothing of it is believed further than it can be checked.
private struct WorkerAnswer {
    /// What stays is never much more than what came.
    let limit: Int
    private var head: [UInt8] = []
    /// The first bytes of the picture.
    private var beginning: [UInt8] = []
    private var count = 0

    init(limit: Int) { self.limit = limit }

    private var isClean: Bool { head.first == ImageSandbox.Answer.clean }

    /// False: it says too much, or no more is wanted.
    mutating func add(_ bytes: UnsafeRawBufferPointer, take: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        count += bytes.count
        if count > limit { return false }
        // The reason in words is shorter than this, the header of a picture exactly so long.
        let wanted = (head.first ?? bytes[0]) == ImageSandbox.Answer.clean ? ImageSandbox.headerBytes : 200
        let missing = min(bytes.count, max(0, wanted - head.count))
        head += bytes[..<missing]
        guard isClean, missing < bytes.count else { return true }
        let picture = UnsafeRawBufferPointer(rebasing: bytes[missing...])
        beginning += picture.prefix(max(0, 16 - beginning.count))
        return take(picture)
    }

    func verdict(_ status: Int32) -> ImageWorker.Verdict {
        let words = { String(decoding: head.dropFirst().filter { 0x20..<0x7F ~= $0 }, as: UTF8.self) }
        switch head.first {
        case ImageSandbox.Answer.clean where head.count == ImageSandbox.headerBytes && status == 0:
            func number(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(head[at + $1]) << (8 * $1) } }
            let begun = beginning.withUnsafeBytes { ImageKind(ByteView($0)) }
            guard let kind = ImageKind(rawValue: head[1]), begun == kind, number(2) > 0, number(6) > 0 else {
                return .died("its answer makes no sense")
            }
            return .clean(kind, width: number(2), height: number(6))
        case ImageSandbox.Answer.unknown: return .refused(.unknown)
        case ImageSandbox.Answer.broken: return .refused(.broken(words()))
        case ImageSandbox.Answer.tooLarge: return .refused(.tooLarge(words()))
        case ImageSandbox.Answer.open: return .none("it could not give up its rights")
        case nil: return .died("status \(status)")
        default: return .died("its answer makes no sense")
        }
    }
}

/// A child with a file to read and a pipe to answer by, and nothing else of ours.
private struct WorkerProcess {
    private let pid: pid_t
    private let output: Int32

    init?(_ program: String, _ arguments: [String], input: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var child: pid_t = 0
        let failure = posix_spawn(&child, program, &actions, &attributes, &words, &environment)
        guard failure == 0 else {
            close(ends[0])
            errno = failure
            return nil
        }
        (pid, output) = (child, ends[0])
    }

    /// To the end. False: that did not come in time, or `take` wants no more.
    func read(until deadline: Int64, take: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { chunk in
            while true {
                guard wait(output, POLLIN, until: deadline) else { return false }
                let count = Glibc.read(output, chunk.baseAddress, chunk.count)
                if count == 0 { return true }
                if count < 0, errno == EINTR { continue }
                guard count > 0, take(UnsafeRawBufferPointer(rebasing: chunk[..<count])) else { return false }
            }
        }
    }

    private func wait(_ descriptor: Int32, _ events: Int32, until deadline: Int64) -> Bool {
        while true {
            let left = deadline - Clock.steady()
            if left <= 0 { return false }
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let count = poll(&entry, 1, Int32(clamping: left))
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
    }

    /// The status as waitpid(2) gives it.
    func end(kill isKilled: Bool) -> Int32 {
        close(output)
        if isKilled { _ = Glibc.kill(pid, SIGKILL) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
