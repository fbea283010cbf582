import Bytes
import Wire

let changesCommand = Command(
    "CHANGES", minimum: 2, cost: 2000, source: "docs/PROTOCOL.md, Changing what was said",
    help: [
        "CHANGES <#channel|nick> <cursor|*> [limit]",
        "How clients that were away catch up: all that happened after a cursor, with edits and deletions.",
        "The answer ends with the next cursor. * gives the present one.",
        "Example: CHANGES #lobby *",
    ]
) { world, turn in world.changes(turn) }

extension World {
    fileprivate mutating func changes(_ turn: Turn) {
        let given = shown(turn[0])
        guard let target = readable(turn[0], by: turn.me) else {
            return fail(turn, "INVALID_TARGET", "Messages could not be retrieved", about: [given])
        }
        if turn[1] == "*" { return tell(turn.session, endOfChanges(target, cursor: lastPosition, isComplete: true)) }
        guard let cursor = MessageID.position(turn[1]) else {
            return fail(
                turn, "INVALID_PARAMS", "A cursor is what CHANGES told the last time, or a msgid",
                about: [given, shown(turn[1])])
        }
        let asked = turn.parameter(2).map { $0.decimal() ?? 0 } ?? settings.page
        guard asked > 0 else {
            return fail(
                turn, "INVALID_PARAMS", "The limit is a number from 1 to \(settings.page)",
                about: [given, shown(turn[2], atMost: 32)])
        }
        var request = pageRequest(turn.session, turn.me, target, .changes(upTo: lastPosition))
        if request.form != .batch, !sessions[turn.session].isPlain { request.form = .lines }
        answerLater(turn, request, .after(.position(cursor)), limit: min(asked, settings.page))
    }

    private func endOfChanges(_ target: Readable, cursor: Int64, isComplete: Bool) -> ByteString {
        let text: ByteString =
            isComplete
            ? "That is all; the next time begin here" : "There is more: CHANGES \(target.name) and this cursor"
        return StandardReplies.note("CHANGES", "END", [target.name, MessageID.text(cursor)], text)
    }

    /// What happened, each where it happened: behind a message that is redacted by now comes the redaction in its turn.
    mutating func writeChanges(_ page: HistoryPage, _ request: PageRequest, upTo newest: Int64) {
        var reference: ByteString = ""
        if request.capabilities.contains(.batch) {
            reference = openBatch("parley.chat/changes \(request.target.name)", label: request.label)
        }
        for record in page.records where isTold(record, request) { write(record, request, batch: reference) }
        let cursor = page.isComplete ? newest : page.records.last?.position ?? newest
        writeLine(
            reference.isEmpty ? "" : "batch=\(reference)",
            endOfChanges(request.target, cursor: cursor, isComplete: page.isComplete))
        if !reference.isEmpty { writeLine("", "BATCH -\(reference)") }
    }

    /// An edit that another change has followed says nothing any more, nor does what changed a message that its reader
    /// may not read.
    private func isTold(_ record: LogRecord, _ request: PageRequest) -> Bool {
        guard record.kind.shelf == .changes else { return true }
        guard let message = request.counterparts[record.counterpart], message.position >= request.target.oldest else {
            return false
        }
        return message.counterpart == record.position
    }
}
