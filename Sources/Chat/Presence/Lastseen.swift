import Bytes
import Wire

let lastseenCommand = Command(
    "LASTSEEN", minimum: 1, cost: 2000, source: "docs/PROTOCOL.md, Profiles",
    help: [
        "LASTSEEN <nick|=uid>",
        "When somebody was last here, or that they are here now. METADATA * SET parley.chat/last-seen off hides you.",
        "Example: LASTSEEN ana",
    ]
) { world, turn in world.lastSeen(turn) }

/// A LASTSEEN whose answer the store has.
struct SeenRequest {
    var session: ConnectionID
    var asker: UID
    /// As it was asked for.
    var name: ByteString
    var label: ByteString
}

extension World {
    fileprivate mutating func lastSeen(_ turn: Turn) {
        if let online = directTarget(turn[0]) {
            let user = users[online]
            return tell(turn.session, seen(user.uid, user.nick, user.metadata, since: nil, asker: users[turn.me].uid))
        }
        let name = shown(turn[0])
        let who: IdentityQuestion.Who
        if turn[0].first == 0x3D {
            guard let uid = UID(turn[0].dropFirst()) else { return reply(turn, .ERR_WASNOSUCHNICK, neverSeen(name)) }
            who = .uid(uid)
        } else {
            who = .nick(ByteString(turn[0]))
        }
        let request = SeenRequest(
            session: turn.session, asker: users[turn.me].uid, name: name, label: deferLabel(turn.session))
        let number = nextQuestion(.seen(request))
        hold(turn.session, for: number)
        effects.identities.append(IdentityQuestion(number: number, who: who))
    }

    mutating func answered(_ answer: IdentityAnswer, _ request: SeenRequest) {
        if let failure = answer.failure { note(.warning, "identity not read: \(failure)") }
        guard sessions.contains(request.session) else { return }
        let start = effects.outbox.mark
        writeLine(request.label.isEmpty ? "" : "label=\(request.label)", text(answer, request))
        effects.outbox.answer(
            request.session, number: answer.number, with: LineRef(start: start, end: effects.outbox.mark))
    }

    private func text(_ answer: IdentityAnswer, _ request: SeenRequest) -> ByteString {
        if answer.failure != nil {
            return StandardReplies.fail(
                "LASTSEEN", "INTERNAL_ERROR", [request.name], "The server could not look it up; try again")
        }
        guard let state = answer.state else {
            return "406 \(nickShown(to: request.session)) \(neverSeen(request.name))"
        }
        // Under another nick they may be here.
        let online = identities[state.uid].map { users[$0] }
        return seen(
            state.uid, online?.nick ?? state.nick, online?.metadata ?? answer.metadata,
            since: online == nil ? state.seen : nil, asker: request.asker)
    }

    private func neverSeen(_ name: ByteString) -> ByteString { "\(name) :There was no such nickname" }

    /// `since`: seconds since 1970; nil: is here.
    private func seen(
        _ uid: UID, _ nick: ByteString, _ metadata: Metadata, since: Int64?, asker: UID
    ) -> ByteString {
        if metadata[MetadataKeys.lastSeen] == "off", uid != asker {
            return StandardReplies.fail("LASTSEEN", "HIDDEN", [nick], "\(nick) does not tell when they were here")
        }
        guard let since else { return "NOTE LASTSEEN \(nick) \(uid.text) online :\(nick) is here" }
        return "NOTE LASTSEEN \(nick) \(uid.text) \(Times.serverTime(since * 1000)) :\(nick) was last here then"
    }

    /// What LASTSEEN tells of who is here now, should the server end without notice.
    mutating func keepSeen() {
        nextKeeping = now.wall + 3_600_000
        for user in users.ids where users[user].isKept { save(.saveIdentity(users[user].stored(now: now.wall))) }
    }
}
