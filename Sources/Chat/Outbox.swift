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
    /// Where authors are told if the store refuses what they said: before what is written from `start` on, and behind
    /// the first `steps` steps. It stands apart, for a message alone makes no step of its author's output.
    private var refusable: ContiguousArray<(connection: ConnectionID, start: Int32, steps: Int32, refusal: Int32)> = []
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
        refusable.append((connection, mark, Int32(steps.count), refusal))
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
        var told: [ConnectionID: [Told]] = [:]
        for place in refusable {
            let start = mark
            write(lines[Int(place.refusal)])
            let line = endLine(from: start)
            told[place.connection, default: []].append(Told(start: place.start, steps: place.steps, line: line))
        }
        for connection in touched { cutSteps(of: connection, told.removeValue(forKey: connection) ?? []) }
        // Who was to get nothing else.
        for (connection, lines) in told {
            for told in lines { deliver(told.line, to: connection) }
        }
        dependent.removeAll(keepingCapacity: true)
    }

    private struct Told {
        var start: Int32
        var steps: Int32
        var line: LineRef
        var step: Step { Step(kind: .bytes, start: line.start, end: line.end, next: -1, number: 0) }
    }

    private mutating func cutSteps(of connection: ConnectionID, _ told: [Told]) {
        let slot = Int(connection.index)
        var told = told[...]
        var kept: [Step] = []
        var at = first(connection)
        if at < 0 { return }
        while at >= 0 {
            var step = steps[Int(at)]
            while let next = told.first, next.steps <= at { kept.append(told.removeFirst().step) }
            while step.kind == .bytes, let next = told.first, next.start < step.end {
                var before = step
                before.end = next.start
                kept += cut(before)
                kept.append(told.removeFirst().step)
                step.start = next.start
            }
            kept += step.kind == .bytes ? cut(step) : [step]
            at = step.next
        }
        kept += told.map(\.step)
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
        refusable.removeAll(keepingCapacity: true)
        bytes.clear(keeping: 4 << 20)
    }
}
