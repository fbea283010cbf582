package import Chat

/// Answers questions about the past; owned by one thread, several may exist. Failures are in the answer.
package struct Reader: ~Copyable, Sendable {
    private let path: String
    private let tail: Tail
    /// nil: to be opened at the next question.
    private var history: History?

    init(path: String, tail: Tail) {
        self.path = path
        self.tail = tail
        history = nil
    }

    package mutating func page(_ question: HistoryQuestion) -> HistoryPage {
        do throws(SQLiteFailure) {
            try open()
            let slice = try history!.page(question, tail)
            var page = HistoryPage(
                number: question.number, records: slice.records, isComplete: slice.isComplete)
            page.counterparts = slice.counterparts
            return page
        } catch {
            close(after: error)
            return HistoryPage(number: question.number, records: [], isComplete: false, failure: error.description)
        }
    }

    /// Searches wait for each other, so they have a reader of their own.
    package mutating func search(_ question: SearchQuestion) -> HistoryPage {
        do throws(SQLiteFailure) {
            try open()
            let slice = try history!.search(question, budget: Self.searchBudget)
            var page = HistoryPage(number: question.number, records: slice.records, isComplete: slice.isComplete)
            page.counterparts = slice.counterparts
            return page
        } catch {
            close(after: error)
            return HistoryPage(number: question.number, records: [], isComplete: false, failure: error.description)
        }
    }

    /// Nanoseconds.
    private static let searchBudget: Int64 = 500_000_000

    package mutating func identity(_ question: IdentityQuestion) -> IdentityAnswer {
        do throws(SQLiteFailure) {
            try open()
            return try history!.identity(question)
        } catch {
            close(after: error)
            return IdentityAnswer(number: question.number, state: nil, members: [], failure: error.description)
        }
    }

    package mutating func direct(_ question: DirectQuestion) -> DirectAnswer {
        do throws(SQLiteFailure) {
            try open()
            return try history!.direct(question, tail)
        } catch {
            close(after: error)
            return DirectAnswer(number: question.number, records: [], isComplete: false, failure: error.description)
        }
    }

    package mutating func sent(_ question: SentQuestion) -> SentAnswer {
        do throws(SQLiteFailure) {
            try open()
            return try history!.sent(question)
        } catch {
            close(after: error)
            return SentAnswer(number: question.number, sent: [], failure: error.description)
        }
    }

    package mutating func receipts(_ question: ReceiptsQuestion) -> ReceiptsAnswer {
        do throws(SQLiteFailure) {
            try open()
            return try history!.receipts(question, tail)
        } catch {
            close(after: error)
            return ReceiptsAnswer(number: question.number, isFound: false, failure: error.description)
        }
    }

    package mutating func images(_ question: ImageQuestion) -> ImageAnswer {
        do throws(SQLiteFailure) {
            try open()
            return try history!.answer(question)
        } catch {
            close(after: error)
            var answer = ImageAnswer(number: question.number)
            answer.failure = error.description
            return answer
        }
    }

    private mutating func open() throws(SQLiteFailure) { if history == nil { history = try History.open(path: path) } }

    private mutating func close(after failure: SQLiteFailure) {
        if !failure.leavesConnectionUsable { history = nil }
    }
}
