import Bytes
package import Chat
package import Net
import Synchronization

/// Checks passwords on a thread of its own: argon2id takes 33 ms and 19 MiB, far too long for the core's thread.
///
/// At most `capacity` questions wait; further ones are answered `busy` at once. `answer` gets the question's number, on
/// the hasher's thread or, for `busy`, on the asking one.
package final class Hasher: Sendable {
    /// About two seconds of work.
    package static let defaultCapacity = 64

    private enum Item: Sendable {
        case question(PasswordQuestion)
        case stop
    }

    private let capacity: Int
    private let waiting: Waiting
    private let mailbox: Mailbox<Item>
    private let answer: @Sendable (Int64, PasswordOutcome) -> Void
    private let thread: ThreadHandle

    package init(
        capacity: Int = Hasher.defaultCapacity, answer: @escaping @Sendable (Int64, PasswordOutcome) -> Void
    ) throws(NetError) {
        let mailbox = try Mailbox<Item>()
        let waiting = Waiting()
        self.capacity = capacity
        self.waiting = waiting
        self.mailbox = mailbox
        self.answer = answer
        thread = startThread(name: "hasher") { Self.work(mailbox, waiting, answer) }
    }

    package func ask(_ question: PasswordQuestion) {
        if waiting.count.add(1, ordering: .relaxed).newValue > capacity {
            waiting.count.subtract(1, ordering: .relaxed)
            answer(question.number, .busy)
        } else {
            mailbox.post(.question(question))
        }
    }

    /// What was asked before is answered first. To be called once, when nobody asks any more.
    package func stop() {
        mailbox.post(.stop)
        thread.join()
    }

    private static func work(
        _ mailbox: Mailbox<Item>, _ waiting: Waiting, _ answer: @Sendable (Int64, PasswordOutcome) -> Void
    ) {
        while true {
            for item in mailbox.waitAndTakeAll() {
                guard case .question(let question) = item else { return }
                let matches = question.password.withView { PasswordHash.matches($0, question.hash) }
                waiting.count.subtract(1, ordering: .relaxed)
                answer(question.number, matches ? .right : .wrong)
            }
        }
    }

    /// Questions that are not answered yet, the one in work included.
    private final class Waiting: Sendable {
        let count = Atomic<Int>(0)
    }
}
