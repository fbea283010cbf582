import Bytes
import Wire

/// A message that its author may have sent before (`parley.chat/cid`), while the store is asked; the session's input
/// waits, so that messages keep their order.
struct OnceRequest {
    var session: ConnectionID
    var user: UserID
    var command: StaticString
    var utterance: Utterance
    var targets: ByteString
    var label: ByteString
}

/// What an author calls a message, of which each conversation has one.
struct SendKey: Hashable {
    var uid: UID
    var cid: ByteString
    var conversation: Conversation
}

/// A message that an answer still to come may have been read too early for.
struct LateSend {
    /// The last question asked by then.
    var question: Int64
    var message: SentMessage
}

extension World {
    static let cidLength = 64
    /// Milliseconds for which a message is known by its author's name for it.
    static let cidLife: Int64 = 86_400_000

    /// What the author calls the message; empty: nothing. nil: it was refused.
    mutating func cid(_ turn: Turn) -> ByteString? {
        guard !turn.message.tags.isEmpty, capabilities[Int(turn.session.index)].contains(.idempotent),
            let value = Tags.value(of: "parley.chat/cid", in: turn.message.tags)
        else { return "" }
        let cid = Tags.unescape(value)
        if 1...World.cidLength ~= cid.count { return cid }
        fail(
            turn, "INVALID_CID", "The tag parley.chat/cid has 1 to \(World.cidLength) bytes; nothing was sent",
            about: [shown(turn[0])])
        return nil
    }

    mutating func speakOnce(_ turn: Turn, _ utterance: Utterance, to targets: ByteView) {
        let request = OnceRequest(
            session: turn.session, user: turn.me, command: turn.command, utterance: utterance,
            targets: ByteString(targets), label: deferLabel(turn.session))
        sessions[turn.session].isWaiting = true
        effects.sents.append(
            SentQuestion(
                number: nextQuestion(.sending(request)), uid: users[turn.me].uid, cid: utterance.cid,
                since: now.wall - World.cidLife))
    }

    mutating func answered(_ answer: SentAnswer) {
        guard case .sending(var request)? = pending.removeValue(forKey: answer.number) else { return }
        request.utterance.sent = broughtUpToDate(answer, request)
        let session = request.session
        guard sessions.contains(session) else { return }
        stopWaiting(session)
        guard sessions[session].stage == .registered, sessions[session].user == request.user else { return }
        let once = request
        self.answer(session, label: once.label) { world in world.speak(once, failure: answer.failure) }
        endInputIfOver(session)
    }

    private mutating func speak(_ request: OnceRequest, failure: String?) {
        if let failure {
            note(.warning, "sent messages not read: \(failure)")
            return fail(
                request.session, "\(request.command)", "INTERNAL_ERROR", "Nothing was sent; try again in a while",
                about: [request.targets.withView { shown($0) }])
        }
        guard let message = Message(parsing: ByteView(request.command)) else { return }
        let turn = Turn(session: request.session, user: request.user, message: message, command: request.command)
        request.targets.withView { speak(turn, request.utterance, to: $0) }
    }

    /// True: it was said there before; its author is told as if it were said now, with the first one's id and time, and
    /// nobody else hears it again.
    mutating func answerRepeated(_ turn: Turn, _ utterance: Utterance, _ target: ByteView) -> Bool {
        guard !utterance.sent.isEmpty, let (conversation, name) = conversation(of: target, with: turn.me),
            let first = utterance.sent.last(where: { $0.conversation == conversation }),
            var line = outgoing(turn, utterance, target: name)
        else { return false }
        line.position = first.position
        line.time = first.time
        echo(turn, utterance, line)
        return true
    }

    private func conversation(of target: ByteView, with user: UserID) -> (Conversation, name: ByteString)? {
        if target.first == 0x23 {
            return channel(named: target).map { (channels[$0].conversation, channels[$0].name) }
        }
        return correspondent(target).map { (.direct(users[user].uid, $0.uid), $0.name) }
    }

    /// The record just made is the one that its author calls so.
    mutating func noteSent(_ utterance: Utterance) {
        guard !utterance.cid.isEmpty, let last = effects.records.indices.last else { return }
        effects.records[last].cid = utterance.cid
        if pending.isEmpty { return }
        let record = effects.records[last]
        lateSends[SendKey(uid: record.uid, cid: record.cid, conversation: record.conversation)] = LateSend(
            question: lastQuestion,
            message: SentMessage(
                conversation: record.conversation, position: record.position, time: record.time))
    }

    /// Two sessions of one identity may send the same at once.
    private mutating func broughtUpToDate(_ answer: SentAnswer, _ request: OnceRequest) -> [SentMessage] {
        if lateSends.isEmpty { return answer.sent }
        let late = lateSends.filter {
            $0.key.cid == request.utterance.cid && users.contains(request.user)
                && users[request.user].uid == $0.key.uid
        }
        let oldest = pending.keys.min() ?? .max
        lateSends = lateSends.filter { $0.value.question >= oldest }
        return answer.sent + late.values.map(\.message)
    }
}
