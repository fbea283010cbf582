import Bytes
import Wire

let batchCommand = Command(
    "BATCH", minimum: 1, cost: 500, source: "IRCv3 draft/multiline, client-initiated batches",
    help: [
        "BATCH +<reference> draft/multiline <target>, the lines, BATCH -<reference>",
        "How IRC clients send one message of several lines. By hand: just type the lines.",
        "The lines may be EDIT <target> <msgid> :<text>, which gives a message a text of several lines.",
        "Example: BATCH +1 draft/multiline #lobby",
    ]
) { world, turn in
    let word = turn[0]
    let reference = word.dropFirst()
    guard word.first == 0x2B || word.first == 0x2D, OpenBatch.isReference(reference) else {
        return world.fail(turn, "MULTILINE_INVALID", "A batch begins with +reference and ends with -reference")
    }
    if word.first == 0x2B { world.openBatch(turn, reference) } else { world.closeBatch(turn, reference) }
}

/// A message of several lines while it comes in: one at a time for each connection, bounded by the limits.
struct OpenBatch {
    var reference: ByteString
    var target: ByteString = ""
    /// Client-only tags of the whole message.
    var tags: ByteString = ""
    /// What its author calls it; empty: nothing.
    var cid: ByteString = ""
    /// Of the opening BATCH; the answer to the whole batch carries it.
    var label: ByteString = ""
    /// All lines are PRIVMSGs, or all are NOTICEs, or EDITs of one message; nil: none came yet.
    var kind: RecordKind?
    /// The message that EDITs are about.
    var edited: ByteString = ""
    var lines: [Multiline.Line] = []
    var bytes = 0
    /// It was answered by an error; what still comes of it is ignored.
    var isRefused = false
    /// Steady milliseconds of its last line.
    var heard: Int64

    /// IRCv3 batch: letters, digits and hyphens.
    static func isReference(_ word: ByteView) -> Bool {
        guard 1...64 ~= word.count else { return false }
        return (0..<word.count).allSatisfy { ASCII.isAlphanumeric(word[$0]) || word[$0] == 0x2D }
    }
}

extension World {
    // MARK: Lines between the two BATCH commands

    /// True: the line belongs to the connection's open batch, or broke it off; nothing more is to be done with it.
    mutating func takeIntoBatch(_ turn: Turn) -> Bool {
        guard let batch = openBatches[turn.session.index], ByteView(turn.command) != "BATCH" else { return false }
        let tag = Tags.value(of: "batch", in: turn.message.tags)
        let isOfBatch = tag.map { batch.reference.equals($0) } ?? false
        if batch.isRefused { return isOfBatch }
        let kinds: [(StaticString, RecordKind)] = [("PRIVMSG", .privmsg), ("NOTICE", .notice), ("EDIT", .edit)]
        let kind = kinds.first { ByteView(turn.command) == $0.0 }?.1
        if isOfBatch, let kind {
            add(turn, kind)
            return true
        }
        let mayPass: [StaticString] = ["PING", "PONG", "QUIT"]
        if tag == nil, mayPass.contains(where: { ByteView(turn.command) == $0 }) { return false }
        breakOff(turn, "MULTILINE_INVALID", "\(turn.command) is no line of the batch \(batch.reference)")
        return true
    }

    private mutating func add(_ turn: Turn, _ kind: RecordKind) {
        guard let batch = openBatches[turn.session.index] else { return }
        let target = turn.parameter(0) ?? .empty
        guard batch.target.withView({ NameKey($0) == NameKey(target) }) else {
            return breakOff(
                turn, "MULTILINE_INVALID_TARGET", "All lines go to the target of the batch",
                about: [batch.target, shown(target)])
        }
        let text = freeText(turn, kind == .edit ? 2 : 1)
        let edited = kind == .edit ? ByteString(turn.parameter(1) ?? .empty) : ""
        let continues = Tags.value(of: "draft/multiline-concat", in: turn.message.tags) != nil
        if text.isEmpty, continues {
            return breakOff(turn, "MULTILINE_INVALID", "A blank line cannot continue the one before")
        }
        if let first = batch.kind, first != kind || batch.edited != edited {
            return breakOff(turn, "MULTILINE_INVALID", "A batch has PRIVMSG, NOTICE or EDIT lines, of one message")
        }
        if batch.lines.count >= settings.limits.multilineLines {
            let limit = settings.limits.multilineLines
            return breakOff(turn, "MULTILINE_MAX_LINES", "At most \(limit) lines", about: ["\(limit)"])
        }
        let joins = continues && !batch.lines.isEmpty
        let bytes = batch.bytes + text.count + (joins || batch.lines.isEmpty ? 0 : 1)
        if bytes > settings.limits.multilineBytes {
            let limit = settings.limits.multilineBytes
            return breakOff(turn, "MULTILINE_MAX_BYTES", "At most \(limit) bytes", about: ["\(limit)"])
        }
        openBatches[turn.session.index]?.kind = kind
        openBatches[turn.session.index]?.edited = edited
        openBatches[turn.session.index]?.bytes = bytes
        openBatches[turn.session.index]?.heard = now.steady
        openBatches[turn.session.index]?.lines.append(Multiline.Line(text: ByteString(text), continues: joins))
    }

    // MARK: Beginning and end

    fileprivate mutating func openBatch(_ turn: Turn, _ reference: ByteView) {
        let slot = turn.session.index
        if let before = openBatches[slot], !before.isRefused {
            breakOff(turn, "MULTILINE_INVALID", "The batch \(before.reference) is open: one at a time")
            openBatches[slot]?.reference = ByteString(reference)
            return
        }
        var batch = OpenBatch(reference: ByteString(reference), heard: now.steady)
        if let why = reasonNotToOpen(turn) {
            // Its lines must not be taken for messages of their own.
            batch.isRefused = true
            openBatches[slot] = batch
            return fail(turn, "MULTILINE_INVALID", why)
        }
        guard let cid = cid(turn) else {
            batch.isRefused = true
            openBatches[slot] = batch
            return
        }
        batch.target = ByteString(turn[2])
        batch.tags = clientTags(turn)
        batch.cid = cid
        if response.slot == slot {
            batch.label = response.label
            response.isDeferred = true
        }
        openBatches[slot] = batch
        deadlines.add(now.steady + settings.limits.batchTimeout, .batch, turn.session)
    }

    private func reasonNotToOpen(_ turn: Turn) -> ByteString? {
        guard capabilities[Int(turn.session.index)].isSuperset(of: [.multiline, .batch]) else {
            return "Ask for the capabilities batch and draft/multiline first"
        }
        if Tags.value(of: "batch", in: turn.message.tags) != nil { return "Batches of clients do not nest" }
        guard let type = turn.parameter(1), type == "draft/multiline" else {
            return "The type of a batch is draft/multiline"
        }
        guard turn.parameterCount == 3, Message.isMiddle(turn[2]), !turn[2].contains(0x2C) else {
            return "A multiline batch has one target"
        }
        return nil
    }

    fileprivate mutating func closeBatch(_ turn: Turn, _ reference: ByteView) {
        guard let batch = openBatches[turn.session.index] else {
            return fail(turn, "MULTILINE_INVALID", "No batch is open")
        }
        guard batch.reference.equals(reference) else {
            if batch.isRefused { return }
            return breakOff(turn, "MULTILINE_INVALID", "The open batch is \(batch.reference)")
        }
        if !batch.isRefused, batch.lines.allSatisfy({ $0.text.isEmpty }) {
            breakOff(turn, "MULTILINE_INVALID", "The batch says nothing")
        } else if !batch.isRefused {
            answer(turn.session, label: batch.label) { world in
                if batch.kind == .edit { world.edit(turn, batch) } else { world.say(turn, batch) }
            }
        }
        openBatches[turn.session.index] = nil
    }

    private mutating func edit(_ turn: Turn, _ batch: OpenBatch) {
        lookForMessage(
            turn,
            ChangeRequest(
                session: turn.session, user: turn.me, command: "EDIT", kind: .edit(text: Multiline.join(batch.lines)),
                target: batch.target, reference: batch.edited))
    }

    private mutating func say(_ turn: Turn, _ batch: OpenBatch) {
        let isNotice = batch.kind == .notice
        var utterance = Utterance(
            kind: isNotice ? .notice : .privmsg, command: isNotice ? "NOTICE" : "PRIVMSG",
            text: Multiline.join(batch.lines), tags: batch.tags, lines: batch.lines)
        users[turn.me].spoke = now.wall
        utterance.cid = batch.cid
        batch.target.withView {
            if batch.cid.isEmpty { speak(turn, utterance, target: $0) } else { speakOnce(turn, utterance, to: $0) }
        }
    }

    /// What `body` says is the answer to an earlier command, with that one's label if it had one.
    mutating func answer(_ session: ConnectionID, label: ByteString, _ body: (inout World) -> Void) {
        if label.isEmpty { return body(&self) }
        let outer = response
        beginResponse(session, label: label)
        body(&self)
        endResponse(session)
        response = outer
    }

    // MARK: Errors

    /// One error for the whole batch: nothing of it is said, and what still comes of it is ignored.
    private mutating func breakOff(
        _ turn: Turn, _ code: StaticString, _ text: ByteString, about context: [ByteString] = []
    ) { breakOff(turn.session, code, text, about: context) }

    private mutating func breakOff(
        _ session: ConnectionID, _ code: StaticString, _ text: ByteString, about context: [ByteString] = []
    ) {
        guard let batch = openBatches[session.index] else { return }
        var refused = OpenBatch(reference: batch.reference, heard: now.steady)
        refused.isRefused = true
        openBatches[session.index] = refused
        answer(session, label: batch.label) { world in
            world.fail(session, "BATCH", code, "\(text); nothing of it was sent", about: context)
        }
    }

    /// Client-initiated batches: one that is left open is broken off.
    mutating func batchDue(_ id: ConnectionID) {
        guard let batch = openBatches[id.index], !batch.isRefused else { return }
        // Who is not read at the moment cannot go on.
        let due = max(batch.heard, sessions[id].throttledUntil) + settings.limits.batchTimeout
        if due > now.steady { return deadlines.add(due, .batch, id) }
        breakOff(id, "TIMEOUT", "The batch was left open for too long", about: [batch.reference])
    }
}
