package import Bytes

extension Reactor {
    /// Ends a connection; `closed` with this reason is reported in a later turn, exactly once.
    ///
    /// `flush`: what is queued leaves first (within `closeFlushMs`), then the peer is told the end, and what it still
    /// sends is read away (within `lingerMs`). Requirement: close(2) with unread data sends a reset, and a reset makes
    /// the peer's kernel throw away our last lines.
    package mutating func close(_ id: ConnectionID, flush: Bool, reason: CloseReason = .closedByUs) {
        guard let slot = connections.slot(id), connections[slot].flags.contains(.told),
            connections[slot].state != .dead
        else { return }
        let isBroken = connections[slot].flags.contains(.broken)
        if !flush || isBroken {
            if connections[slot].tls.isActive, !isBroken { _ = connections[slot].tls.sendCloseNotify() }
            bury(slot, reason)
        } else if connections[slot].state == .open {
            sendClose(slot, .normal)
            // That may have been too much for its queue.
            if connections[slot].state == .open { startClosing(slot, reason) }
        }
    }

    /// Whatever waits leaves, then the peer is told.
    mutating func startClosing(_ slot: Int, _ reason: CloseReason) {
        connections[slot].state = .flushing
        connections[slot].reason = reason
        connections[slot].input.clear(keeping: 0)
        arm(slot, after: limits.closeFlushMs)
        if connections[slot].output.isEmpty { tellEnd(slot) }
    }

    mutating func serveClosing(_ slot: Int) {
        if connections[slot].state == .flushing, connections[slot].flags.contains(.writable) {
            flush(slot)
            if connections[slot].flags.contains(.broken) { return bury(slot, connections[slot].reason ?? .reset) }
            if connections[slot].output.isEmpty { tellEnd(slot) }
        }
        switch connections[slot].state {
        case .flushing, .lingering: discard(slot)
        case .free, .proxying, .sniffing, .handshaking, .upgrading, .open, .dead: break
        }
    }

    /// Everything has left: close_notify, then the end of the stream. A peer that has ended itself has nothing unread.
    mutating func tellEnd(_ slot: Int) {
        if connections[slot].tls.isActive, !connections[slot].tls.sendCloseNotify() { return watchWrites(slot) }
        if connections[slot].flags.contains(.ended) { return bury(slot, connections[slot].reason ?? .closedByUs) }
        kernel.shutdownWriting(connections[slot].descriptor)
        connections[slot].tls = TLSSession()
        connections[slot].state = .lingering
        arm(slot, after: limits.lingerMs)
        if connections[slot].flags.contains(.readable) { enqueue(slot) }
    }

    /// Reads and throws away; under TLS the raw bytes, which nobody will decrypt any more.
    private mutating func discard(_ slot: Int) {
        var budget = limits.readsPerTurn
        while budget > 0, !connections[slot].flags.contains(.ended) {
            let count = kernel.receive(connections[slot].descriptor, chunk)
            if count > 0 {
                budget -= count
            } else if count == -Int(SystemError.wouldBlock) {
                return
            } else if count == 0, connections[slot].state == .flushing {
                connections[slot].flags.insert(.ended)
            } else {
                return bury(slot, connections[slot].reason ?? .closedByUs)
            }
        }
        if budget <= 0 { enqueue(slot) }
    }

    /// Says why in plain text and closes; the handler may never have heard of it.
    mutating func refuse(_ slot: Int, _ text: [UInt8]) {
        text.withUnsafeBytes { connections[slot].output.append(ByteView($0)) }
        flush(slot)
        startClosing(slot, .wrongProtocol)
    }
}
