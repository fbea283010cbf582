package import Bytes
package import Wire

/// One command being carried out: who sent it and what it says. Handlers answer through `World`, never to a socket.
package struct Turn {
    package let session: ConnectionID
    /// nil before registration.
    package let user: UserID?
    package let message: Message
    /// The command as the table spells it.
    package let command: StaticString

    /// The user of a command that the gate lets through only after registration.
    package var me: UserID { user! }

    package var parameterCount: Int { message.parameterCount }

    package subscript(i: Int) -> ByteView { message[i] }

    package func parameter(_ i: Int) -> ByteView? { message.parameter(i) }
}

/// The answer to a labeled command, gathered until the command ends (IRCv3 labeled-response): nothing becomes an ACK,
/// one line carries the label, several become a batch that does.
struct Response {
    /// One line, or all lines of a batch: a label stands on its beginning then.
    struct Line {
        var bytes: ByteString
        var refusal: Int32

        /// Its lines one by one.
        var parts: [Line] {
            guard bytes.bytes.contains(0x0D) else { return [self] }
            var parts: [Line] = []
            bytes.withView { view in
                view.split(0x0A) { part in
                    let end = part.last == 0x0D ? part.count - 1 : part.count
                    parts.append(Line(bytes: ByteString(part.prefix(end)), refusal: refusal))
                }
            }
            return parts
        }
    }

    /// The slot whose lines are gathered; -1: none are.
    var slot: Int32 = -1
    var label: ByteString = ""
    /// The index that the command's first refusable message will have.
    var firstRefusal: Int32 = 0
    var lines: [Line] = []
    /// Reply slots that the command opened; they stand after its direct answer.
    var holds: [Int64] = []
    /// The command's answer comes later and takes the label with it.
    var isDeferred = false
}

extension World {
    // MARK: Answers to who asked

    /// `:server NNN nick <parameters>`
    mutating func reply(_ turn: Turn, _ numeric: Numeric, _ parameters: ByteString) {
        reply(to: turn.session, numeric, parameters)
    }

    mutating func reply(to session: ConnectionID, _ numeric: Numeric, _ parameters: ByteString) {
        let start = effects.outbox.mark
        effects.outbox.write(byte: 0x3A)
        effects.outbox.write(settings.serverName)
        effects.outbox.write(byte: 0x20)
        effects.outbox.write { numeric.write(into: &$0) }
        effects.outbox.write(byte: 0x20)
        effects.outbox.write(nickShown(to: session))
        effects.outbox.write(byte: 0x20)
        effects.outbox.write(parameters)
        deliver(effects.outbox.endLine(from: start), to: session)
    }

    /// How a numeric addresses a session: its nick, or `*` before it has one.
    func nickShown(to session: ConnectionID) -> ByteString {
        guard sessions.contains(session) else { return "*" }
        if let user = sessions[session].user { return users[user].nick }
        if let nick = openings[session.index]?.nick, !nick.isEmpty { return nick }
        return "*"
    }

    /// `:server <line>`
    mutating func tell(_ session: ConnectionID, _ line: ByteString) {
        let start = effects.outbox.mark
        effects.outbox.write(byte: 0x3A)
        effects.outbox.write(settings.serverName)
        effects.outbox.write(byte: 0x20)
        effects.outbox.write(line)
        deliver(effects.outbox.endLine(from: start), to: session)
    }

    mutating func notice(_ session: ConnectionID, _ text: ByteString) {
        tell(session, "NOTICE \(nickShown(to: session)) :\(text)")
    }

    /// `FAIL <command> <code> <context> :<text>` (IRCv3 standard replies).
    mutating func fail(_ turn: Turn, _ code: StaticString, _ text: ByteString, about context: [ByteString] = []) {
        tell(turn.session, StandardReplies.fail("\(turn.command)", code, context, text))
    }

    mutating func fail(
        _ session: ConnectionID, _ command: ByteString, _ code: StaticString, _ text: ByteString,
        about context: [ByteString] = []
    ) {
        tell(session, StandardReplies.fail(command, code, context, text))
    }

    /// 461, in the words of the Modern IRC document.
    mutating func needMoreParameters(_ turn: Turn) {
        let hint: ByteString = sessions[turn.session].isPlain ? "; try: HELP \(turn.command)" : ""
        reply(turn, .ERR_NEEDMOREPARAMS, "\(turn.command) :Not enough parameters\(hint)")
    }

    /// A line exactly as given, to one session.
    mutating func sendRaw(_ session: ConnectionID, _ line: ByteString) {
        let start = effects.outbox.mark
        effects.outbox.write(line)
        deliver(effects.outbox.endLine(from: start), to: session)
    }

    // MARK: The way to a connection

    mutating func deliver(_ line: LineRef, to session: ConnectionID, refusal: Int32 = -1) {
        if session.index == response.slot {
            let bytes = effects.outbox.view(LineRef(start: line.start, end: line.end - 2))
            response.lines.append(Response.Line(bytes: ByteString(bytes), refusal: refusal))
        } else {
            effects.outbox.deliver(line, to: session)
        }
    }

    mutating func beginResponse(_ session: ConnectionID, label: ByteString) {
        response = Response(slot: session.index, label: label, firstRefusal: Int32(effects.refusals.count))
    }

    /// A message that the store refuses is not acknowledged: its FAIL carries the label.
    private mutating func acknowledge(_ session: ConnectionID, _ label: ByteString, since firstRefusal: Int32) {
        let start = effects.outbox.mark
        effects.outbox.write("@label=\(label) :\(settings.serverName) ACK" as ByteString)
        let line = effects.outbox.endLine(from: start)
        if effects.refusals.count > Int(firstRefusal) { effects.outbox.depend(line, on: firstRefusal) }
        effects.outbox.deliver(line, to: session)
    }

    mutating func endResponse(_ session: ConnectionID) {
        let gathered = response
        response = Response()
        if gathered.slot < 0 { return }
        let label = gathered.label
        switch gathered.lines.count {
        case 0:
            if !gathered.isDeferred { acknowledge(session, label, since: gathered.firstRefusal) }
        case 1:
            send(session, gathered.lines[0], tag: gathered.isDeferred ? "" : "label=\(label)")
        default:
            let reference = nextReference()
            sendRaw(session, "@label=\(label) :\(settings.serverName) BATCH +\(reference) labeled-response")
            for line in gathered.lines.flatMap(\.parts) {
                send(session, line, tag: isInBatch(line.bytes) ? "" : "batch=\(reference)")
            }
            sendRaw(session, ":\(settings.serverName) BATCH -\(reference)")
        }
        for number in gathered.holds { effects.outbox.hold(session, for: number) }
    }

    /// What this session gets from here on waits until question `number` is answered.
    mutating func hold(_ session: ConnectionID, for number: Int64) {
        if response.slot == session.index {
            response.holds.append(number)
        } else {
            effects.outbox.hold(session, for: number)
        }
    }

    /// A line that is part of an inner batch keeps that one's reference (IRCv3 batch: batches nest by their start
    /// line).
    private func isInBatch(_ line: ByteString) -> Bool {
        line.withView { view in
            guard view.first == 0x40, let end = view.firstIndex(of: 0x20) else { return false }
            return Tags.value(of: "batch", in: view[1..<end]) != nil
        }
    }

    private mutating func send(_ session: ConnectionID, _ line: Response.Line, tag: ByteString) {
        let start = effects.outbox.mark
        if tag.isEmpty {
            effects.outbox.write(line.bytes)
        } else if line.bytes.bytes.first == 0x40 {
            effects.outbox.write(byte: 0x40)
            effects.outbox.write(tag)
            effects.outbox.write(byte: 0x3B)
            line.bytes.withView { effects.outbox.write($0.dropFirst()) }
        } else {
            effects.outbox.write(byte: 0x40)
            effects.outbox.write(tag)
            effects.outbox.write(byte: 0x20)
            effects.outbox.write(line.bytes)
        }
        let written = effects.outbox.endLine(from: start)
        if line.refusal >= 0 { effects.outbox.depend(written, on: line.refusal) }
        effects.outbox.deliver(written, to: session)
    }
}
