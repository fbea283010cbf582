import Bytes
import Wire

extension World {
    mutating func speakInChannel(_ turn: Turn, _ utterance: Utterance, _ name: ByteView, onlyRanks: Ranks) {
        guard let channel = channel(named: name) else {
            if !utterance.isQuiet {
                reply(turn, .ERR_NOSUCHCHANNEL, "\(shown(name)) :No such channel")
            }
            return
        }
        guard maySpeak(turn, utterance, channel, name) else { return }
        if !onlyRanks.isEmpty {
            let target: ByteString = "\(onlyRanks.prefixes(all: false))\(channels[channel].name)"
            sayToRanks(turn, utterance, channel, onlyRanks, as: target)
        } else if isHeardByOperatorsOnly(turn.me, in: channel) {
            sayToRanks(turn, utterance, channel, .halfop, as: channels[channel].name)
        } else {
            say(turn, utterance, channel)
        }
    }

    /// `+U`
    func isHeardByOperatorsOnly(_ user: UserID, in channel: ChannelID) -> Bool {
        channels[channel].state.modes.bytes.contains(0x55) && ranks(user, in: channel).isEmpty
    }

    private mutating func maySpeak(
        _ turn: Turn, _ utterance: Utterance, _ channel: ChannelID, _ name: ByteView
    ) -> Bool {
        let user = turn.me
        var why = reasonNotToSpeak(user, utterance, channel)
        if why == nil, utterance.kind != .tagmsg {
            why = paceExceeded(user, in: channel, lines: max(1, utterance.lines.count))
        }
        guard let why else { return true }
        if utterance.isQuiet { return false }
        if may(user, know: .existence, of: channel) {
            reply(turn, .ERR_CANNOTSENDTOCHAN, "\(channels[channel].name) :\(why)")
        } else {
            refuseChannelName(turn, name)
        }
        return false
    }

    func reasonNotToSpeak(_ user: UserID, _ utterance: Utterance, _ channel: ChannelID) -> ByteString? {
        let modes = channels[channel].state.modes.bytes
        let ranks = isMember(user, of: channel) ? channels[channel].ranks(of: user) : nil
        if ranks == nil, modes.contains(0x6E) { return "Cannot send to channel (+n): join it first" }
        if modes.contains(0x43), isCTCP(utterance) { return "Cannot send to channel (+C): no CTCP here" }
        if let ranks, !ranks.isEmpty { return nil }
        if modes.contains(0x6D) { return "Cannot send to channel (+m): it is moderated" }
        if modes.contains(0x4D), users[user].account.isEmpty {
            return "Cannot send to channel (+M): only accounts may speak"
        }
        if isBanned(user, from: channel) || isMuted(user, in: channel) { return "Cannot send to channel (+b)" }
        return nil
    }

    func isCTCP(_ utterance: Utterance) -> Bool {
        utterance.kind != .tagmsg && utterance.text.bytes.first == 1
            && !utterance.text.withView { $0.hasPrefix("\u{1}ACTION") }
    }

    private mutating func say(_ turn: Turn, _ utterance: Utterance, _ channel: ChannelID) {
        let isKept = !channels[channel].state.modes.bytes.contains(0x48) && isWorthKeeping(utterance)
        let name = channels[channel].name
        guard var line = outgoing(turn, utterance, target: name) else { return }
        if isKept, refuseWhileStoreFails(turn, name) { return }
        if isKept {
            (line.position, line.time) = record(
                utterance.kind, by: turn.me, in: channel, tags: utterance.tags, utterance.text, as: utterance.author)
            noteSent(utterance)
            line.refusal = refusable(turn, name)
        } else {
            lastPosition += 1
            line.position = lastPosition
            line.time = max(line.time, channels[channel].lastTime)
        }
        relay(
            line, to: channel, except: turn.session, needing: utterance.kind == .tagmsg ? .messageTags : [])
        echo(turn, utterance, line)
        if isKept, utterance.kind.isMessage { awaitReceipts(turn, line, in: channel) }
    }

    /// Typing notices and the like pass; what a reply or a reaction says stays with the history.
    func isWorthKeeping(_ utterance: Utterance) -> Bool {
        if utterance.kind != .tagmsg { return true }
        var isKept = false
        utterance.tags.withView { tags in
            Tags.each(tags) { if !($0.key == "+typing" || $0.key == "+draft/typing") { isKept = true } }
        }
        return isKept
    }

    /// Notes who must be told if the store refuses the record just made.
    mutating func refusable(_ turn: Turn, _ target: ByteString) -> Int32 {
        refusable(turn.session, turn.command, target)
    }

    mutating func refusable(_ session: ConnectionID, _ command: StaticString, _ target: ByteString) -> Int32 {
        refusable(Refusal(connection: session, command: command, target: target, label: labelInWork(session)))
    }

    /// What the sender's own session gets back (echo-message); a plain session with ACKS on gets `NOTE ACKS SENT`.
    mutating func echo(_ turn: Turn, _ utterance: Utterance, _ line: Outgoing) {
        let mine = capabilities[Int(turn.session.index)]
        if mine.contains(.echoMessage), utterance.kind != .tagmsg || mine.contains(.messageTags) {
            send(line, to: turn.session)
        } else if sessions[turn.session].wantsAcks {
            var note = Outgoing(
                source: settings.serverName, time: line.time,
                body: "NOTE ACKS SENT \(MessageID.text(line.position)) :sent")
            note.refusal = line.refusal
            send(note, to: turn.session)
        }
    }

    /// `@#channel`: heard by those with the rank or a higher one; not part of the channel's history.
    private mutating func sayToRanks(
        _ turn: Turn, _ utterance: Utterance, _ channel: ChannelID, _ least: Ranks, as target: ByteString
    ) {
        guard var line = outgoing(turn, utterance, target: target) else { return }
        lastPosition += 1
        line.position = lastPosition
        var audience: ContiguousArray<ConnectionID> = []
        for member in channels[channel].members where member.ranks.rawValue >= least.rawValue {
            audience.append(contentsOf: users[member.user].sessions)
        }
        var forms = Forms(interest: line.interest)
        relay(line, to: audience, &forms, except: turn.session, needing: utterance.kind == .tagmsg ? .messageTags : [])
        echo(turn, utterance, line)
    }
}
