import Bytes
import Wire

extension World {
    mutating func speakToUser(_ turn: Turn, _ utterance: Utterance, _ target: ByteView) {
        guard let receiver = directTarget(target) else {
            if !utterance.isQuiet {
                reply(turn, .ERR_NOSUCHNICK, "\(firstWord(ByteString(target.prefix(64)))) :No such nick/channel")
            }
            return
        }
        let nick = users[receiver].nick
        let isKept = isWorthKeeping(utterance)
        if isKept, refuseWhileStoreFails(turn, nick) { return }
        var line = outgoing(from: turn.me, body(utterance, target: nick))
        line.tags = utterance.tags
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
        line.time = nextRecordTime(after: lastDirectTime)
        lastDirectTime = line.time
        let pair = Conversation.direct(users[turn.me].uid, users[receiver].uid)
        line.position = append(utterance.kind, by: turn.me, pair, line.time, utterance.tags, utterance.text)
        for user in [turn.me, receiver] where !users[user].isKept { keep(user) }
    }

    /// To every session of the receiver, and to the sender's other sessions.
    private mutating func relayDirect(_ turn: Turn, _ utterance: Utterance, _ line: Outgoing, to receiver: UserID) {
        let needing: Capabilities = utterance.kind == .tagmsg ? .messageTags : []
        var forms = Forms(interest: line.interest)
        relay(line, to: users[receiver].sessions, &forms, needing: needing)
        if receiver == turn.me { return }
        let others = users[turn.me].sessions
        // Only sessions that know echo-message can tell their own words from somebody else's.
        relay(line, to: others, &forms, except: turn.session, needing: needing.union(.echoMessage))
    }
}
