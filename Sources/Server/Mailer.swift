import Bytes
package import Chat
import CSystem
import Glibc
package import Net
import Synchronization

/// How mail leaves: a command that takes a message on its standard input, as sendmail does.
package struct MailSettings: Sendable {
    /// Program and arguments; empty: no mail is sent.
    package var command: [String]
    package var from: String
    /// The server's, for Message-ID.
    package var host: String

    package init(command: [String], from: String, host: String) {
        self.command = command
        self.from = from
        self.host = host
    }
}

/// Sends mail on a thread of its own, one after the other. At most `capacity` wait; further ones fail at once.
package final class Mailer: Sendable {
    private static let capacity = 100

    private enum Item: Sendable {
        case mail(Mail, MailSettings)
        case stop
    }

    private let mailbox: Mailbox<Item>
    private let state = State()
    private let answer: @Sendable (Int64, Bool) -> Void
    private let thread: ThreadHandle

    package init(answer: @escaping @Sendable (_ number: Int64, _ isSent: Bool) -> Void) throws(NetError) {
        let mailbox = try Mailbox<Item>()
        let state = state
        self.mailbox = mailbox
        self.answer = answer
        thread = startThread(name: "mailer") {
            while true {
                for item in mailbox.waitAndTakeAll() {
                    guard case .mail(let mail, let settings) = item else { return }
                    let isSent = Delivery.run(
                        settings.command, Letter.text(mail, settings, now: Clock.moment().wall / 1000), until: state)
                    state.waiting.subtract(1, ordering: .relaxed)
                    answer(mail.number, isSent)
                }
            }
        }
    }

    package func send(_ mail: Mail, _ settings: MailSettings) {
        if settings.command.isEmpty || state.waiting.add(1, ordering: .relaxed).newValue > Self.capacity {
            if !settings.command.isEmpty { state.waiting.subtract(1, ordering: .relaxed) }
            answer(mail.number, false)
        } else {
            mailbox.post(.mail(mail, settings))
        }
    }

    /// What was not sent by then is not sent any more. To be called once.
    package func stop() {
        state.isStopping.store(true, ordering: .relaxed)
        mailbox.post(.stop)
        thread.join()
    }

    fileprivate final class State: Sendable {
        let waiting = Atomic<Int>(0)
        let isStopping = Atomic<Bool>(false)
    }
}

/// One run of the command.
private enum Delivery {
    private static let patience: Int64 = 30_000

    /// Whether it took the message and ended well. What it prints goes nowhere: it may hold the message.
    static func run(_ command: [String], _ text: [UInt8], until state: Mailer.State) -> Bool {
        if state.isStopping.load(ordering: .relaxed) { return false }
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { return false }
        let child = spawn(command, input: ends[0])
        close(ends[0])
        // A pipe holds 64 KiB, more than any message of ours: this does not wait for the command.
        let isWritten = text.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) } == text.count
        close(ends[1])
        guard let child else { return false }
        return wait(for: child, state) && isWritten
    }

    private static func spawn(_ command: [String], input: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Our threads block all signals; the command starts with none blocked, in a group of its own that can be ended.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var words = command.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        return posix_spawnp(&child, command[0], &actions, &attributes, words, environ) == 0 ? child : nil
    }

    private static func wait(for child: pid_t, _ state: Mailer.State) -> Bool {
        let end = Clock.steady() + patience
        var status: Int32 = 0
        while waitpid(child, &status, WNOHANG) == 0 {
            if Clock.steady() > end || state.isStopping.load(ordering: .relaxed) {
                kill(-child, SIGKILL)
                waitpid(child, &status, 0)
                return false
            }
            usleep(20_000)
        }
        return status == 0
    }
}

/// A message in the form of RFC 5322.
package enum Letter {
    /// - Parameter now: seconds since 1970.
    package static func text(_ mail: Mail, _ settings: MailSettings, now: Int64) -> [UInt8] {
        let id = Hex.encode(Crypto.randomBytes(12))
        let head: [ByteString] = [
            "From: \(settings.from)", "To: \(mail.to)", "Subject: \(subject(mail.subject))", "Date: \(date(now))",
            "Message-ID: <\(id)@\(settings.host)>", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: 8bit", "Auto-Submitted: auto-generated", "",
        ]
        return (head + mail.text).flatMap { $0.bytes + [0x0A] }
    }

    /// RFC 2047 where it is not ASCII.
    private static func subject(_ text: ByteString) -> ByteString {
        text.bytes.allSatisfy { $0 < 0x80 } ? text : "=?utf-8?B?\(Base64.encode(text.bytes))?="
    }

    private static func date(_ now: Int64) -> String {
        var now = time_t(now)
        var parts = tm()
        gmtime_r(&now, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return "\(days[Int(parts.tm_wday)]), \(parts.tm_mday) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900) "
            + "\(clock) +0000"
    }
}
