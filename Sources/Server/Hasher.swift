import Bytes
package import Chat
import Glibc
package import Net
import Synchronization

/// Checks and hashes passwords on a thread of its own: argon2id takes 33 ms and 19 MiB, PBKDF2 for SCRAM as long, far
/// too long for the core's thread.
///
/// At most `capacity` questions wait; further ones are answered as busy at once. `answer` is called on the hasher's
/// thread or, for busy, on the asking one.
package final class Hasher: Sendable {
    package enum Question: Sendable {
        case verify(PasswordQuestion)
        case derive(DerivationQuestion)

        package var isOperators: Bool {
            switch self {
            case .verify(let question): question.isOperators
            case .derive(let question): question.isOperators
            }
        }
    }

    package enum Answer: Sendable, Equatable {
        case verified(Int64, PasswordOutcome)
        /// nil: busy.
        case derived(Int64, Credentials?)
    }

    /// About two seconds of work.
    package static let defaultCapacity = 64

    private enum Item: Sendable {
        case question(Question)
        case stop
    }

    private let capacity: Int
    private let waiting: Waiting
    private let mailbox: Mailbox<Item>
    private let answer: @Sendable (Answer) -> Void
    private let thread: ThreadHandle

    package init(
        capacity: Int = Hasher.defaultCapacity, answer: @escaping @Sendable (Answer) -> Void
    ) throws(NetError) {
        let mailbox = try Mailbox<Item>()
        let waiting = Waiting()
        self.capacity = capacity
        self.waiting = waiting
        self.mailbox = mailbox
        self.answer = answer
        thread = startThread(name: "hasher") { Self.work(mailbox, waiting, answer) }
    }

    package func ask(_ question: Question) {
        if waiting.count.add(1, ordering: .relaxed).newValue > capacity {
            waiting.count.subtract(1, ordering: .relaxed)
            answer(question.busy)
        } else {
            mailbox.post(.question(question))
        }
    }

    /// What was asked before is answered first. To be called once, when nobody asks any more.
    package func stop() {
        mailbox.post(.stop)
        thread.join()
    }

    private static func work(_ mailbox: Mailbox<Item>, _ waiting: Waiting, _ answer: @Sendable (Answer) -> Void) {
        // Chat does not wait for it where processors are few. On Linux the priority is the thread's own.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        while true {
            for item in mailbox.waitAndTakeAll() {
                guard case .question(let question) = item else { return }
                let result = question.worked
                waiting.count.subtract(1, ordering: .relaxed)
                answer(result)
            }
        }
    }

    /// Questions that are not answered yet, the one in work included.
    private final class Waiting: Sendable {
        let count = Atomic<Int>(0)
    }
}

/// Operators and gateways have one for themselves, so that a flood of logins keeps none of them out.
package struct Hashers: Sendable {
    private let everybodys: Hasher
    private let operators: Hasher

    package init(answer: @escaping @Sendable (Hasher.Answer) -> Void) throws(NetError) {
        everybodys = try Hasher(answer: answer)
        operators = try Hasher(capacity: 8, answer: answer)
    }

    package func ask(_ question: Hasher.Question) { (question.isOperators ? operators : everybodys).ask(question) }

    package func stop() {
        everybodys.stop()
        operators.stop()
    }
}

extension Hasher.Question {
    fileprivate var busy: Hasher.Answer {
        switch self {
        case .verify(let question): .verified(question.number, .busy)
        case .derive(let question): .derived(question.number, nil)
        }
    }

    fileprivate var worked: Hasher.Answer {
        switch self {
        case .verify(let question):
            let matches = question.password.withView { PasswordHash.matches($0, question.hash) }
            return .verified(question.number, matches ? .right : .wrong)
        case .derive(let question): return .derived(question.number, PasswordHash.credentials(question.password.bytes))
        }
    }
}
