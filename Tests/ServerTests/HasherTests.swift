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

        func take(_ answer: Hasher.Answer) {
            if case .verified(let number, let outcome) = answer { outcomes.withLock { $0[number] = outcome } }
        }

        var all: [Int64: PasswordOutcome] { outcomes.withLock { $0 } }
    }

    @Test func answersWithTheQuestionsNumber() throws {
        let hash = ByteString(try #require(PasswordHash.make(Array("right".utf8))))
        let answers = Answers()
        let hasher = try Hasher(answer: answers.take)
        hasher.ask(.verify(PasswordQuestion(number: 7, password: "right", hash: hash)))
        hasher.ask(.verify(PasswordQuestion(number: 8, password: "wrong", hash: hash)))
        hasher.ask(.verify(PasswordQuestion(number: 9, password: "right", hash: "plain:right")))
        hasher.stop()
        #expect(answers.all == [7: .right, 8: .wrong, 9: .right])
    }

    /// The first answer is held back until all questions are asked, so the queue is as full as it gets.
    @Test func aFullQueueSaysBusyAtOnce() throws {
        let gate = Mutex(false)
        let answers = Answers()
        let hasher = try Hasher(capacity: 3) { answer in
            if case .verified(_, .right) = answer { _ = Deadline.seconds(20).wait { gate.withLock { $0 } } }
            answers.take(answer)
        }
        for number in 1...10 as ClosedRange<Int64> {
            hasher.ask(.verify(PasswordQuestion(number: number, password: "x", hash: "plain:x")))
        }
        let busy = answers.all.values.filter { $0 == .busy }.count
        gate.withLock { $0 = true }
        hasher.stop()
        #expect(busy == 6 || busy == 7, "three wait, and at most one more has been compared")
        #expect(answers.all.count == 10)
        #expect(answers.all.values.filter { $0 == .right }.count == 10 - busy)
    }

    /// What is kept of a password proves it by both ways, and two of the same password have nothing in common.
    @Test func derivesWhatIsKept() throws {
        let made = Mutex<[Credentials]>([])
        let hasher = try Hasher { answer in
            if case .derived(_, let credentials?) = answer { made.withLock { $0.append(credentials) } }
        }
        for number in 1...2 as ClosedRange<Int64> {
            hasher.ask(.derive(DerivationQuestion(number: number, password: "pässword")))
        }
        hasher.stop()
        let all = made.withLock { $0 }
        try #require(all.count == 2)
        #expect(all[0].hash != all[1].hash && all[0].scram != all[1].scram)
        #expect(ByteString("pässword").withView { PasswordHash.matches($0, all[0].hash) })
        let keys = try #require(ScramKeys(all[0].scram))
        #expect(keys.iterations == ScramKeys.iterations && keys.salt.count == 16)
        #expect(keys.storedKey.count == 32 && keys.serverKey.count == 32)
        #expect(!all[0].scram.string.contains("pässword"))
    }

    @Test func aBusyHasherDerivesNothing() throws {
        let answers = Mutex<[Hasher.Answer]>([])
        let hasher = try Hasher(capacity: 0) { answer in answers.withLock { $0.append(answer) } }
        hasher.ask(.derive(DerivationQuestion(number: 3, password: "x")))
        hasher.stop()
        #expect(answers.withLock { $0 } == [.derived(3, nil)])
    }

    @Test func thereIsRoomAgainAfterwards() throws {
        let answers = Answers()
        let hasher = try Hasher(capacity: 1, answer: answers.take)
        for number in 1...5 as ClosedRange<Int64> {
            hasher.ask(.verify(PasswordQuestion(number: number, password: "x", hash: "plain:x")))
            #expect(Deadline.seconds(20).wait { answers.all[number] != nil })
        }
        hasher.stop()
        #expect(answers.all.values.allSatisfy { $0 == .right })
    }
}
