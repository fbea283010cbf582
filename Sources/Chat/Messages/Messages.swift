import Bytes
import Wire

let messageCommands: [Command] = [
    Command(
        "PRIVMSG", source: "Modern IRC, PRIVMSG",
        help: [
            "PRIVMSG <#channel|nick>[,…] :<text>", "Says something to a channel or to one person.",
            "Example: PRIVMSG #lobby :hello",
        ]
    ) { world, turn in world.speak(turn, .privmsg) },
    Command(
        "NOTICE", source: "Modern IRC, NOTICE",
        help: [
            "NOTICE <#channel|nick>[,…] :<text>", "Like PRIVMSG, but nothing may answer it automatically.",
            "Example: NOTICE #lobby :back in five",
        ]
    ) { world, turn in world.speak(turn, .notice) },
    Command(
        "TAGMSG", source: "IRCv3 message-tags",
        help: [
            "@+tag=value TAGMSG <#channel|nick>", "Tags without text (typing, reactions), for clients.",
            "Example: @+typing=active TAGMSG #lobby",
        ]
    ) { world, turn in world.speak(turn, .tagmsg) },
    batchCommand, relaymsgCommand,
]

/// One message on its way: what is said, before it is known who may hear it.
struct Utterance {
    var kind: RecordKind
    var command: StaticString
    var text: ByteString
    /// Client-only tags.
    var tags: ByteString
    /// What its author calls it (`parley.chat/cid`); empty: nothing.
    var cid: ByteString = ""
    /// What was sent under this name before.
    var sent: [SentMessage] = []
    /// As the author divided `text`; empty: it is one line.
    var lines: [Multiline.Line] = []
    /// Whose words a bridge says (RELAYMSG); nil: they are the sender's own.
    var author: Author?
    /// NOTICE is not answered by errors that a bot might loop on (Modern IRC, NOTICE).
    var isQuiet: Bool { kind == .notice }
}

/// Somebody of another network, as everyone sees it.
struct Author {
    /// `nick!user@host`
    var source: ByteString
    var name: ByteString
}

extension World {
    mutating func speak(_ turn: Turn, _ kind: RecordKind) {
        guard let list = turn.parameter(0), !list.parts(0x2C).isEmpty else {
            let hint: ByteString = sessions[turn.session].isPlain ? ". Try PRIVMSG #lobby :hello" : ""
            if kind == .tagmsg { return needMoreParameters(turn) }
            return reply(turn, .ERR_NORECIPIENT, ":No recipient given (\(turn.command))\(hint)")
        }
        let text = kind == .tagmsg ? .empty : freeText(turn, 1)
        guard kind == .tagmsg || !text.isEmpty else {
            return reply(turn, .ERR_NOTEXTTOSEND, ":No text to send")
        }
        var utterance = Utterance(
            kind: kind, command: turn.command, text: ByteString(text), tags: clientTags(turn))
        if kind == .tagmsg, utterance.tags.isEmpty { return }
        guard let cid = cid(turn) else { return }
        utterance.cid = cid
        users[turn.me].spoke = now.wall
        if cid.isEmpty { speak(turn, utterance, to: list) } else { speakOnce(turn, utterance, to: list) }
    }

    mutating func speak(_ turn: Turn, _ utterance: Utterance, to list: ByteView) {
        if list.firstIndex(of: 0x2C) == nil { return speak(turn, utterance, target: list) }
        var seen = Set<NameKey>()
        for target in list.parts(0x2C) where seen.insert(NameKey(target)).inserted {
            if seen.count > settings.limits.targets {
                let given = shown(target)
                return reply(
                    turn, .ERR_TOOMANYTARGETS, "\(given) :Too many recipients; at most \(settings.limits.targets)")
            }
            speak(turn, utterance, target: target)
        }
    }

    mutating func speak(_ turn: Turn, _ utterance: Utterance, target: ByteView) {
        let (ranks, name) = statusTarget(target)
        if ranks.isEmpty, answerRepeated(turn, utterance, name) { return }
        if name.first == 0x23 { return speakInChannel(turn, utterance, name, onlyRanks: ranks) }
        speakToUser(turn, utterance, target)
    }

    /// `@#channel`: the members with at least that rank (STATUSMSG).
    private func statusTarget(_ target: ByteView) -> (Ranks, ByteView) {
        guard target.count > 2, target[1] == 0x23 else { return ([], target) }
        for step in Ranks.ladder where step.prefix == target[0] { return (step.rank, target.dropFirst()) }
        return ([], target)
    }

    /// The utterance as its receivers get it; nil: it does not fit, and its author was told.
    mutating func outgoing(_ turn: Turn, _ utterance: Utterance, target: ByteString) -> Outgoing? {
        var line: Outgoing
        if utterance.lines.isEmpty {
            let said: ByteString =
                utterance.kind == .tagmsg ? "TAGMSG \(target)" : "\(utterance.command) \(target) :\(utterance.text)"
            guard fits(turn, said, target: target, by: utterance.author) else { return nil }
            line = outgoing(from: turn.me, said)
        } else {
            line = outgoing(from: turn.me, "\(utterance.command) \(target)")
            let room = textRoom(source: line.source, head: line.body)
            line.multiline = Multiline(
                lines: Multiline.fit(utterance.lines, room: room), target: target, reference: nextReference())
        }
        line.tags = utterance.tags
        if let author = utterance.author { line.source = author.source }
        return line
    }

    /// What cannot be relayed whole is refused: receivers would see it cut, and its author would not know.
    mutating func fits(_ turn: Turn, _ body: ByteString, target: ByteString, by author: Author? = nil) -> Bool {
        let excess = 2 + (author?.source ?? users[turn.me].source).count + body.count - (LineLimits.message - 2)
        if excess <= 0 { return true }
        reply(
            turn, .ERR_INPUTTOOLONG,
            ":Text for \(target) was too long by \(excess) byte\(excess == 1 ? "" : "s"); nothing of it was sent")
        return false
    }

    /// `+key=value` tags are relayed; everything else a client says of time, msgid or account is its own opinion.
    func clientTags(_ turn: Turn) -> ByteString {
        if turn.message.tags.isEmpty || !capabilities[Int(turn.session.index)].contains(.messageTags) { return "" }
        var kept: [UInt8] = []
        Tags.each(turn.message.tags) { tag in
            guard tag.isClientOnly, Tags.isValidKey(tag.key) else { return }
            if !kept.isEmpty { kept.append(0x3B) }
            kept.append(contentsOf: tag.key.raw)
            if !tag.rawValue.isEmpty {
                kept.append(0x3D)
                kept.append(contentsOf: tag.rawValue.raw)
            }
        }
        return ByteString(kept)
    }
}
