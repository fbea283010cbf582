import Bytes
import Wire

/// A page of history on its way to a session: all that is needed to write it when the reader has answered, also when
/// the asker has left by then.
struct PageRequest {
    /// How the page is told.
    enum Form {
        /// A `chathistory` batch (IRCv3 chathistory).
        case batch
        /// The same lines without batch, for who asked by CHATHISTORY and does not know batches.
        case lines
        /// Ordinary lines with the time in the text, for people.
        case readable
        /// NOTICEs of the server: a bot that knows nothing of history must not take them for something said now.
        case notices
    }

    enum Purpose {
        /// What comes by itself with a JOIN.
        case join
        /// HISTORY, or CHATHISTORY typed by a person.
        case asked
        /// HISTORY from a time on, oldest first.
        case askedFrom(Int64)
        case chathistory(subcommand: ByteString)
        /// CHANGES, which then goes on from this position.
        case changes(upTo: Int64)
    }

    var session: ConnectionID
    var purpose: Purpose
    var form: Form
    /// As they were when the page was asked for.
    var capabilities: Capabilities
    var target: Readable
    /// Those of the page, as it comes.
    var counterparts: [Int64: LogRecord] = [:]
    /// The asker, to whom the others' direct messages were sent.
    var reader: UID
    var nick: ByteString
    /// Empty: none.
    var label: ByteString = ""
    /// The target in the spelling of who asked; empty: as it is called.
    var spelling: ByteString = ""
}

/// A conversation that somebody may read.
struct Readable {
    var conversation: Conversation
    /// The channel, or the other one's nick.
    var name: ByteString
    /// First position that may be read.
    var oldest: Int64 = 0
}

extension PageRequest {
    /// What the page may hold. Whatever its reader would not be shown must not take a place in it.
    var kinds: RecordKinds { isInPlace ? shownKinds.union(.changes) : shownKinds }

    /// A client that asks gets lines it can take for what they are, in a batch where it knows batches.
    mutating func answerClient(isPlain: Bool) {
        if capabilities.contains(.batch) { form = .batch } else if !isPlain { form = .lines }
    }

    /// Edits and redactions are told where they happened, not with their messages.
    var isInPlace: Bool { if case .changes = purpose { true } else { false } }

    private var shownKinds: RecordKinds {
        guard form == .batch || form == .lines, capabilities.contains(.eventPlayback) else { return .messages }
        var kinds = RecordKinds.all.subtracting(.changes)
        if !capabilities.contains(.messageTags) { kinds.remove(RecordKinds(.tagmsg)) }
        if !capabilities.contains(.setname) { kinds.remove(RecordKinds(.setname)) }
        if !capabilities.contains(.channelRename) { kinds.remove(RecordKinds(.rename)) }
        return kinds
    }
}

extension World {
    /// nil: there is none of that name, or it is not for this user to read; which of them is not told.
    func readable(_ target: ByteView, by user: UserID) -> Readable? {
        if target.first == 0x23 {
            return channel(named: target).flatMap { readable($0, by: user) }
        }
        return correspondent(target).map {
            Readable(conversation: .direct(users[user].uid, $0.uid), name: $0.name)
        }
    }

    func readable(_ channel: ChannelID, by user: UserID) -> Readable? {
        guard may(user, know: .history, of: channel) else { return nil }
        let joined = channels[channel].memberIndex(user).map { channels[channel].members[$0].joined } ?? .max
        return Readable(
            conversation: channels[channel].conversation, name: channels[channel].name,
            oldest: settings.historySinceJoin ? joined : 0)
    }

    /// Asks the reader. The page stands where it was asked for: what the session is told next waits behind it.
    mutating func ask(_ request: PageRequest, _ selector: PageSelector, limit: Int, upTo newest: Int64) {
        let number = nextQuestion(.page(request))
        hold(request.session, for: number)
        effects.pages.append(
            HistoryQuestion(
                number: number, conversation: request.target.conversation, selector: selector, limit: limit,
                kinds: request.kinds, oldest: request.target.oldest, newest: newest))
    }

    /// A page by command; its label goes with it.
    mutating func answerLater(_ turn: Turn, _ request: PageRequest, _ selector: PageSelector, limit: Int) {
        var request = request
        request.label = deferLabel(turn.session)
        ask(request, selector, limit: limit, upTo: lastPosition)
    }

    /// The label of a command that is answered later; empty: it has none.
    mutating func deferLabel(_ session: ConnectionID) -> ByteString {
        guard response.slot == session.index else { return "" }
        response.isDeferred = true
        return response.label
    }

    /// The reply slot is filled whatever came, or the session would hear nothing any more.
    mutating func answered(_ page: HistoryPage) {
        guard let question = pending.removeValue(forKey: page.number) else { return }
        if let failure = page.failure { note(.warning, "history not read: \(failure)") }
        let page = brought(upToDate: page)
        switch question {
        case .changing(let request): found(page, for: request)
        case .conversation(let number, let index): found(page, of: number, index)
        case .page(let request): tell(page, request)
        case .search(let search): tell(page, search)
        default: break
        }
    }

    private mutating func tell(_ page: HistoryPage, _ request: PageRequest) {
        guard sessions.contains(request.session) else { return }
        let line = write(page, for: request)
        effects.outbox.answer(request.session, number: page.number, with: line)
    }
}
