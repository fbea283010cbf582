import Bytes
import Wire

let editCommand = Command(
    "EDIT", minimum: 3, cost: 2000, source: "docs/PROTOCOL.md, Changing what was said",
    help: [
        "EDIT <#channel|nick> <msgid|*> :<new text>",
        "Gives a message that you sent another text; * is your last one there.", "Example: EDIT #lobby * :hello",
    ]
) { world, turn in
    let text = world.freeText(turn, 2)
    if text.isEmpty { return world.reply(turn, .ERR_NOTEXTTOSEND, ":No text to send") }
    let longest: ByteString = "EDIT \(turn[0]) \(MessageID.text(0)) :\(text)"
    guard world.fits(turn, longest, target: world.shown(turn[0])) else { return }
    world.lookForMessage(turn, .edit(text: ByteString(text)))
}

extension World {
    mutating func edit(_ record: LogRecord, _ request: ChangeRequest, _ place: ChangePlace, text: ByteString) {
        guard record.uid == users[request.user].uid, record.kind.isMessage else {
            return refuse(request, "EDIT_FORBIDDEN", "You can change your own messages only")
        }
        if isOver(settings.editWindow, since: record) {
            return refuseLate(
                request, "EDIT_WINDOW_EXPIRED", settings.editWindow, "You can no longer change this message")
        }
        if let why = reasonNotToEdit(record, request, place, text) { return refuse(request, "EDIT_FORBIDDEN", why) }
        let text = ImageText.isImage(record.tags) ? ImageText.replacingCaption(record.text, by: text) : text
        let msgid = MessageID.text(record.position)
        var line = change(record, .edit, request, place, text: text, body: "EDIT \(place.name) \(msgid) :\(text)")
        var fallback = line
        let command: StaticString = record.kind == .notice ? "NOTICE" : "PRIVMSG"
        fallback.body = "\(command) \(place.name)"
        divide(&fallback, place, "[edited] \(text)")
        var capability: Capabilities = .messageEdit
        if text.bytes.contains(0x0A) {
            line.body = "EDIT \(place.name) \(msgid)"
            divide(&line, place, text)
            // One EDIT for each line would leave the last one.
            capability.formUnion([.multiline, .batch])
        }
        let (knowing, others) = audience(of: request, place, knowing: capability)
        var forms = Forms(interest: line.interest)
        relay(line, to: knowing, &forms)
        var fallbackForms = Forms(interest: fallback.interest)
        relay(fallback, to: others, &fallbackForms)
        confirm(line, request, capability, "EDITED \(place.name) \(msgid) :The message has its new text")
    }

    /// In as many lines as it needs; almost always one.
    private mutating func divide(_ line: inout Outgoing, _ place: ChangePlace, _ text: ByteString) {
        let room = textRoom(source: line.source, head: line.body)
        guard text.bytes.contains(0x0A) || text.count > room else {
            line.body = "\(line.body) :\(text)"
            return
        }
        line.multiline = Multiline(
            lines: Multiline.fit(Multiline.split(text), room: room), target: place.name, reference: nextReference())
    }

    /// Whoever may not speak in the channel now may not do so by changing what was said.
    private mutating func reasonNotToEdit(
        _ record: LogRecord, _ request: ChangeRequest, _ place: ChangePlace, _ text: ByteString
    ) -> ByteString? {
        guard let channel = place.channel else { return nil }
        let utterance = Utterance(kind: record.kind, command: "EDIT", text: text, tags: "")
        return reasonNotToSpeak(request.user, utterance, channel) ?? paceExceeded(request.user, in: channel, lines: 1)
    }
}
