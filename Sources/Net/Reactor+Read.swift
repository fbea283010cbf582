package import Bytes

extension Reactor {
    /// No more `received` for this connection until it is resumed.
    package mutating func pauseReading(_ id: ConnectionID) {
        guard let slot = connections.slot(id), connections[slot].state == .open else { return }
        connections[slot].flags.insert(.paused)
    }

    /// The next turn hands the kept bytes again, even if nothing new has come, and then what waits in the kernel.
    package mutating func resumeReading(_ id: ConnectionID) {
        guard let slot = connections.slot(id), connections[slot].state == .open else { return }
        if !connections[slot].flags.contains(.paused), !isFull(slot) { return }
        connections[slot].flags.remove(.paused)
        connections[slot].flags.insert(.handKept)
        enqueue(slot)
    }

    /// The LF behind a WebSocket message may be one byte more than was read.
    private func capacity(_ slot: Int) -> Int { chunk.count - (connections[slot].web == nil ? 0 : 1) }

    private func isFull(_ slot: Int) -> Bool { connections[slot].input.count >= capacity(slot) }

    mutating func read(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        if connections[slot].flags.contains(.handKept), !handKept(slot, &handler) { return }
        if connections[slot].flags.isSuperset(of: [.broken, .ended]), !connections[slot].flags.contains(.paused) {
            return bury(slot, connections[slot].reason ?? .reset)
        }
        var budget = limits.readsPerTurn
        while budget > 0, mayRead(slot) {
            let count = readOnce(slot, &handler)
            if count == 0 { return }
            budget -= count
        }
        if mayRead(slot) { enqueue(slot) }
    }

    private func mayRead(_ slot: Int) -> Bool {
        let flags = connections[slot].flags
        return connections[slot].state == .open && flags.contains(.readable)
            && flags.isDisjoint(with: [.paused, .ended])
            && !isFull(slot)
    }

    /// How many bytes came; 0 when there are no more for now, or ever.
    private mutating func readOnce(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) -> Int {
        let kept = connections[slot].input.count
        let size = min(limits.receiveChunk, capacity(slot) - kept)
        let room = UnsafeMutableRawBufferPointer(rebasing: chunk[kept..<kept + size])
        switch connections[slot].receive(kernel, room) {
        case .bytes(let count):
            // epoll(7): a short read of a stream has emptied it.
            if count < size, !connections[slot].tls.isActive, !connections[slot].flags.contains(.drain) {
                connections[slot].flags.remove(.readable)
            }
            return take(slot, kept, count, &handler) ? count : 0
        case .wouldBlock: connections[slot].flags.subtract([.readable, .drain])
        case .wantsWriting:
            connections[slot].flags.subtract([.readable, .drain])
            watchWrites(slot)
        case .ended: end(slot, &handler)
        case .failed(let code): bury(slot, connections[slot].reason ?? reason(code))
        }
        return 0
    }

    /// False when the first byte said that the peer speaks TLS here.
    private mutating func take(
        _ slot: Int, _ kept: Int, _ count: Int, _ handler: inout some ReactorHandler & ~Copyable
    ) -> Bool {
        if connections[slot].flags.contains(.fresh) {
            connections[slot].flags.remove(.fresh)
            if !connections[slot].tls.isActive, chunk[0] == tlsFirstByte {
                refuse(slot, wrongProtocolText.tlsOnPlain)
                return false
            }
        }
        if connections[slot].web != nil {
            let frames = [UInt8](chunk[kept..<kept + count])
            return frames.withUnsafeBytes { takeFrames(slot, ByteView($0), &handler) }
        }
        copyKept(slot)
        hand(slot, kept + count, ended: false, &handler)
        return true
    }

    /// The peer sends no more. A broken connection has nobody left to answer, and what came last may be half a line.
    mutating func end(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        if connections[slot].flags.contains(.broken) { return bury(slot, connections[slot].reason ?? .reset) }
        connections[slot].flags.insert(.ended)
        copyKept(slot)
        hand(slot, connections[slot].input.count, ended: true, &handler)
    }

    /// After a pause. False when nothing is to be read now.
    private mutating func handKept(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) -> Bool {
        connections[slot].flags.remove(.handKept)
        let kept = connections[slot].input.count
        let owesEnd = connections[slot].flags.contains(.owesEnd)
        if kept > 0 || owesEnd {
            connections[slot].flags.remove(.owesEnd)
            copyKept(slot)
            hand(slot, kept, ended: owesEnd, &handler)
        }
        if connections[slot].flags.contains(.paused) { return false }
        // What a peer sent before it broke is bounded by what was kept: the kernel may hold megabytes more.
        if connections[slot].flags.contains(.broken) {
            bury(slot, connections[slot].reason ?? .reset)
            return false
        }
        return true
    }

    func copyKept(_ slot: Int) {
        let kept = connections[slot].input.view
        if !kept.isEmpty { chunk.copyMemory(from: kept.raw) }
    }

    /// Hands the first `total` bytes of the chunk and keeps what the handler leaves.
    mutating func hand(
        _ slot: Int, _ total: Int, ended: Bool, _ handler: inout some ReactorHandler & ~Copyable
    ) {
        let bytes = ByteView(UnsafeRawBufferPointer(rebasing: chunk[0..<total]))
        let answer = handler.received(connections.id(slot), bytes, ended: ended)
        let rest = ended && !answer.pause ? .empty : bytes.dropFirst(answer.consumed)
        connections[slot].input.clear(keeping: rest.isEmpty ? 0 : .max)
        connections[slot].input.append(rest)
        if answer.pause {
            connections[slot].flags.insert(.paused)
            if ended { connections[slot].flags.insert(.owesEnd) }
        }
    }

    /// Both directions are gone. Reading finds out by itself, unless it is paused or over.
    mutating func noteHangUp(_ slot: Int) {
        let flags = connections[slot].flags
        guard connections[slot].state == .open, !flags.isDisjoint(with: [.paused, .ended]) else { return }
        let code = kernel.pendingError(connections[slot].descriptor)
        let why: CloseReason = code == 0 ? .reset : reason(code)
        if flags.contains(.paused) { breakOutput(slot, why) } else { bury(slot, why) }
    }

    func reason(_ code: Int32) -> CloseReason {
        switch code {
        case TLSSession.protocolFailure: .tlsFailure(takeTLSError())
        default: CloseReason(errno: code)
        }
    }
}
