import Bytes
import Wire

let markreadCommand = Command(
    "MARKREAD", source: "IRCv3 draft/read-marker",
    help: [
        "MARKREAD <#channel|nick> [timestamp=<time>]",
        "How far you have read, for all your sessions: tells it, or moves it on. It never goes back.",
        "Example: MARKREAD #lobby timestamp=2026-11-30T21:40:00.000Z",
    ]
) { world, turn in world.markRead(turn) }

extension World {
    fileprivate mutating func markRead(_ turn: Turn) {
        guard let word = turn.parameter(0), !word.isEmpty else {
            return fail(turn, "NEED_MORE_PARAMS", "Missing parameters")
        }
        let target = markable(word, by: turn.me)
        guard let given = turn.parameter(1) else {
            // What may not be known of has no mark, as what does not exist.
            let time = target.flatMap { users[turn.me].readMarks[$0.conversation] }
            return tellReadMark(target?.name ?? shown(word), time, to: turn.session)
        }
        guard let time = timestamp(given) else {
            return fail(
                turn, "INVALID_PARAMS", "A time is timestamp=<YYYY-MM-DDThh:mm:ss.sssZ>",
                about: [shown(word), shown(given)])
        }
        guard let target else {
            return fail(
                turn, "INVALID_PARAMS", "You are in no channel of this name, and nobody has this nick",
                about: [shown(word)])
        }
        if isStoreFailing {
            return fail(turn, "INTERNAL_ERROR", "The read timestamp could not be set", about: [target.name])
        }
        mark(turn, target, time)
    }

    private func markable(_ target: ByteView, by user: UserID) -> Readable? {
        if target.first == 0x23 {
            guard let channel = channel(named: target), may(user, know: .readMark, of: channel) else { return nil }
            return Readable(conversation: channels[channel].conversation, name: channels[channel].name)
        }
        return correspondent(target).map {
            Readable(conversation: .direct(users[user].uid, $0.uid), name: $0.name)
        }
    }

    /// What nobody can have read yet is not read.
    private mutating func mark(_ turn: Turn, _ target: Readable, _ time: Int64) {
        let user = turn.me
        var newest = now.wall
        if target.conversation.isDirect {
            newest = max(newest, directTimes.last(target.conversation))
        } else if let channel = target.name.withView({ channel(named: $0) }) {
            newest = max(newest, channels[channel].lastTime)
        }
        let time = min(time, newest)
        let before = users[user].readMarks[target.conversation]
        guard time > before ?? -1 else { return tellReadMark(target.name, before, to: turn.session) }
        users[user].readMarks[target.conversation] = time
        if !users[user].isKept { keep(user) }
        save(.saveReadMark(users[user].uid, ReadMark(conversation: target.conversation, time: time)))
        forgetOldestMark(of: user)
        read(user, target.conversation, from: before ?? 0, to: time)
        tellReadMark(target.name, time, to: turn.session)
        for session in users[user].sessions
        where session != turn.session && capabilities[Int(session.index)].contains(.readMarker) {
            tellReadMark(target.name, time, to: session)
        }
    }

    private mutating func forgetOldestMark(of user: UserID) {
        guard users[user].readMarks.count > settings.limits.readMarks else { return }
        let oldest = users[user].readMarks.min { ($0.value, $0.key.a, $0.key.b) < ($1.value, $1.key.a, $1.key.b) }
        guard let oldest else { return }
        users[user].readMarks[oldest.key] = nil
        save(.removeReadMark(users[user].uid, oldest.key))
    }

    /// nil: nothing is marked.
    private mutating func tellReadMark(_ name: ByteString, _ time: Int64?, to session: ConnectionID) {
        let mark: ByteString = time.map { "timestamp=\(Times.serverTime($0))" } ?? "*"
        tell(session, "MARKREAD \(name) \(mark)")
    }

    /// What follows a JOIN, before the names (IRCv3 read-marker).
    mutating func tellReadMark(of channel: ChannelID, to session: ConnectionID) {
        guard capabilities[Int(session.index)].contains(.readMarker), let user = sessions[session].user else { return }
        tellReadMark(
            channels[channel].name, users[user].readMarks[channels[channel].conversation], to: session)
    }
}
