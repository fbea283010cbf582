import Bytes
import Chat
import Server
import Synchronization
import TestKit
import Testing

@Suite struct PasswordHashTests {
    /// A test vector of the reference implementation: password, somesalt.
    static let foreign = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"

    @Test func matchesTheReferenceImplementationsHash() {
        #expect(matches("password", Self.foreign))
        #expect(!matches("Password", Self.foreign))
        #expect(!matches("", Self.foreign))
    }

    @Test func everyHashHasItsOwnSalt() throws {
        let password = Array("correct horse".utf8)
        let one = try #require(PasswordHash.make(password))
        let other = try #require(PasswordHash.make(password))
        #expect(one != other)
        #expect(PasswordHash.isWellFormed(one))
        #expect(matches("correct horse", one) && matches("correct horse", other))
    }

    @Test func plainPasswordsAreCompared() {
        #expect(matches("s3cret", "plain:s3cret"))
        #expect(!matches("s3cre", "plain:s3cret"))
        #expect(!matches("plain:s3cret", "plain:s3cret"))
    }

    @Test(arguments: [
        "", "s3cret", "$argon2id$",
        "$argon2i$v=19$m=256,t=2,p=1$c29tc2FsdHNvbWU$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        "$argon2id$v=16$m=256,t=2,p=1$c29tc2FsdHNvbWU$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        "$argon2id$v=19$m=99999999,t=2,p=1$c29tc2FsdHNvbWU$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        "$argon2id$v=19$m=256,t=200,p=1$c29tc2FsdHNvbWU$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        "$argon2id$v=19$m=256,t=2,p=1$c29t c2FsdHNv$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        "$argon2id$v=19$m=256,t=2,p=1$c29tc2FsdHNvbWU$nf65",
        "$argon2id$v=19$m=256,t=2,p=1$c29tc2FsdHNvbWU$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4$",
    ])
    func whatIsNoHashMatchesNothing(_ text: String) {
        #expect(!PasswordHash.isWellFormed(text))
        #expect(!matches(text, text))
        #expect(!matches("password", text))
    }
}

@Suite struct HasherTests {
    final class Answers: Sendable {
        private let outcomes = Mutex<[Int64: PasswordOutcome]>([:])

        func take(_ number: Int64, _ outcome: PasswordOutcome) { outcomes.withLock { $0[number] = outcome } }

        var all: [Int64: PasswordOutcome] { outcomes.withLock { $0 } }
    }

    @Test func answersWithTheQuestionsNumber() throws {
        let hash = ByteString(try #require(PasswordHash.make(Array("right".utf8))))
        let answers = Answers()
        let hasher = try Hasher(answer: answers.take)
        hasher.ask(PasswordQuestion(number: 7, password: "right", hash: hash))
        hasher.ask(PasswordQuestion(number: 8, password: "wrong", hash: hash))
        hasher.ask(PasswordQuestion(number: 9, password: "right", hash: "plain:right"))
        hasher.stop()
        #expect(answers.all == [7: .right, 8: .wrong, 9: .right])
    }

    /// The first answer is held back until all questions are asked, so the queue is as full as it gets.
    @Test func aFullQueueSaysBusyAtOnce() throws {
        let gate = Mutex(false)
        let answers = Answers()
        let hasher = try Hasher(capacity: 3) { number, outcome in
            if outcome != .busy { _ = Deadline.seconds(20).wait { gate.withLock { $0 } } }
            answers.take(number, outcome)
        }
        for number in 1...10 as ClosedRange<Int64> {
            hasher.ask(PasswordQuestion(number: number, password: "x", hash: "plain:x"))
        }
        let busy = answers.all.values.filter { $0 == .busy }.count
        gate.withLock { $0 = true }
        hasher.stop()
        #expect(busy == 6 || busy == 7, "three wait, and at most one more has been compared")
        #expect(answers.all.count == 10)
        #expect(answers.all.values.filter { $0 == .right }.count == 10 - busy)
    }

    @Test func thereIsRoomAgainAfterwards() throws {
        let answers = Answers()
        let hasher = try Hasher(capacity: 1, answer: answers.take)
        for number in 1...5 as ClosedRange<Int64> {
            hasher.ask(PasswordQuestion(number: number, password: "x", hash: "plain:x"))
            #expect(Deadline.seconds(20).wait { answers.all[number] != nil })
        }
        hasher.stop()
        #expect(answers.all.values.allSatisfy { $0 == .right })
    }
}
