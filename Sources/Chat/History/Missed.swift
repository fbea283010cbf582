import Bytes
import Wire

/// Direct messages that came while an identity was gone. They are delivered once, on its return; what was said in its
/// channels comes with the replay.
extension World {
    mutating func deliverMissed(_ session: ConnectionID, since first: MessageMark) {
        guard first.position > 0, let user = sessions[session].user else { return }
        let uid = users[user].uid
        // It asks for itself.
        if capabilities[Int(session.index)].contains(.chathistory) { return save(.forgetMissed(uid)) }
        let target = Readable(conversation: .direct(uid, uid), name: users[user].nick)
        let number = nextQuestion(.missed(pageRequest(session, user, target, .join)))
        hold(session, for: number)
        effects.directs.append(
            DirectQuestion(
                number: number, uid: uid, wanted: .received(since: first), limit: settings.limits.missed,
                newest: lastPosition))
    }

    /// What could not be read is still there at the next return.
    mutating func writeMissed(_ answer: DirectAnswer, _ request: PageRequest) {
        if answer.failure != nil {
            return writeNotice("", request, "Messages came for you while you were gone; they could not be read now")
        }
        save(.forgetMissed(request.reader))
        if answer.records.isEmpty { return }
        var page = HistoryPage(number: answer.number, records: answer.records, isComplete: answer.isComplete)
        page.counterparts = answer.counterparts
        page = brought(upToDate: page)
        var request = request
        request.counterparts = page.counterparts
        if request.form == .batch { return writeMissedBatches(page.records, request) }
        let last: ByteString = answer.isComplete ? "" : "the last "
        writeNotice("", request, "\(last)\(page.records.count) for you while you were gone")
        for record in page.records {
            write(record, request.with(record, name(of: record.uid, account: record.account)), batch: "")
        }
        writeNotice("", request, "live now")
    }

    /// A batch for each conversation, in the order of their first message.
    private mutating func writeMissedBatches(_ records: [LogRecord], _ request: PageRequest) {
        var order: [Conversation] = []
        var groups: [Conversation: [LogRecord]] = [:]
        for record in records {
            if groups[record.conversation] == nil { order.append(record.conversation) }
            groups[record.conversation, default: []].append(record)
        }
        for conversation in order {
            guard let group = groups[conversation], let first = group.first else { continue }
            writePage(
                HistoryPage(number: 0, records: group, isComplete: true),
                request.with(first, name(of: first.uid, account: first.account)))
        }
    }
}

extension PageRequest {
    /// As if the page were of the conversation that the record is of.
    func with(_ record: LogRecord, _ name: ByteString) -> PageRequest {
        var request = self
        request.target = Readable(conversation: record.conversation, name: name)
        return request
    }
}
