import Bytes
import Wire

/// How a page shows messages that were edited or redacted.
extension World {
    /// The emptied message and, behind it, what made it so; it counts as one (IRCv3 message-redaction). Who does not
    /// know the capability reads a text that says so.
    mutating func writeRedacted(_ record: LogRecord, _ request: PageRequest, batch: ByteString) {
        let redaction = request.counterparts[record.counterpart]
        guard request.knowsRedactions else {
            if record.kind == .tagmsg { return }
            var notice = record
            notice.counterpart = 0
            notice.text = describe(redaction)
            return write(notice, request, batch: batch)
        }
        let target = target(of: record, request)
        let body: ByteString =
            switch record.kind {
            case .notice: "NOTICE \(target) :"
            case .tagmsg: "TAGMSG \(target)"
            default: "PRIVMSG \(target) :"
            }
        _ = write(outgoing(record, record.source, body, batch), for: request.capabilities)
        if let redaction, !request.isInPlace { write(redaction, request, batch: batch) }
    }

    /// `[deleted by bo: spam]`
    func describe(_ redaction: LogRecord?) -> ByteString {
        guard let redaction else { return "[deleted]" }
        let nick = redaction.source.withView { ByteString(Source($0).nick) }
        return redaction.text.isEmpty ? "[deleted by \(nick)]" : "[deleted by \(nick): \(redaction.text)]"
    }

    /// A message that was edited says so: by a tag, to people by a word.
    func marked(_ record: LogRecord, _ request: PageRequest) -> LogRecord {
        guard record.counterpart != 0, let edit = request.counterparts[record.counterpart] else { return record }
        var record = record
        switch request.form {
        case .batch, .lines:
            var time = ByteBuffer()
            Times.write(edit.time, into: &time)
            let tag: ByteString = "parley.chat/edited=\(ByteString(time.view))"
            record.tags = record.tags.isEmpty ? tag : "\(record.tags);\(tag)"
        case .readable, .notices:
            let isCTCP = record.text.bytes.last == 1
            let text = isCTCP ? ByteString(Array(record.text.bytes.dropLast())) : record.text
            record.text = isCTCP ? "\(text) (edited)\u{1}" : "\(text) (edited)"
        }
        return record
    }
}

extension PageRequest {
    var hasEvents: Bool { form == .batch || form == .lines }

    var knowsRedactions: Bool { hasEvents && capabilities.contains(.messageRedaction) }
}
