import Chat
import Net

/// What the other threads answer the core.
enum Answer: Sendable {
    case journal(JournalOutcome)
    case page(HistoryPage)
    case direct(DirectAnswer)
    case sent(SentAnswer)
    case receipts(ReceiptsAnswer)
    case identity(IdentityAnswer)
    case hashed(Hasher.Answer)
    case mailed(number: Int64, isSent: Bool)
    case images(ImageAnswer)
    case image(ImageEvent)
}

enum JournalRequest: Sendable {
    case commit(JournalBatch)
    /// Rows of `image_garbage` whose files are removed.
    case forgetImageFiles([Int64])
    case retain(Retention)
    case stop
}

enum ReaderRequest: Sendable {
    case page(HistoryQuestion)
    case direct(DirectQuestion)
    case sent(SentQuestion)
    case receipts(ReceiptsQuestion)
    case identity(IdentityQuestion)
    case images(ImageQuestion)
    case stop
}

enum SearchRequest: Sendable {
    case search(SearchQuestion)
    case stop
}

enum ImageRequest: Sendable {
    case order(ImageOrder)
    case stop
}

/// The core's mailboxes to the threads around it.
struct CorePorts: Sendable {
    let answers: Mailbox<Answer>
    let journal: Mailbox<JournalRequest>
    let reader: Mailbox<ReaderRequest>
    let searcher: Mailbox<SearchRequest>
    let images: Mailbox<ImageRequest>
    let hash: @Sendable (Hasher.Question) -> Void
    let mail: @Sendable (Mail) -> Void
}
