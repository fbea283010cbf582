import Bytes
import Wire

/// An edit or redaction whose message is being looked for. The session's input waits for it, so that the commands of
/// one session change what the ones before have left.
struct ChangeRequest {
    enum Kind {
        case edit(text: ByteString)
        case redact(reason: ByteString)
    }

    var session: ConnectionID
    var user: UserID
    var command: StaticString
    var kind: Kind
    /// Both as they were given.
    var target: ByteString
    var reference: ByteString
    var label: ByteString = ""
}

/// Where a message that is to be changed was said.
struct ChangePlace {
    /// nil: between two people.
    var channel: ChannelID?
    var conversation: Conversation
    /// The channel, or the other one's nick.
    var name: ByteString
}

/// A change that a page still to come may have been read too early for.
struct LateChange {
    /// The last question asked by then.
    var question: Int64
    var change: LogRecord
}

extension World {
    /// By its id, or `*`: the newest that this user said there. Ids can be guessed: what is absent and what is not for
    /// this user to know are answered alike.
    mutating func lookForMessage(_ turn: Turn, _ kind: ChangeRequest.Kind) {
        lookForMessage(
            turn,
            ChangeRequest(
                session: turn.session, user: turn.me, command: turn.command, kind: kind, target: ByteString(turn[0]),
                reference: shown(turn[1])))
    }

    mutating func lookForMessage(_ turn: Turn, _ asked: ChangeRequest) {
        var request = asked
        guard let target = request.target.withView({ readable($0, by: turn.me) }) else { return refuseTarget(request) }
        if refuseWhileStoreFails(turn, target.name) { return }
        let isNewest = request.reference == "*"
        let position = request.reference.withView { MessageID.position($0) }
        guard isNewest || position != nil else { return refuseUnknown(request) }
        request.label = deferLabel(turn.session)
        sessions[turn.session].isWaiting = true
        var question = HistoryQuestion(
            number: nextQuestion(.changing(request)), conversation: target.conversation, selector: .latest(after: nil),
            limit: 100, oldest: target.oldest, newest: lastPosition)
        if let position, position > 0 {
            question.selector = .between(.position(position - 1), .position(position + 1))
            question.limit = 1
            question.kinds = RecordKinds(.tagmsg).union(.messages)
        } else {
            question.author = users[turn.me].uid
        }
        effects.pages.append(question)
    }

    mutating func found(_ page: HistoryPage, for request: ChangeRequest) {
        let session = request.session
        guard sessions.contains(session) else { return }
        stopWaiting(session)
        guard sessions[session].stage == .registered, sessions[session].user == request.user else { return }
        answer(session, label: request.label) { world in world.change(page, request) }
        endInputIfOver(session)
    }

    /// What was true when the message was asked for need not be so any more.
    private mutating func change(_ page: HistoryPage, _ request: ChangeRequest) {
        guard let target = request.target.withView({ readable($0, by: request.user) }) else {
            return refuseTarget(request)
        }
        if page.failure != nil {
            return refuse(request, "INTERNAL_ERROR", "The message could not be looked for now; try again in a while")
        }
        guard let record = page.records.last(where: { !$0.isRedacted }), record.conversation == target.conversation
        else { return refuseUnknown(request) }
        if isStoreFailing { return refuse(request, "STORE_FULL", refusalText) }
        let place = ChangePlace(
            channel: target.conversation.isDirect ? nil : target.name.withView { channel(named: $0) },
            conversation: target.conversation, name: target.name)
        switch request.kind {
        case .redact(let reason): redact(record, request, place, reason: reason)
        case .edit(let text): edit(record, request, place, text: text)
        }
    }

    // MARK: Carrying out

    /// Records the change; the line that tells it leaves when the record is stored, or never.
    mutating func change(
        _ record: LogRecord, _ kind: RecordKind, _ request: ChangeRequest, _ place: ChangePlace, text: ByteString,
        body: ByteString
    ) -> Outgoing {
        var line = outgoing(from: request.user, body)
        if let channel = place.channel {
            (line.position, line.time) = self.record(
                kind, by: request.user, in: channel, text, counterpart: record.position)
        } else {
            line.time = nextDirectTime(place.conversation)
            line.position = append(
                kind, by: request.user, place.conversation, line.time, "", text, counterpart: record.position)
        }
        line.refusal = refusable(request.session, request.command, place.name)
        if let change = effects.records.last, !pending.isEmpty {
            lateChanges[record.position] = LateChange(question: lastQuestion, change: change)
        }
        return line
    }

    /// Who hears of it besides the session that asked: those who know the capability, and those who do not.
    func audience(
        of request: ChangeRequest, _ place: ChangePlace, knowing capability: Capabilities
    ) -> (knowing: ContiguousArray<ConnectionID>, others: ContiguousArray<ConnectionID>) {
        var knowing: ContiguousArray<ConnectionID> = []
        var others: ContiguousArray<ConnectionID> = []
        for session in audience(of: place, request.user) where session != request.session {
            if capabilities[Int(session.index)].contains(capability) {
                knowing.append(session)
            } else {
                others.append(session)
            }
        }
        return (knowing, others)
    }

    private func audience(of place: ChangePlace, _ user: UserID) -> ContiguousArray<ConnectionID> {
        if let channel = place.channel { return channels[channel].audience }
        let own = users[user].uid.number
        let other = place.conversation.a == own ? place.conversation.b : place.conversation.a
        guard other != own, let other = identities[UID(number: other)] else { return users[user].sessions }
        return users[user].sessions + users[other].sessions
    }

    /// The session that asked hears that it is done, in a form that it knows.
    mutating func confirm(
        _ line: Outgoing, _ request: ChangeRequest, _ capability: Capabilities, _ note: ByteString
    ) {
        if capabilities[Int(request.session.index)].contains(capability) { return send(line, to: request.session) }
        var told = Outgoing(source: settings.serverName, time: line.time, body: "NOTE \(request.command) \(note)")
        told.refusal = line.refusal
        send(told, to: request.session)
    }

    func isOver(_ window: Int64, since record: LogRecord) -> Bool { window > 0 && now.wall - record.time > window }

    // MARK: Refusals

    private mutating func refuseTarget(_ request: ChangeRequest) {
        let given = request.target.withView { shown($0) }
        fail(
            request.session, "\(request.command)", "INVALID_TARGET", "You cannot change messages of \(given)",
            about: [given])
    }

    private mutating func refuseUnknown(_ request: ChangeRequest) {
        refuse(request, "UNKNOWN_MSGID", "This message does not exist or is too old")
    }

    mutating func refuse(
        _ request: ChangeRequest, _ code: StaticString, _ text: ByteString, about context: [ByteString] = []
    ) {
        let given = request.target.withView { shown($0) }
        fail(request.session, "\(request.command)", code, text, about: [given, request.reference] + context)
    }

    /// The author came too late; the window is told in seconds.
    mutating func refuseLate(_ request: ChangeRequest, _ code: StaticString, _ window: Int64, _ text: ByteString) {
        refuse(request, code, text, about: ["\(window / 1000)"])
    }

    // MARK: Pages under way

    /// What was changed after a page was asked for and told before it came: the page must not bring the old text back.
    mutating func brought(upToDate page: HistoryPage) -> HistoryPage {
        if lateChanges.isEmpty { return page }
        var page = page
        for (position, late) in lateChanges {
            if let at = page.records.firstIndex(where: { $0.position == position }) {
                page.records[at].take(late.change)
                page.counterparts[late.change.position] = late.change
            }
            page.counterparts[position]?.take(late.change)
        }
        let oldest = pending.keys.min() ?? .max
        lateChanges = lateChanges.filter { $0.value.question >= oldest }
        return page
    }
}
