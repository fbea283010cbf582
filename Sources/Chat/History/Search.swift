import Bytes
import Wire

let searchCommand = Command(
    "SEARCH", minimum: 1, cost: 4000, source: "soju.im/search",
    help: [
        "SEARCH <words>",
        "SEARCH [in=<#channel|nick>;][from=<nick>;][after=<time>;][before=<time>;][limit=<count>;][text=<words>]",
        "Finds messages that have all these words, in your channels and direct messages: depl* finds deploy too,",
        "\"next week\" these words side by side. Times are 2026-11-30, 2026-11-30T21:40, or 2d: two days ago.",
        "Example: SEARCH in=#lobby;text=hello",
    ]
) { world, turn in world.search(turn) }

/// SEARCH on its way.
struct SearchRequest {
    var request: PageRequest
    /// What the places are called that were looked at.
    var names: [Conversation: ByteString]
    var isForward: Bool
}

/// What SEARCH was asked, before it is known who may read what.
private struct SearchTerms {
    var place: ByteString?
    var author = SearchQuestion.Author.anyone
    var text: ByteString = ""
    var after: Int64?
    var before: Int64?
    var limit: Int?
    /// What is no attribute, or has a wrong value.
    var wrong: ByteString?

    static let keys: [StaticString] = ["in", "from", "after", "before", "limit", "text"]

    /// Attributes are written as tags are. A text that does not begin with one is a text.
    init(_ given: ByteString, now: Int64) {
        let isText = given.withView { view in
            let key = view.prefix(view.firstIndex(of: 0x3D) ?? 0)
            return !SearchTerms.keys.contains { key.equalsIgnoringCase($0) }
        }
        if isText {
            text = given
            return
        }
        var failed: ByteString?
        var terms = self
        given.withView { view in
            Tags.each(view) { tag in
                let value = Tags.unescape(tag.rawValue)
                let isRight = value.withView { terms.take(tag.key, $0, now: now) }
                if !isRight, failed == nil { failed = "\(tag.key)=\(tag.rawValue)" }
            }
        }
        self = terms
        wrong = failed
    }

    private mutating func take(_ key: ByteView, _ value: ByteView, now: Int64) -> Bool {
        if key.equalsIgnoringCase("text") {
            add(value)
            return true
        }
        // Who types by hand writes the words behind it.
        let end = value.firstIndex(of: 0x20) ?? value.count
        add(value.dropFirst(end + 1))
        return take(key, word: value.prefix(end), now: now)
    }

    private mutating func take(_ key: ByteView, word: ByteView, now: Int64) -> Bool {
        if word.isEmpty { return false }
        if key.equalsIgnoringCase("in") {
            place = ByteString(word)
        } else if key.equalsIgnoringCase("from") {
            let uid = word.first == 0x3D ? UID(word.dropFirst()) : nil
            author = uid.map { .uid($0) } ?? .nick(ByteString(word))
        } else if key.equalsIgnoringCase("limit") {
            limit = word.decimal()
            return limit ?? 0 > 0
        } else if let time = Times.typed(word) ?? Times.duration(word).map({ now - $0 }) {
            if key.equalsIgnoringCase("after") { after = time } else { before = time }
            return SearchTerms.keys.contains { key.equalsIgnoringCase($0) }
        } else {
            return false
        }
        return true
    }

    private mutating func add(_ words: ByteView) {
        if words.isEmpty { return }
        text = text.isEmpty ? ByteString(words) : "\(text) \(words)"
    }
}

extension World {
    fileprivate mutating func search(_ turn: Turn) {
        let terms = SearchTerms(allText(turn), now: now.wall)
        if let wrong = terms.wrong {
            let known: ByteString = "in, from, after, before, limit and text, divided by ;"
            return fail(
                turn, "INVALID_PARAMS", "Known are \(known)", about: [wrong.withView { shown($0) }])
        }
        var found = SearchRequest(request: searchPage(turn), names: [:], isForward: terms.after != nil)
        var question = SearchQuestion(
            number: 0, text: terms.text, author: terms.author, times: 0 ... .max, isForward: terms.after != nil,
            limit: min(terms.limit ?? 50, settings.page), newest: lastPosition)
        let (after, before) = (terms.after ?? 0, terms.before ?? .max)
        question.times = after...max(after, before)
        // Nothing is between these.
        if before < after { question.newest = 0 }
        guard choosePlaces(turn, terms.place, &question, &found) else { return }
        guard admitsSearch(turn) else { return }
        found.request.label = deferLabel(turn.session)
        question.number = nextQuestion(.search(found))
        hold(turn.session, for: question.number)
        searchers[found.request.reader, default: 0] += 1
        effects.searches.append(question)
    }

    /// Parameters as one text: who types by hand forgets the colon.
    private func allText(_ turn: Turn) -> ByteString {
        var text = ByteString(turn[0])
        for i in 1..<max(1, turn.parameterCount) { text = "\(text) \(turn[i])" }
        return text
    }

    private func searchPage(_ turn: Turn) -> PageRequest {
        let own = Readable(conversation: .direct(users[turn.me].uid, users[turn.me].uid), name: users[turn.me].nick)
        var request = pageRequest(turn.session, turn.me, own, .asked)
        request.answerClient(isPlain: sessions[turn.session].isPlain)
        return request
    }

    /// Where to look: what history shows to who asks, and nothing else.
    private mutating func choosePlaces(
        _ turn: Turn, _ place: ByteString?, _ question: inout SearchQuestion, _ found: inout SearchRequest
    ) -> Bool {
        if let place {
            guard let target = place.withView({ readable($0, by: turn.me) }) else {
                let why: ByteString = "You are in no channel of this name, and nobody has this nick"
                fail(turn, "INVALID_PARAMS", why, about: [place.withView { shown($0) }])
                return false
            }
            question.places[target.conversation] = target.oldest
            found.names[target.conversation] = target.name
            return true
        }
        question.direct = users[turn.me].uid
        for channel in users[turn.me].channels {
            guard let target = readable(channel, by: turn.me) else { continue }
            question.places[target.conversation] = target.oldest
            found.names[target.conversation] = target.name
        }
        return true
    }

    private mutating func admitsSearch(_ turn: Turn) -> Bool {
        let limits = settings.limits
        let own = searchers[users[turn.me].uid] ?? 0
        if own < limits.searchesPerIdentity, searchers.count < limits.searches { return true }
        fail(turn, "RATE_LIMITED", "So many searches are under way; try again in a moment")
        return false
    }

    // MARK: The answer

    mutating func tell(_ page: HistoryPage, _ search: SearchRequest) {
        let reader = search.request.reader
        let left = (searchers[reader] ?? 1) - 1
        searchers[reader] = left > 0 ? left : nil
        guard sessions.contains(search.request.session) else { return }
        let start = effects.outbox.mark
        if let failure = page.failure {
            writeFailure(failure, search.request)
        } else {
            writeFound(page, search)
        }
        effects.outbox.answer(
            search.request.session, number: page.number, with: LineRef(start: start, end: effects.outbox.mark))
    }

    private mutating func writeFailure(_ failure: String, _ request: PageRequest) {
        let why: ByteString =
            failure == SearchQuestion.tooMuch
            ? "That takes too long; ask for more words, or by in=, after= and before=" : "The search could not be run"
        writeLine(
            request.label.isEmpty ? "" : "label=\(request.label)",
            StandardReplies.fail("SEARCH", "INTERNAL_ERROR", [], why))
    }

    private mutating func writeFound(_ page: HistoryPage, _ search: SearchRequest) {
        var request = search.request
        request.counterparts = page.counterparts
        var reference: ByteString = ""
        if request.form == .batch {
            reference = openBatch("soju.im/search", label: request.label)
        } else if !request.label.isEmpty {
            reference = openBatch("labeled-response", label: request.label)
        }
        let tags: ByteString = reference.isEmpty ? "" : "batch=\(reference)"
        let isReadable = request.form == .readable
        if isReadable { writeNotice(tags, request, "\(page.records.count) found") }
        for record in page.records {
            let name = search.names[record.conversation] ?? name(of: record.other(than: request.reader))
            write(record, request.with(record, name), batch: reference)
        }
        if isReadable, !page.isComplete, let end = search.isForward ? page.records.last : page.records.first {
            let further: ByteString =
                search.isForward
                ? "after=\(Times.serverTime(end.time + 1))" : "before=\(Times.serverTime(end.time - 1))"
            writeNotice(tags, request, "there is more: SEARCH \(further);text=<words>")
        }
        if !reference.isEmpty { writeLine("", "BATCH -\(reference)") }
    }
}
