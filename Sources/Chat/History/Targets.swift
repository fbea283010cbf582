import Bytes
import Wire

/// CHATHISTORY TARGETS on its way: what the channels have to say is known here, of the direct conversations the reader
/// knows.
struct TargetsRequest {
    var session: ConnectionID
    var reader: UID
    var capabilities: Capabilities
    var label: ByteString
    var from: Int64
    var to: Int64
    var limit: Int
    /// Channels, in no order.
    var found: [Target] = []
}

/// A conversation with the time of its newest message.
struct Target {
    var name: ByteString
    var time: Int64
}

extension World {
    mutating func targets(_ turn: Turn, _ selector: PageSelector, limit: Int) {
        guard case .between(.time(let from), .time(let to)) = selector else { return }
        var request = TargetsRequest(
            session: turn.session, reader: users[turn.me].uid, capabilities: capabilities[Int(turn.session.index)],
            label: deferLabel(turn.session), from: from, to: to, limit: limit)
        for channel in users[turn.me].channels {
            guard let readable = readable(channel, by: turn.me), let newest = newestKept(channel) else { continue }
            if newest.position >= readable.oldest {
                request.found.append(Target(name: channels[channel].name, time: newest.time))
            }
        }
        let number = nextQuestion(.targets(request))
        hold(turn.session, for: number)
        effects.directs.append(
            DirectQuestion(
                number: number, uid: request.reader, wanted: .heads(from: from, to: to), limit: limit,
                newest: .max))
    }

    mutating func answered(_ answer: DirectAnswer) {
        guard let asked = pending.removeValue(forKey: answer.number) else { return }
        if case .addressing(let letter) = asked { return send(letter, answer) }
        if let failure = answer.failure { note(.warning, "direct messages not read: \(failure)") }
        if case .conversations(let request) = asked { return chooseConversations(answer, request) }
        let start = effects.outbox.mark
        let session: ConnectionID
        switch asked {
        case .targets(let request) where sessions.contains(request.session):
            session = request.session
            if answer.failure == nil { writeTargets(answer, request) } else { writeTargetsFailure(request) }
        case .missed(let request) where sessions.contains(request.session):
            session = request.session
            writeMissed(answer, request)
        default: return
        }
        effects.outbox.answer(session, number: answer.number, with: LineRef(start: start, end: effects.outbox.mark))
    }

    private mutating func writeTargets(_ answer: DirectAnswer, _ request: TargetsRequest) {
        let direct = answer.records.map { record in
            let other = record.other(than: request.reader)
            return Target(name: name(of: other, account: answer.accounts[other] ?? ""), time: record.time)
        }
        let (page, isComplete) = request.page(of: direct)
        var reference: ByteString = ""
        if request.capabilities.contains(.batch) {
            let isEnd = isComplete && answer.isComplete && request.capabilities.contains(.messageTags)
            reference = openBatch("draft/chathistory-targets", label: request.label, isEnd: isEnd)
        }
        let tags: ByteString = reference.isEmpty ? "" : "batch=\(reference)"
        for target in page { writeLine(tags, "CHATHISTORY TARGETS \(target.name) \(Times.serverTime(target.time))") }
        if !reference.isEmpty { writeLine("", "BATCH -\(reference)") }
    }

    private mutating func writeTargetsFailure(_ request: TargetsRequest) {
        let tags: ByteString = request.label.isEmpty ? "" : "label=\(request.label)"
        writeLine(
            tags,
            StandardReplies.fail("CHATHISTORY", "MESSAGE_ERROR", ["TARGETS"], "Messages could not be retrieved"))
    }
}

extension TargetsRequest {
    /// Oldest first; counted from `from` on. Targets of the same time are never divided, as nothing but the time tells
    /// where the next page begins.
    fileprivate func page(of direct: [Target]) -> ([Target], isComplete: Bool) {
        let within = min(from, to) + 1..<max(from, to, min(from, to) + 1)
        let all = (found.filter { within.contains($0.time) } + direct).sorted { $0.time < $1.time }
        let ordered = from > to ? all.reversed() : all
        guard let last = ordered.prefix(limit).last?.time else { return ([], true) }
        let page = ordered.prefix { from > to ? $0.time >= last : $0.time <= last }
        return (from > to ? page.reversed() : Array(page), page.count == all.count)
    }
}
