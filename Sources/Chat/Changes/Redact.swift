import Bytes
import Wire

let redactCommand = Command(
    "REDACT", minimum: 2, cost: 2000, source: "IRCv3 draft/message-redaction",
    help: [
        "REDACT <#channel|nick> <msgid|*> [:reason]",
        "Deletes a message for good: one that you sent (* is your last one there), or, as a channel operator, any.",
        "Example: REDACT #lobby *",
    ]
) { world, turn in
    let head: ByteString = "REDACT \(turn[0]) \(turn[1]) :"
    let reason = world.cut(
        world.freeText(turn, 2), limit: world.settings.limits.kickLength, head: head, from: turn.me)
    world.lookForMessage(turn, .redact(reason: reason))
}

extension World {
    mutating func redact(_ record: LogRecord, _ request: ChangeRequest, _ place: ChangePlace, reason: ByteString) {
        let isOperator = place.channel.map { ranks(request.user, in: $0).isOperator } ?? false
        if !isOperator {
            guard record.uid == users[request.user].uid else {
                return refuse(request, "REDACT_FORBIDDEN", "You are not authorised to delete this message")
            }
            if isOver(settings.redactWindow, since: record) {
                return refuseLate(
                    request, "REDACT_WINDOW_EXPIRED", settings.redactWindow, "You can no longer delete this message")
            }
        }
        let msgid = MessageID.text(record.position)
        let tail: ByteString = reason.isEmpty ? "" : " :\(reason)"
        let line = change(record, .redact, request, place, text: reason, body: "REDACT \(place.name) \(msgid)\(tail)")
        if record.kind == .privmsg { effects.images.append(.collect) }
        let (knowing, _) = audience(of: request, place, knowing: .messageRedaction)
        var forms = Forms(interest: line.interest)
        relay(line, to: knowing, &forms)
        confirm(line, request, .messageRedaction, "DELETED \(place.name) \(msgid) :The message is gone")
    }
}
