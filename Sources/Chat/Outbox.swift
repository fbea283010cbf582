package import Bytes

/// A line in the outbox: where its bytes stand, with the line end.
package struct LineRef: Equatable, Sendable {
    package var start: Int32
    package var end: Int32

    @inlinable
    package init(start: Int32, end: Int32) {
        self.start = start
        self.end = end
    }
}

/// What leaves: each line once, and for each connection which lines, in order.
///
/// Lines that follow each other in the arena and go to the same connection become one range, so that a channel's burst
/// is one slice of the arena for each of its members, whatever its length: the cost of a delivery is one comparison.
package struct Outbox: ~Copyable {
    /// One step of a connection's output, linked to the next.
    package struct Step: Sendable {
        package enum Kind: UInt8, Sendable {
            /// The arena's bytes from `start` to `end`.
            case bytes
            /// What follows waits for the answer with this number: the reply slot.
            case hold
            /// Close when everything before it has left.
            case close
            /// Where the author of a message is told if the store refuses it; nothing otherwise.
            case refusal
        }
        package var kind: Kind
        package var start: Int32
        package var end: Int32
        package var next: Int32
        package var number: Int64
    }

    /// Bytes that take the place of a hold.
    package struct Answer: Sendable {
        package var connection: ConnectionID
        package var number: Int64
        package var line: LineRef
    }

    package private(set) var bytes = ByteBuffer()
    package private(set) var steps: ContiguousArray<Step> = []
    package private(set) var touched: ContiguousArray<ConnectionID> = []
    package private(set) var answers: ContiguousArray<Answer> = []
    private var heads: ContiguousArray<Int32> = []
    private var tails: ContiguousArray<Int32> = []
    /// Whose steps a slot holds: it may be given to another connection before the batch leaves.
    private var owners: ContiguousArray<UInt32> = []
    /// Lines that must not leave when the record with this index in the batch is refused; rising by start.
    private var dependent: ContiguousArray<(line: LineRef, refusal: Int32)> = []

    package init() {}

    package var isEmpty: Bool { touched.isEmpty && answers.isEmpty }

    // MARK: Writing

    /// The start of the line that is written next.
    package var mark: Int32 { Int32(truncatingIfNeeded: bytes.count) }

    package mutating func write(_ view: ByteView) { bytes.append(view) }
    package mutating func write(_ string: ByteString) { bytes.append(string) }
    package mutating func write(_ literal: StaticString) { bytes.append(ByteView(literal)) }
    package mutating func write(byte: UInt8) { bytes.append(byte: byte) }
    package mutating func write<R>(with body: (inout ByteBuffer) -> R) -> R { body(&bytes) }

    /// Ends the line that began at `start` with CR LF.
    package mutating func endLine(from start: Int32) -> LineRef {
        bytes.append(ByteView("\r\n"))
        return LineRef(start: start, end: mark)
    }

    /// Until the record is stored this line waits; if it is refused the line never leaves.
    package mutating func depend(_ line: LineRef, on refusal: Int32) { dependent.append((line, refusal)) }

    // MARK: Addressing

    package mutating func deliver(_ line: LineRef, to connection: ConnectionID) {
        let slot = Int(connection.index)
        if slot < tails.count {
            let tail = Int(tails[slot])
            if tail >= 0, owners[slot] == connection.generation {
                if steps[tail].end == line.start, steps[tail].kind == .bytes {
                    steps[tail].end = line.end
                    return
                }
                append(Step(kind: .bytes, start: line.start, end: line.end, next: -1, number: 0), after: tail, slot)
                return
            }
        }
        begin(connection, Step(kind: .bytes, start: line.start, end: line.end, next: -1, number: 0))
    }

    package mutating func hold(_ connection: ConnectionID, for number: Int64) {
        add(connection, Step(kind: .hold, start: -1, end: -1, next: -1, number: number))
    }

    /// Here the author of a message is told if the store refuses it.
    package mutating func mayRefuse(_ connection: ConnectionID, _ refusal: Int32) {
        add(connection, Step(kind: .refusal, start: -1, end: -1, next: -1, number: Int64(refusal)))
    }

    package mutating func close(_ connection: ConnectionID) {
        add(connection, Step(kind: .close, start: -1, end: -1, next: -1, number: 0))
    }

    /// `line` (possibly many lines, possibly nothing) goes where `hold(_, for: number)` stands.
    package mutating func answer(_ connection: ConnectionID, number: Int64, with line: LineRef) {
        answers.append(Answer(connection: connection, number: number, line: line))
    }

    private mutating func add(_ connection: ConnectionID, _ step: Step) {
        let slot = Int(connection.index)
        if slot < tails.count, tails[slot] >= 0, owners[slot] == connection.generation {
            append(step, after: Int(tails[slot]), slot)
        } else {
            begin(connection, step)
        }
    }

    private mutating func append(_ step: Step, after tail: Int, _ slot: Int) {
        steps[tail].next = Int32(steps.count)
        tails[slot] = Int32(steps.count)
        steps.append(step)
    }

    private mutating func begin(_ connection: ConnectionID, _ step: Step) {
        let slot = Int(connection.index)
        while tails.count <= slot {
            tails.append(-1)
            heads.append(-1)
            owners.append(0)
        }
        heads[slot] = Int32(steps.count)
        tails[slot] = Int32(steps.count)
        owners[slot] = connection.generation
        steps.append(step)
        touched.append(connection)
    }

    // MARK: Leaving

    /// The first step of a touched connection; -1: nothing is left for it, or it is gone and its slot another's.
    package func first(_ connection: ConnectionID) -> Int32 {
        owners[Int(connection.index)] == connection.generation ? heads[Int(connection.index)] : -1
    }

    package func view(_ line: LineRef) -> ByteView { bytes.view(Int(line.start)..<Int(line.end)) }

    package func view(_ step: Step) -> ByteView { bytes.view(Int(step.start)..<Int(step.end)) }

    /// The journal refused the batch: takes every dependent line out of every connection's steps, and tells each author
    /// in the place of its message. `lines` are by the numbers given to `mayRefuse`, without line end.
    package mutating func refuse(_ lines: [ByteString]) {
        var told: [LineRef] = []
        for line in lines {
            let start = mark
            write(line)
            told.append(endLine(from: start))
        }
        for connection in touched { cutSteps(of: connection, told) }
        dependent.removeAll(keepingCapacity: true)
    }

    private mutating func cutSteps(of connection: ConnectionID, _ told: [LineRef]) {
        let slot = Int(connection.index)
        var kept: [Step] = []
        var at = first(connection)
        if at < 0 { return }
        while at >= 0 {
            let step = steps[Int(at)]
            switch step.kind {
            case .bytes: kept += cut(step)
            case .hold, .close: kept.append(step)
            case .refusal:
                let line = told[Int(step.number)]
                kept.append(Step(kind: .bytes, start: line.start, end: line.end, next: -1, number: 0))
            }
            at = step.next
        }
        heads[slot] = -1
        tails[slot] = -1
        for step in kept {
            var step = step
            step.next = -1
            if tails[slot] >= 0 {
                append(step, after: Int(tails[slot]), slot)
            } else {
                heads[slot] = Int32(steps.count)
                tails[slot] = Int32(steps.count)
                steps.append(step)
            }
        }
    }

    /// What is left of a range when the dependent lines within it are taken out.
    private func cut(_ step: Step) -> [Step] {
        var parts: [Step] = []
        var start = step.start
        for (line, _) in dependent where line.start >= step.start && line.end <= step.end {
            if line.start > start {
                parts.append(Step(kind: .bytes, start: start, end: line.start, next: -1, number: 0))
            }
            start = line.end
        }
        if start < step.end { parts.append(Step(kind: .bytes, start: start, end: step.end, next: -1, number: 0)) }
        return parts
    }

    /// Ready for the next batch; memory is kept up to what a busy turn needs.
    package mutating func clear() {
        for connection in touched {
            heads[Int(connection.index)] = -1
            tails[Int(connection.index)] = -1
        }
        touched.removeAll(keepingCapacity: true)
        steps.removeAll(keepingCapacity: true)
        answers.removeAll(keepingCapacity: true)
        dependent.removeAll(keepingCapacity: true)
        bytes.clear(keeping: 4 << 20)
    }
}
