import Bytes
import Wire

/// A message that waits until it is known whether there is somebody to get it.
struct Letter {
    var session: ConnectionID
    var utterance: Utterance
    var uid: UID
    /// As its author named the receiver.
    var target: ByteString
    var label: ByteString
}

extension World {
    mutating func speakToUser(_ turn: Turn, _ utterance: Utterance, _ target: ByteView) {
        if let service = service(named: target) { return speak(turn, utterance, to: service) }
        guard let receiver = correspondent(target) else {
            if lookUpAccount(target, turn, utterance) { return }
            if !utterance.isQuiet { refuseNick(turn, target) }
            return
        }
        if !isKnown(receiver) { return look(for: receiver, turn, utterance) }
        say(turn, utterance, to: receiver)
    }

    private mutating func say(_ turn: Turn, _ utterance: Utterance, to receiver: Correspondent) {
        if let user = receiver.user, user != turn.me, users[user].modes.contains(.noCTCP), isCTCP(utterance) {
            if !utterance.isQuiet {
                reply(turn, .ERR_CANTSENDTOUSER, "\(receiver.name) :Cannot send to user (+T): no CTCP")
            }
            return
        }
        if let user = receiver.user, isUnwanted(turn.me, by: user) {
            if !utterance.isQuiet {
                reply(turn, .ERR_NEEDREGGEDNICK, "\(receiver.name) :Only accounts may write to this user (+R)")
            }
            return
        }
        acceptAnswers(turn.me, from: receiver.uid)
        guard var line = outgoing(turn, utterance, target: receiver.name) else { return }
        let isKept = isWorthKeeping(utterance)
        if isKept, refuseWhileStoreFails(turn, receiver.name) { return }
        if isKept {
            recordDirect(turn, utterance, to: receiver, &line)
            line.refusal = refusable(turn, receiver.name)
        } else {
            lastPosition += 1
            line.position = lastPosition
        }
        relayDirect(turn, utterance, line, to: receiver)
        echo(turn, utterance, line)
        if isKept, utterance.kind.isMessage { awaitReceipts(turn, line, from: receiver) }
        if utterance.kind == .privmsg { tellAbsence(turn, receiver) }
    }

    // MARK: To a uid that nobody here knows

    /// The sender is not read on until the store has said whether there is such an identity.
    private mutating func look(for receiver: Correspondent, _ turn: Turn, _ utterance: Utterance) {
        let letter = Letter(
            session: turn.session, utterance: utterance, uid: receiver.uid, target: "=\(receiver.uid.text)",
            label: deferLabel(turn.session))
        sessions[turn.session].isWaiting = true
        effects.directs.append(
            DirectQuestion(
                number: nextQuestion(.addressing(letter)), uid: receiver.uid, wanted: .existence, limit: 0,
                newest: lastPosition))
    }

    mutating func send(_ letter: Letter, _ answer: DirectAnswer) {
        let session = letter.session
        guard sessions.contains(session) else { return }
        if !hasLetters(session) { stopWaiting(session) }
        guard sessions[session].stage == .registered, let user = sessions[session].user,
            let message = Message(parsing: ByteView(letter.utterance.command))
        else { return }
        let turn = Turn(session: session, user: user, message: message, command: letter.utterance.command)
        self.answer(session, label: letter.label) { world in
            // Where it cannot be looked up it is kept all the same.
            if answer.isComplete || answer.failure != nil {
                world.say(turn, letter.utterance, to: world.correspondent(letter.uid))
            } else if !letter.utterance.isQuiet {
                letter.target.withView { world.refuseNick(turn, $0) }
            }
        }
        endInputIfOver(session)
    }

    private func hasLetters(_ session: ConnectionID) -> Bool {
        pending.values.contains { if case .addressing(let letter) = $0 { letter.session == session } else { false } }
    }

    // MARK: Direct messages

    /// 301: the receiver says that it is away, or it is not here and gets the message when it returns.
    mutating func tellAbsence(_ turn: Turn, _ receiver: Correspondent) {
        let away = receiver.user.map { users[$0].away } ?? "Not here now; the message is kept for the return"
        if !away.isEmpty { reply(turn, .RPL_AWAY, "\(receiver.name) :\(away)") }
    }

    mutating func recordDirect(
        _ turn: Turn, _ utterance: Utterance, to receiver: Correspondent, _ line: inout Outgoing
    ) {
        let pair = Conversation.direct(users[turn.me].uid, receiver.uid)
        line.time = nextDirectTime(pair)
        line.position = append(utterance.kind, by: turn.me, pair, line.time, utterance.tags, utterance.text)
        noteSent(utterance)
        if receiver.user == nil, utterance.kind.isMessage {
            save(.noteMissed(receiver.uid, MessageMark(position: line.position, time: line.time)))
        }
        for user in [turn.me, receiver.user ?? turn.me] where !users[user].isKept { keep(user) }
    }

    /// To every session of the receiver, and to the sender's other sessions.
    mutating func relayDirect(
        _ turn: Turn, _ utterance: Utterance, _ line: Outgoing, to receiver: Correspondent
    ) {
        let needing: Capabilities = utterance.kind == .tagmsg ? .messageTags : []
        var forms = Forms(interest: line.interest)
        if let user = receiver.user {
            relay(line, to: users[user].sessions, &forms, except: turn.session, needing: needing)
        }
        if receiver.user == turn.me { return deliverToSelf(line, turn.session, needing: needing) }
        relay(line, to: users[turn.me].sessions, &forms, except: turn.session, needing: needing)
    }

    /// What one says to oneself arrives beside the answer to the command: a label is the echo's alone.
    private mutating func deliverToSelf(_ line: Outgoing, _ session: ConnectionID, needing: Capabilities) {
        let mine = capabilities[Int(session.index)]
        if mine.isSuperset(of: needing) { effects.outbox.deliver(write(line, for: mine), to: session) }
    }
}
