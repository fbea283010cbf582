import Bytes
import Wire

extension World {
    mutating func speakToUser(_ turn: Turn, _ utterance: Utterance, _ target: ByteView) {
        guard let receiver = directTarget(target) else {
            if !utterance.isQuiet {
                reply(turn, .ERR_NOSUCHNICK, "\(shown(target)) :No such nick/channel")
            }
            return
        }
        let nick = users[receiver].nick
        guard var line = outgoing(turn, utterance, target: nick) else { return }
        let isKept = isWorthKeeping(utterance)
        if isKept, refuseWhileStoreFails(turn, nick) { return }
        if isKept {
            recordDirect(turn, utterance, to: receiver, &line)
            line.refusal = refusable(turn, nick)
        } else {
            lastPosition += 1
            line.position = lastPosition
        }
        relayDirect(turn, utterance, line, to: receiver)
        echo(turn, utterance, line)
        if utterance.kind == .privmsg, !users[receiver].away.isEmpty {
            reply(turn, .RPL_AWAY, "\(nick) :\(users[receiver].away)")
        }
    }

    /// A nick, or `=<uid>`.
    func directTarget(_ target: ByteView) -> UserID? {
        if target.first == 0x3D { return UID(target.dropFirst()).flatMap { identities[$0] } }
        return user(named: target)
    }

    private mutating func recordDirect(
        _ turn: Turn, _ utterance: Utterance, to receiver: UserID, _ line: inout Outgoing
    ) {
        let pair = Conversation.direct(users[turn.me].uid, users[receiver].uid)
        line.time = nextDirectTime(pair)
        line.position = append(utterance.kind, by: turn.me, pair, line.time, utterance.tags, utterance.text)
        for user in [turn.me, receiver] where !users[user].isKept { keep(user) }
    }

    /// To every session of the receiver, and to the sender's other sessions.
    private mutating func relayDirect(_ turn: Turn, _ utterance: Utterance, _ line: Outgoing, to receiver: UserID) {
        let needing: Capabilities = utterance.kind == .tagmsg ? .messageTags : []
        var forms = Forms(interest: line.interest)
        relay(line, to: users[receiver].sessions, &forms, except: turn.session, needing: needing)
        if receiver == turn.me { return deliverToSelf(line, turn.session, needing: needing) }
        var others: ContiguousArray<ConnectionID> = []
        for session in users[turn.me].sessions where hearsItself(session) { others.append(session) }
        relay(line, to: others, &forms, except: turn.session, needing: needing)
    }

    /// A client without echo-message takes its own words for somebody else's; a person does not.
    func hearsItself(_ session: ConnectionID) -> Bool {
        sessions[session].isPlain || capabilities[Int(session.index)].contains(.echoMessage)
    }

    /// What one says to oneself arrives beside the answer to the command: a label is the echo's alone.
    private mutating func deliverToSelf(_ line: Outgoing, _ session: ConnectionID, needing: Capabilities) {
        let mine = capabilities[Int(session.index)]
        if mine.isSuperset(of: needing) { effects.outbox.deliver(write(line, for: mine), to: session) }
    }
}
