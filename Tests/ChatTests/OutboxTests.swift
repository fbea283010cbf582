import Bytes
import Chat
import Testing

@Suite struct OutboxTests {
    private struct Sink: OutputSink {
        var sent: [(ConnectionID, String)] = []
        var closed: [ConnectionID] = []
        mutating func send(_ connection: ConnectionID, _ bytes: ByteView) {
            sent.append((connection, bytes.description))
        }
        mutating func close(_ connection: ConnectionID) { closed.append(connection) }
        func text(_ id: ConnectionID) -> String { sent.filter { $0.0 == id }.map(\.1).joined() }
    }

    private let a = ConnectionID(index: 0, generation: 1)
    private let b = ConnectionID(index: 1, generation: 1)

    private static func line(_ outbox: inout Outbox, _ text: ByteString) -> LineRef {
        let start = outbox.mark
        outbox.write(text)
        return outbox.endLine(from: start)
    }

    @Test func linesInARowAreOneWrite() {
        var outbox = Outbox()
        for text: ByteString in ["one", "two", "three"] {
            let line = Self.line(&outbox, text)
            outbox.deliver(line, to: a)
            if text != "two" { outbox.deliver(line, to: b) }
        }
        var releaser = Releaser(limit: 1000)
        var sink = Sink()
        releaser.release(outbox, into: &sink)
        #expect(sink.sent.count == 2)
        #expect(sink.text(a) == "one\r\ntwo\r\nthree\r\n")
        #expect(sink.text(b) == "one\r\nthree\r\n")
    }

    @Test func whatFollowsAHoldWaitsForItsAnswer() {
        var outbox = Outbox()
        do { let line = Self.line(&outbox, "before"); outbox.deliver(line, to: a) }
        outbox.hold(a, for: 7)
        do { let line = Self.line(&outbox, "between"); outbox.deliver(line, to: a) }
        outbox.hold(a, for: 8)
        do { let line = Self.line(&outbox, "after"); outbox.deliver(line, to: a) }
        outbox.close(a)
        var releaser = Releaser(limit: 1000)
        var sink = Sink()
        releaser.release(outbox, into: &sink)
        #expect(sink.text(a) == "before\r\n")
        outbox.clear()
        do { let line = Self.line(&outbox, "eight"); outbox.answer(a, number: 8, with: line) }
        releaser.release(outbox, into: &sink)
        #expect(sink.text(a) == "before\r\n")
        #expect(sink.closed.isEmpty)
        outbox.clear()
        do { let line = Self.line(&outbox, "seven"); outbox.answer(a, number: 7, with: line) }
        releaser.release(outbox, into: &sink)
        #expect(sink.text(a) == "before\r\nseven\r\nbetween\r\neight\r\nafter\r\n")
        #expect(sink.closed == [a])
    }

    @Test func aHeldConnectionThatIsOwedTooMuchIsClosed() {
        var outbox = Outbox()
        outbox.hold(a, for: 1)
        do { let line = Self.line(&outbox, "0123456789"); outbox.deliver(line, to: a) }
        var releaser = Releaser(limit: 5)
        var sink = Sink()
        releaser.release(outbox, into: &sink)
        #expect(sink.closed == [a])
        #expect(sink.sent.isEmpty)
    }

    @Test func aSlotThatIsGivenAgainStartsAnew() {
        var outbox = Outbox()
        do { let line = Self.line(&outbox, "for the dead"); outbox.deliver(line, to: a) }
        let next = ConnectionID(index: 0, generation: 2)
        do { let line = Self.line(&outbox, "for the next"); outbox.deliver(line, to: next) }
        var releaser = Releaser(limit: 1000)
        var sink = Sink()
        releaser.release(outbox, into: &sink)
        #expect(sink.text(next) == "for the next\r\n")
        #expect(sink.text(a).isEmpty)
    }

    @Test func refusedLinesAreCutOutOfTheirRanges() {
        var outbox = Outbox()
        for (i, text) in (["one", "two", "three", "four"] as [ByteString]).enumerated() {
            let line = Self.line(&outbox, text)
            if i % 2 == 1 { outbox.depend(line, on: Int32(i)) }
            outbox.deliver(line, to: a)
            if i == 1 { outbox.deliver(line, to: b) }
        }
        outbox.mayRefuse(a, 0)
        outbox.close(b)
        outbox.refuse(["refused"])
        var releaser = Releaser(limit: 1000)
        var sink = Sink()
        releaser.release(outbox, into: &sink)
        #expect(sink.text(a) == "one\r\nthree\r\nrefused\r\n")
        #expect(sink.text(b).isEmpty)
        #expect(sink.closed == [b])
    }
}
