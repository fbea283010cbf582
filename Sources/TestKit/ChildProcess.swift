import Glibc
import Synchronization

/// A process that a test started. It dies with the test process at the latest (see `Guardian`).
package final class ChildProcess: Sendable {
    package let pid: Int32
    private let status = Mutex<Int32?>(nil)

    /// `nil` descriptors are /dev/null. Descriptors given stay the caller's.
    package init(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil, input: Int32? = nil,
        output: Int32? = nil, errors: Int32? = nil
    ) throws {
        // What the test process has open stays its own: a pipe whose writing end lives on in a server never ends.
        for descriptor in Int32(3)..<4096 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, given) in [(Int32(0), input), (1, output), (2, errors)] {
            if let given {
                posix_spawn_file_actions_adddup2(&actions, given, target)
            } else {
                posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0)
            }
        }
        let arguments = (directory.map { ["env", "-C", $0] } ?? []) + arguments
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The test runner may block or ignore signals; the child starts with none of that.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var pid: Int32 = 0
        let result = Self.withStrings(arguments) { argv in
            Self.withStrings(Self.environment(adding: environment)) { envp in
                posix_spawnp(&pid, arguments[0], &actions, &attributes, argv, envp)
            }
        }
        guard result == 0 else { throw DoorError("\(arguments[0]): \(String(cString: strerror(result)))") }
        self.pid = pid
        Guardian.watch(pid)
    }

    deinit {
        if !hasEnded {
            kill(SIGKILL)
            _ = wait(.seconds(5))
        }
    }

    package func kill(_ signal: Int32) {
        // Under the lock: a pid that was waited for may be another process's by now.
        status.withLock { if $0 == nil { _ = Glibc.kill(pid, signal) } }
    }

    package var hasEnded: Bool { exitStatus != nil }

    /// The exit code, or 128 + signal as a shell tells it; nil while it runs.
    package var exitStatus: Int32? {
        status.withLock { status in
            if status == nil {
                var raw: Int32 = 0
                guard waitpid(pid, &raw, WNOHANG) == pid else { return nil }
                status = raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f)
                Guardian.forget(pid)
            }
            return status
        }
    }

    /// The exit status, or nil when the deadline came first.
    package func wait(_ deadline: Deadline) -> Int32? {
        _ = deadline.wait(every: 2) { hasEnded }
        return exitStatus
    }

    private static func environment(adding: [String: String]) -> [String] {
        var all: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            if adding[String(line.prefix { $0 != "=" })] == nil { all.append(line) }
            entry += 1
        }
        return all + adding.map { "\($0.key)=\($0.value)" }
    }

    private static func withStrings<R>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        var pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        return body(&pointers)
    }
}

/// Two ends of a stream, both closed on exec: no child may hold another's input or output open.
package struct SocketPair {
    package let ours: Int32
    package let theirs: Int32

    package init?() {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        (ours, theirs) = (ends[0], ends[1])
    }
}

/// A shell that outlives the test process by a moment, kills what it left running and removes its directories. A
/// parent-death signal would not do: Linux ties it to the thread that started the child, and those of a task pool come
/// and go.
enum Guardian {
    private static let script = """
        while read -r what which; do
          case $what in
            pid) pids="$pids $which";;
            forget) kept=; for p in $pids; do [ "$p" = "$which" ] || kept="$kept $p"; done; pids=$kept;;
            directory) directories="$directories $which";;
          esac
        done
        [ -z "$pids" ] || kill -9 $pids 2>/dev/null
        [ -z "$directories" ] || rm -rf $directories
        """

    private static let descriptor: Int32 = {
        guard let ends = SocketPair() else { return -1 }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends.theirs, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        // A group of its own: Ctrl-C in the terminal ends the tests, and then this does its work.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(script), nil]
        var pid: Int32 = 0
        posix_spawn(&pid, "/bin/sh", &actions, &attributes, &arguments, environ)
        close(ends.theirs)
        return ends.ours
    }()

    static func watch(_ pid: Int32) { tell("pid \(pid)") }
    static func forget(_ pid: Int32) { tell("forget \(pid)") }
    static func remove(directory: String) { tell("directory \(directory)") }

    private static func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}
