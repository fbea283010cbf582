import Bytes
import Wire

let conversationsCommand = Command(
    "CONVERSATIONS", cost: 3000, source: "docs/PROTOCOL.md, Messages and history",
    help: [
        "CONVERSATIONS [timestamp=<time>|msgid=<id>] [limit]",
        "Your channels and whom you talk with, the newest first: with whom, the last message, how many are unread.",
        "A time or msgid gives what is older.", "Example: CONVERSATIONS",
    ]
) { world, turn in world.conversations(turn) }

/// CONVERSATIONS on its way: first the heads of the direct conversations are asked for, then a page of each that is to
/// be told.
struct Overview {
    struct Entry {
        var target: Readable
        /// nil: a channel.
        var uid: UID?
        /// Of the newest message.
        var mark: MessageMark
        var records: [LogRecord] = []
        var counterparts: [Int64: LogRecord] = [:]
    }

    /// The reply slot that the answer fills.
    var number: Int64
    var session: ConnectionID
    var reader: UID
    var capabilities: Capabilities
    var label: ByteString
    var limit: Int
    /// Only what is older.
    var before: PageReference
    var entries: [Entry] = []
    var isComplete = true
    /// Pages that have not come yet.
    var awaited = 0
    var hasFailed = false

    func isOlder(_ mark: MessageMark) -> Bool {
        switch before {
        case .position(let position): mark.position < position
        case .time(let time): mark.time < time
        }
    }
}

extension World {
    /// Unread messages are counted up to this.
    static let mostUnread = 100

    fileprivate mutating func conversations(_ turn: Turn) {
        var (before, place) = (PageReference.time(.max), 0)
        if let word = turn.parameter(0), word.contains(0x3D) {
            guard let reference = reference(word) else {
                return fail(
                    turn, "INVALID_PARAMS", "What is older is asked for by timestamp=<time> or msgid=<id>",
                    about: [shown(word)])
            }
            (before, place) = (reference, 1)
        }
        let given = turn.parameter(place)
        let limit = given.map { $0.decimal() ?? 0 } ?? min(50, settings.page)
        guard limit > 0 else {
            return fail(
                turn, "INVALID_PARAMS", "The limit is a number from 1 to \(settings.page)",
                about: [shown(given ?? .empty, atMost: 32)])
        }
        var request = Overview(
            number: 0, session: turn.session, reader: users[turn.me].uid,
            capabilities: capabilities[Int(turn.session.index)], label: deferLabel(turn.session),
            limit: min(limit, settings.page), before: before)
        request.entries = channelEntries(turn.me).filter { request.isOlder($0.mark) }
        let number = nextQuestion(.conversations(request))
        hold(turn.session, for: number)
        var question = DirectQuestion(
            number: number, uid: request.reader, wanted: .heads(from: .max, to: 0), limit: 10_000,
            newest: lastPosition)
        if case .time(let time) = before {
            question.wanted = .heads(from: time, to: 0)
            question.limit = request.limit + 1
        }
        effects.directs.append(question)
    }

    private func channelEntries(_ user: UserID) -> [Overview.Entry] {
        var entries: [Overview.Entry] = []
        for channel in users[user].channels {
            guard let target = readable(channel, by: user), let newest = newestKept(channel),
                newest.position >= target.oldest
            else { continue }
            entries.append(Overview.Entry(target: target, mark: newest))
        }
        return entries
    }

    /// The heads came: a page of each conversation that will be told is asked for.
    mutating func chooseConversations(_ answer: DirectAnswer, _ request: Overview) {
        var request = request
        request.number = answer.number
        for head in answer.records {
            let other = head.other(than: request.reader)
            let mark = MessageMark(position: head.position, time: head.time)
            if !request.isOlder(mark) { continue }
            let target = Readable(conversation: head.conversation, name: name(of: other))
            request.entries.append(Overview.Entry(target: target, uid: other, mark: mark))
        }
        request.entries.sort { $0.mark.position > $1.mark.position }
        request.isComplete = answer.isComplete && request.entries.count <= request.limit
        request.entries = Array(request.entries.prefix(request.limit))
        request.hasFailed = answer.failure != nil
        if request.hasFailed || request.entries.isEmpty { return tellConversations(request) }
        request.awaited = request.entries.count
        overviews[request.number] = request
        for (index, entry) in request.entries.enumerated() {
            effects.pages.append(
                HistoryQuestion(
                    number: nextQuestion(.conversation(of: request.number, index)),
                    conversation: entry.target.conversation, selector: .latest(after: nil), limit: World.mostUnread,
                    oldest: entry.target.oldest, newest: entry.mark.position))
        }
    }

    mutating func found(_ page: HistoryPage, of number: Int64, _ index: Int) {
        overviews[number]?.entries[index].records = page.records
        overviews[number]?.entries[index].counterparts = page.counterparts
        overviews[number]?.awaited -= 1
        if page.failure != nil { overviews[number]?.hasFailed = true }
        guard let request = overviews[number], request.awaited == 0 else { return }
        overviews[number] = nil
        tellConversations(request)
    }

    private mutating func tellConversations(_ request: Overview) {
        guard sessions.contains(request.session) else { return }
        let start = effects.outbox.mark
        if request.hasFailed {
            writeLine(
                request.label.isEmpty ? "" : "label=\(request.label)",
                StandardReplies.fail(
                    "CONVERSATIONS", "INTERNAL_ERROR", [], "The conversations could not be read now"))
        } else {
            writeConversations(request)
        }
        effects.outbox.answer(
            request.session, number: request.number, with: LineRef(start: start, end: effects.outbox.mark))
    }

    private mutating func writeConversations(_ request: Overview) {
        var tags: ByteString = ""
        var reference: ByteString = ""
        if request.capabilities.contains(.batch) {
            reference = openBatch("parley.chat/conversations", label: request.label)
            tags = "batch=\(reference)"
        }
        let marks = identities[request.reader].map { users[$0].readMarks } ?? [:]
        for entry in request.entries {
            guard let last = entry.records.last else { continue }
            let read = marks[entry.target.conversation] ?? 0
            let unread = entry.records.count { $0.time > read && $0.uid != request.reader }
            let uid: ByteString = entry.uid?.text ?? "-"
            let time = Times.serverTime(last.time)
            let head: ByteString = "CONVERSATION \(entry.target.name) \(uid) \(MessageID.text(last.position)) \(time)"
            writeLine(tags, "\(head) \(unread) :\(preview(last, entry.counterparts[last.counterpart]))")
        }
        let more = request.isComplete ? nil : request.entries.last
        let context: [ByteString] = more.map { ["*", "timestamp=\(Times.serverTime($0.mark.time))"] } ?? ["*"]
        let text: StaticString = request.isComplete ? "That is all" : "There is more: CONVERSATIONS and this time"
        writeLine(tags, StandardReplies.note("CONVERSATIONS", "END", context, "\(text)"))
        if !reference.isEmpty { writeLine("", "BATCH -\(reference)") }
    }

    /// The beginning of its first line, in words that a person can read.
    private func preview(_ record: LogRecord, _ change: LogRecord?) -> ByteString {
        if record.isRedacted { return describe(change) }
        let said = Said(record)
        let line = said.text.withView { text in
            let first = text.prefix(text.firstIndex(of: 0x0A) ?? text.count)
            return ByteString(first.prefix(UTF8Check.scalarBoundary(first, atMost: 120)))
        }
        return said.isAction ? "* \(said.nick) \(line)" : line
    }
}
