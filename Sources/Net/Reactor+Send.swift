package import Bytes

extension Reactor {
    /// Tries the kernel at once if nothing waits, and queues the rest. A peer whose queue would pass
    /// `NetLimits.sendQueueBytes` is cut: what waited is dropped, `closed` follows in the next turn.
    package mutating func send(_ id: ConnectionID, _ bytes: ByteView) {
        guard let slot = connections.slot(id), connections[slot].state == .open, !bytes.isEmpty,
            !connections[slot].flags.contains(.broken)
        else { return }
        if connections[slot].web == nil { sendFrames(slot, bytes) } else { sendLines(slot, bytes) }
    }

    /// The bytes as they go over the connection.
    mutating func sendFrames(_ slot: Int, _ bytes: ByteView) {
        let sent = connections[slot].output.isEmpty ? transmit(slot, bytes) : 0
        if sent < bytes.count { queue(slot, bytes.dropFirst(sent)) }
    }

    private mutating func queue(_ slot: Int, _ rest: ByteView) {
        if connections[slot].flags.contains(.broken) { return }
        if connections[slot].output.count + rest.count > limits.sendQueueBytes {
            bury(slot, .sendQueueExceeded)
        } else {
            connections[slot].output.append(rest)
        }
    }

    /// Bytes that wait here for this peer; 0 for an expired id.
    package func queuedBytes(_ id: ConnectionID) -> Int {
        guard let slot = connections.slot(id) else { return 0 }
        return connections[slot].output.count
    }

    /// How many bytes the kernel took.
    private mutating func transmit(_ slot: Int, _ bytes: ByteView) -> Int {
        var sent = 0
        while sent < bytes.count {
            let rest = bytes.dropFirst(sent)
            switch connections[slot].transmit(kernel, rest) {
            case .bytes(let count):
                sent += count
                if count < rest.count, !connections[slot].tls.isActive {
                    watchWrites(slot)
                    return sent
                }
            case .wouldBlock, .wantsWriting:
                watchWrites(slot)
                return sent
            case .ended:
                breakOutput(slot, .reset)
                return sent
            case .failed(let code):
                breakOutput(slot, reason(code))
                return sent
            }
        }
        return sent
    }

    /// Writes what waits, as much as goes.
    mutating func flush(_ slot: Int) {
        connections[slot].flags.remove(.writable)
        if connections[slot].output.isEmpty { return }
        let view = connections[slot].output.view
        let sent = transmit(slot, view)
        // Output that broke meanwhile is empty already.
        if connections[slot].output.count >= sent { connections[slot].output.consume(sent) }
    }

    /// Asked for only when the kernel refused for the first time: most connections never need it.
    mutating func watchWrites(_ slot: Int) {
        if connections[slot].flags.contains(.watchingWrites) { return }
        connections[slot].flags.insert(.watchingWrites)
        kernel.watch(
            connections[slot].descriptor, Interest.connectionAndWrites, connections.id(slot).packed, isNew: false)
    }

    /// Nothing can be sent any more. What the peer sent before it went is still to be read and obeyed: a client may say
    /// QUIT and vanish.
    mutating func breakOutput(_ slot: Int, _ why: CloseReason) {
        connections[slot].output.clear()
        if connections[slot].flags.contains(.broken) { return }
        connections[slot].flags.formUnion([.broken, .readable, .drain])
        connections[slot].reason = why
        enqueue(slot)
    }
}
