package import Bytes

/// Where released output goes: the reactor, or a test's ledger.
package protocol OutputSink: ~Copyable {
    mutating func send(_ connection: ConnectionID, _ bytes: ByteView)
    /// Close when everything sent before has left.
    mutating func close(_ connection: ConnectionID)
}

/// Carries released outboxes to their connections, in order, and keeps back what stands behind an open reply slot.
package struct Releaser: ~Copyable {
    private enum Segment {
        case bytes(ByteBufferBox)
        case hold(Int64)
        case close
    }

    /// What waits behind a reply slot; few connections have any.
    private var held: [ConnectionID: [Segment]] = [:]
    private var scratch = ByteBuffer()
    /// Bytes kept back per connection before it is closed as one that does not read.
    private let limit: Int

    package init(limit: Int) { self.limit = limit }

    package mutating func release(_ outbox: borrowing Outbox, into sink: inout some OutputSink & ~Copyable) {
        for answer in outbox.answers { fill(answer, outbox.view(answer.line), &sink) }
        for connection in outbox.touched {
            let start = outbox.first(connection)
            // Everything for it was refused by the store.
            if start < 0 { continue }
            let first = outbox.steps[Int(start)]
            if first.next < 0, first.kind == .bytes, held.isEmpty || held[connection] == nil {
                sink.send(connection, outbox.view(first))
            } else {
                walk(outbox, connection, &sink)
            }
        }
    }

    /// Something waits for it behind a reply slot.
    package func isHolding(_ connection: ConnectionID) -> Bool { held[connection] != nil }

    /// The connection is gone; nothing is owed to it any more.
    package mutating func forget(_ connection: ConnectionID) { held[connection] = nil }

    private mutating func walk(
        _ outbox: borrowing Outbox, _ connection: ConnectionID, _ sink: inout some OutputSink & ~Copyable
    ) {
        scratch.clear(keeping: 1 << 20)
        var isClosing = false
        var at = outbox.first(connection)
        while at >= 0 {
            let step = outbox.steps[Int(at)]
            at = step.next
            if held[connection] != nil {
                keep(connection, step, outbox)
                continue
            }
            switch step.kind {
            case .bytes: scratch.append(outbox.view(step))
            case .hold: held[connection] = [.hold(step.number)]
            case .close: isClosing = true
            }
        }
        if !scratch.isEmpty { sink.send(connection, scratch.view) }
        if isClosing { sink.close(connection) }
        if let segments = held[connection], weight(segments) > limit {
            held[connection] = nil
            sink.close(connection)
        }
    }

    private func weight(_ segments: [Segment]) -> Int {
        segments.reduce(0) { if case .bytes(let box) = $1 { $0 + box.bytes.count } else { $0 } }
    }

    private mutating func keep(_ connection: ConnectionID, _ step: Outbox.Step, _ outbox: borrowing Outbox) {
        switch step.kind {
        case .hold: held[connection]!.append(.hold(step.number))
        case .close: held[connection]!.append(.close)
        case .bytes:
            if case .bytes(let box)? = held[connection]!.last {
                box.bytes.append(contentsOf: outbox.view(step).raw)
            } else {
                held[connection]!.append(.bytes(ByteBufferBox(outbox.view(step))))
            }
        }
    }

    private mutating func fill(
        _ answer: Outbox.Answer, _ bytes: ByteView, _ sink: inout some OutputSink & ~Copyable
    ) {
        guard var segments = held.removeValue(forKey: answer.connection) else { return }
        for (i, segment) in segments.enumerated() {
            if case .hold(answer.number) = segment {
                segments[i] = .bytes(ByteBufferBox(bytes))
                break
            }
        }
        scratch.clear(keeping: 1 << 20)
        var done = 0
        var isClosing = false
        scan: for segment in segments {
            switch segment {
            case .bytes(let box): box.bytes.withUnsafeBytes { scratch.append(ByteView($0)) }
            case .close: isClosing = true
            case .hold: break scan
            }
            done += 1
        }
        if done < segments.count { held[answer.connection] = Array(segments[done...]) }
        if !scratch.isEmpty { sink.send(answer.connection, scratch.view) }
        if isClosing { sink.close(answer.connection) }
    }
}

/// Held bytes grow in place although they sit in an array in a dictionary.
private final class ByteBufferBox {
    var bytes: [UInt8]
    init(_ view: ByteView) { bytes = [UInt8](view.raw) }
}
