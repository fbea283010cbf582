import Bytes
import Wire

/// What a page looks like.
extension World {
    /// The page's lines, one after the other in the arena.
    mutating func write(_ page: HistoryPage, for request: PageRequest) -> LineRef {
        let start = effects.outbox.mark
        var request = request
        request.counterparts = page.counterparts
        if page.failure != nil {
            writeFailure(request)
        } else if case .changes(let newest) = request.purpose {
            writeChanges(page, request, upTo: newest)
        } else if !page.records.isEmpty || request.mustAnswer {
            writePage(page, request)
        }
        return LineRef(start: start, end: effects.outbox.mark)
    }

    private mutating func writeFailure(_ request: PageRequest) {
        let text: ByteString = "The history of \(request.target.name) could not be read now"
        let tags: ByteString = request.label.isEmpty ? "" : "label=\(request.label)"
        switch request.purpose {
        case .chathistory(let subcommand):
            writeLine(
                tags, StandardReplies.fail("CHATHISTORY", "MESSAGE_ERROR", [subcommand, request.target.name], text))
        case .changes:
            writeLine(tags, StandardReplies.fail("CHANGES", "INTERNAL_ERROR", [request.target.name], text))
        case .asked, .askedFrom: writeNotice(tags, request, "\(text). Try again in a while")
        case .join: writeNotice(tags, request, "\(text). HISTORY \(request.target.name) asks for it again")
        }
    }

    mutating func writePage(_ page: HistoryPage, _ request: PageRequest) {
        let records = page.records
        let reference = openBatch(request, isComplete: page.isComplete)
        let tags: ByteString = reference.isEmpty ? "" : "batch=\(reference)"
        let isFramed = request.form == .readable || request.form == .notices
        if isFramed { writeNotice(tags, request, heading(records.count, request)) }
        for record in records { write(record, request, batch: reference) }
        if isFramed, !records.isEmpty { writeNotice(tags, request, ending(page, request)) }
        if !reference.isEmpty { writeLine("", "BATCH -\(reference)") }
    }

    /// The reference of the batch that the page is in; empty: it is in none.
    private mutating func openBatch(_ request: PageRequest, isComplete: Bool) -> ByteString {
        if request.form != .batch, request.label.isEmpty { return "" }
        // A label's several lines are a batch in any form (IRCv3 labeled-response).
        if request.form != .batch { return openBatch("labeled-response", label: request.label) }
        var isEnd = false
        if case .chathistory = request.purpose { isEnd = isComplete && request.capabilities.contains(.messageTags) }
        let target = request.spelling.isEmpty ? request.target.name : request.spelling
        return openBatch("chathistory \(target)", label: request.label, isEnd: isEnd)
    }

    /// `isEnd`: there is no further page (IRCv3 chathistory, `draft/chathistory-end`).
    mutating func openBatch(_ type: ByteString, label: ByteString, isEnd: Bool = false) -> ByteString {
        let reference = nextReference()
        var tags: [ByteString] = label.isEmpty ? [] : ["label=\(label)"]
        if isEnd { tags.append("draft/chathistory-end") }
        writeLine(wrap(tags, width: .max, separator: 0x3B)[0], "BATCH +\(reference) \(type)")
        return reference
    }

    private func heading(_ count: Int, _ request: PageRequest) -> ByteString {
        let name = request.target.name
        if count == 0 { return "nothing to show of \(name)" }
        let of: StaticString = request.target.conversation.isDirect ? "with" : "of"
        guard case .askedFrom(let time) = request.purpose else { return "last \(count) \(of) \(name)" }
        return "\(count) \(of) \(name) from \(Times.short(time)) on"
    }

    private func ending(_ page: HistoryPage, _ request: PageRequest) -> ByteString {
        guard case .askedFrom = request.purpose, !page.isComplete, let last = page.records.last else {
            return "live now"
        }
        return "there is more: HISTORY \(request.target.name) \(Times.serverTime(last.time + 1))"
    }

    // MARK: Records

    mutating func write(_ record: LogRecord, _ request: PageRequest, batch: ByteString) {
        if record.isRedacted { return writeRedacted(record, request, batch: batch) }
        switch record.kind {
        case .privmsg, .notice:
            let target = target(of: record, request)
            let command: ByteString = record.kind == .notice ? "NOTICE \(target)" : "PRIVMSG \(target)"
            let head: ByteString = "\(command) :"
            let record = marked(record, request)
            switch request.form {
            case .batch, .lines:
                var line = outgoing(record, record.source, "\(head)\(record.text)", batch)
                let room = textRoom(source: line.source, head: command)
                if record.text.count > room || record.text.bytes.contains(0x0A) {
                    line.body = command
                    line.multiline = Multiline(
                        lines: Multiline.fit(Multiline.split(record.text), room: room), target: target,
                        reference: nextReference())
                }
                _ = write(line, for: request.capabilities)
            case .readable:
                let said = Said(record)
                // A ternary inside the interpolation would make a String of its parts.
                let who: ByteString = said.isAction ? "* \(said.nick) " : ""
                let dated: ByteString = "\(head)[\(Times.short(record.time))] \(who)"
                write(record, record.source, dated, said.text, request, batch)
            case .notices:
                let said = Said(record)
                let head: ByteString = "NOTICE \(noticeTarget(request)) :[\(clock(record.time))] \(said.mark) "
                write(record, settings.serverName, head, said.text, request, batch)
            }
        default:
            var line = outgoing(record, record.source, event(record, request), batch)
            if record.kind == .join {
                let account: ByteString = record.account.isEmpty ? "*" : record.account
                line.extendedBody = "JOIN \(request.target.name) \(account) :\(record.name)"
            }
            if record.kind == .edit { divide(&line, record, request) }
            _ = write(line, for: request.capabilities)
        }
    }

    /// An edit of several lines, in CHANGES.
    private mutating func divide(_ line: inout Outgoing, _ record: LogRecord, _ request: PageRequest) {
        let text = request.counterparts[record.counterpart]?.text ?? ""
        guard text.bytes.contains(0x0A) else { return }
        let target = target(of: record, request)
        line.body = "EDIT \(target) \(MessageID.text(record.counterpart))"
        let room = textRoom(source: line.source, head: line.body)
        line.multiline = Multiline(
            lines: Multiline.fit(Multiline.split(text), room: room), target: target, reference: nextReference())
    }

    /// A text in as many lines as it needs; almost always one.
    private mutating func write(
        _ record: LogRecord, _ source: ByteString, _ head: ByteString, _ text: ByteString, _ request: PageRequest,
        _ batch: ByteString
    ) {
        let room = max(LineLimits.message - 2 - source.count - 2 - head.count, 16)
        var line = outgoing(record, source, "", batch)
        for part in Multiline.fit(Multiline.split(text), room: room) where !part.text.isEmpty || text.isEmpty {
            line.body = "\(head)\(part.text)"
            _ = write(line, for: request.capabilities)
            line.position = 0
        }
    }

    func outgoing(_ record: LogRecord, _ source: ByteString, _ body: ByteString, _ batch: ByteString)
        -> Outgoing
    {
        var line = Outgoing(source: source, time: record.time, position: record.position, body: body)
        line.batch = batch
        // A NOTICE of the server is the server's, only its time is the message's.
        if source != record.source {
            line.position = 0
        } else {
            line.account = record.account
            line.uid = record.uid
            line.tags = record.tags
        }
        return line
    }

    /// To whom it was said, as the reader knows them now.
    func target(of record: LogRecord, _ request: PageRequest) -> ByteString {
        let isFromOther = request.target.conversation.isDirect && record.uid != request.reader
        return isFromOther ? request.nick : request.target.name
    }

    private func noticeTarget(_ request: PageRequest) -> ByteString {
        request.target.conversation.isDirect ? request.nick : request.target.name
    }

    /// What happened, as it was told then (IRCv3 event-playback).
    private func event(_ record: LogRecord, _ request: PageRequest) -> ByteString {
        let word: ByteString
        switch record.kind {
        case .quit: return "QUIT \(record.text)"
        case .nick: return "NICK \(record.text)"
        case .setname: return "SETNAME \(record.text)"
        case .rename: return "RENAME \(record.text)"
        case .tagmsg: return "TAGMSG \(target(of: record, request))"
        case .edit:
            let text = request.counterparts[record.counterpart]?.text ?? ""
            return "EDIT \(target(of: record, request)) \(MessageID.text(record.counterpart)) :\(text)"
        case .redact:
            let reason: ByteString = record.text.isEmpty ? "" : " :\(record.text)"
            return "REDACT \(target(of: record, request)) \(MessageID.text(record.counterpart))\(reason)"
        case .part: word = "PART"
        case .kick: word = "KICK"
        case .topic: word = "TOPIC"
        case .mode: word = "MODE"
        case .join, .privmsg, .notice: word = "JOIN"
        }
        return record.text.isEmpty ? "\(word) \(request.target.name)" : "\(word) \(request.target.name) \(record.text)"
    }

    /// `21:40` on the same day (UTC), with the date before that.
    private func clock(_ time: Int64) -> ByteString {
        time / 86_400_000 == now.wall / 86_400_000 ? Times.clock(time) : Times.short(time)
    }

    // MARK: Lines of the server

    mutating func writeNotice(_ tags: ByteString, _ request: PageRequest, _ text: ByteString) {
        let target = request.form == .notices ? noticeTarget(request) : request.nick
        writeLine(tags, "NOTICE \(target) :\(text)")
    }

    mutating func writeLine(_ tags: ByteString, _ text: ByteString) {
        let start = effects.outbox.mark
        if !tags.isEmpty { effects.outbox.write("@\(tags) ") }
        effects.outbox.write(":\(settings.serverName) \(text)")
        _ = effects.outbox.endLine(from: start)
    }
}

extension PageRequest {
    /// Who asked is told also that there is nothing; a JOIN says nothing of it.
    fileprivate var mustAnswer: Bool { if case .join = purpose { false } else { true } }
}

/// A message in words that a person can read: what clients say in CTCP is taken apart.
struct Said {
    let nick: ByteString
    let text: ByteString
    let isAction: Bool
    /// `<ana>`, `-ana-` for a NOTICE, `* ana` for an action.
    let mark: ByteString

    init(_ record: LogRecord) {
        nick = record.source.withView { ByteString(Source($0).nick) }
        let (text, isAction) = record.text.withView { text in
            guard text.first == 1 else { return (ByteString(text), false) }
            var inner = text.dropFirst()
            if inner.last == 1 { inner = inner.prefix(inner.count - 1) }
            guard inner.hasPrefix("ACTION") else { return (ByteString(inner), false) }
            return (ByteString(inner.dropFirst(6).trimmed), true)
        }
        self.text = text
        self.isAction = isAction
        mark = isAction ? "* \(nick)" : record.kind == .notice ? "-\(nick)-" : "<\(nick)>"
    }
}
