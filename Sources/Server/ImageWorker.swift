import Bytes
import CSystem
import Glibc
import Images
import Net

/// The server's side of checking a picture: a process of its own for each, because what strangers made is taken apart
/// there. Whatever becomes of it, one picture is refused and nothing else happens.
struct ImageWorker: Sendable {
    enum Verdict: Equatable {
        case clean(CleanImage)
        case refused(ImageFault)
        /// It ended without a word, or took too long.
        case died(String)
        /// None could be started.
        case none(String)
    }

    /// This program, also when its file has been replaced meanwhile.
    var program = "/proc/self/exe"
    var milliseconds: Int64 = 15_000

    func check(_ bytes: [UInt8], megapixels: Int) -> Verdict {
        guard let child = WorkerProcess(program, [ImageSandbox.verb, "\(megapixels)"]) else {
            return .none(String(cString: strerror(errno)))
        }
        let deadline = Clock.steady() + milliseconds
        let isTold = child.write(bytes, until: deadline)
        // What stays is never much more than what came.
        let answer = isTold ? child.read(atMost: bytes.count + 1024, until: deadline) : nil
        let status = child.end(kill: answer == nil)
        guard let answer, !answer.isEmpty else { return .died("status \(status)") }
        return verdict(answer, status)
    }

    /// Nothing that the worker says is believed further than it can be checked.
    private func verdict(_ answer: [UInt8], _ status: Int32) -> Verdict {
        let words = { String(decoding: answer.dropFirst().prefix(200).filter { 0x20..<0x7F ~= $0 }, as: UTF8.self) }
        switch answer[0] {
        case ImageSandbox.Answer.clean where answer.count > ImageSandbox.headerBytes && status == 0:
            func number(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(answer[at + $1]) << (8 * $1) } }
            let bytes = Array(answer[ImageSandbox.headerBytes...])
            let begun = bytes.withUnsafeBytes { ImageKind(ByteView($0)) }
            guard let kind = ImageKind(rawValue: answer[1]), begun == kind, number(2) > 0, number(6) > 0 else {
                return .died("its answer makes no sense")
            }
            return .clean(CleanImage(kind: kind, width: number(2), height: number(6), bytes: bytes))
        case ImageSandbox.Answer.unknown: return .refused(.unknown)
        case ImageSandbox.Answer.broken: return .refused(.broken(words()))
        case ImageSandbox.Answer.tooLarge: return .refused(.tooLarge(words()))
        case ImageSandbox.Answer.open: return .none("it could not give up its rights")
        default: return .died("its answer makes no sense")
        }
    }
}

/// A child with a pipe each way, and nothing else of ours.
private struct WorkerProcess {
    private let pid: pid_t
    private let input: Int32
    private let output: Int32

    init?(_ program: String, _ arguments: [String]) {
        guard let toChild = Self.pipe() else { return nil }
        guard let fromChild = Self.pipe() else {
            close(toChild.read)
            close(toChild.write)
            return nil
        }
        defer {
            close(toChild.read)
            close(fromChild.write)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild.read, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fromChild.write, STDOUT_FILENO)
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
            close(toChild.write)
            close(fromChild.read)
            errno = failure
            return nil
        }
        (pid, input, output) = (child, toChild.write, fromChild.read)
    }

    private static func pipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// All of it, then the end. False: it takes no more, or not in time.
    func write(_ bytes: [UInt8], until deadline: Int64) -> Bool {
        defer { close(input) }
        _ = fcntl(input, F_SETFL, O_NONBLOCK)
        var done = 0
        while done < bytes.count {
            guard wait(input, POLLOUT, until: deadline) else { return false }
            let count = bytes.withUnsafeBytes { Glibc.write(input, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno != EINTR, errno != EAGAIN { return false }
            done += max(0, count)
        }
        return true
    }

    /// To the end; nil: it is too much, or not in time.
    func read(atMost limit: Int, until deadline: Int64) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            guard wait(output, POLLIN, until: deadline) else { return nil }
            let count = Glibc.read(output, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0, errno != EINTR { return nil }
            bytes += chunk[..<max(0, count)]
        }
        return nil
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
