import Bytes
import Wire

/// A message of several lines (IRCv3 draft/multiline): its shape, and how it is written to those who know the
/// capability and to those who do not.
struct Multiline {
    struct Line: Equatable {
        var text: ByteString
        /// Joined to the line before it without a line feed (`draft/multiline-concat`).
        var continues = false
    }

    var lines: [Line]
    var target: ByteString
    /// Of the batch that its receivers get.
    var reference: ByteString

    static func split(_ text: ByteString) -> [Line] {
        var lines: [Line] = []
        text.withView { view in view.split(0x0A) { lines.append(Line(text: ByteString($0))) } }
        return lines
    }

    static func join(_ lines: [Line]) -> ByteString {
        var bytes: [UInt8] = []
        for (i, line) in lines.enumerated() {
            if i > 0, !line.continues { bytes.append(0x0A) }
            bytes.append(contentsOf: line.text.bytes)
        }
        return ByteString(bytes)
    }

    /// The lines as their author divided them; what is longer than `room` bytes goes on in a further one, so that
    /// nothing is cut.
    static func fit(_ lines: [Line], room: Int) -> [Line] {
        var fitting: [Line] = []
        for line in lines {
            var rest = line
            while rest.text.count > room {
                let length = rest.text.withView { lengthOfPiece($0, room: room) }
                fitting.append(Line(text: ByteString(Array(rest.text.bytes[..<length])), continues: rest.continues))
                rest = Line(text: ByteString(Array(rest.text.bytes[length...])), continues: true)
            }
            fitting.append(rest)
        }
        return fitting
    }

    /// After a space in the second half, else between two characters.
    private static func lengthOfPiece(_ text: ByteView, room: Int) -> Int {
        for at in stride(from: room - 1, to: room / 2, by: -1) where text[at] == 0x20 { return at + 1 }
        return UTF8Check.scalarBoundary(text, atMost: room)
    }
}

extension World {
    /// Bytes that `:source head :` and the line end leave for a text.
    func textRoom(source: ByteString, head: ByteString) -> Int {
        max(LineLimits.message - 2 - source.count - head.count - 4, 16)
    }

    /// All lines of one message, one behind the other in the arena.
    mutating func write(_ multiline: Multiline, of line: Outgoing, for capabilities: Capabilities) -> LineRef {
        let start = effects.outbox.mark
        var single = line
        single.multiline = nil
        if capabilities.isSuperset(of: [.multiline, .batch]) {
            single.body = "BATCH +\(multiline.reference) draft/multiline \(multiline.target)"
            _ = write(single, for: capabilities)
            writeBatched(multiline, of: line)
        } else {
            // Blank lines say nothing to who does not know the capability, and the msgid is the first line's alone.
            for part in multiline.lines where !part.text.isEmpty {
                single.body = "\(line.body) :\(part.text)"
                _ = write(single, for: capabilities)
                single.position = 0
            }
        }
        return LineRef(start: start, end: effects.outbox.mark)
    }

    /// What stands behind the opening BATCH. The tags of the message are that one's alone.
    private mutating func writeBatched(_ multiline: Multiline, of line: Outgoing) {
        var inner = Outgoing(source: line.source, time: line.time, body: "")
        inner.refusal = line.refusal
        for part in multiline.lines {
            inner.batch = part.continues ? "\(multiline.reference);draft/multiline-concat" : multiline.reference
            inner.body = "\(line.body) :\(part.text)"
            _ = write(inner, for: [])
        }
        inner.batch = line.batch
        inner.body = "BATCH -\(multiline.reference)"
        _ = write(inner, for: [])
    }
}
