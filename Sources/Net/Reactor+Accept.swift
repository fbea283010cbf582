package import Bytes

struct Listener {
    var descriptor: Int32
    let mode: ListenerMode
    let isProxied: Bool
    var isWebSocket = false
    /// A socket in the file system.
    var isLocal = false
    var isPending = false
}

extension Reactor {
    /// Returns the bound port. `PeerInfo.listener` counts these calls. `tls` and `both` need `setTLS` before.
    package mutating func listen(_ spec: ListenerSpec) throws(NetError) -> UInt16 {
        if spec.mode != .plain, tls == nil {
            throw NetError("cannot listen for TLS on \(spec.address) port \(spec.port): there is no certificate")
        }
        guard let address = PeerAddress(spec.address, port: spec.port) else {
            throw NetError("cannot listen on \(spec.address): not a numeric address")
        }
        let descriptor = kernel.listen(address, limits)
        if descriptor < 0 {
            throw NetError("cannot listen on \(spec.address) port \(spec.port)", errno: Int32(-descriptor))
        }
        add(
            Listener(
                descriptor: Int32(descriptor), mode: spec.mode, isProxied: spec.isProxied,
                isWebSocket: spec.isWebSocket))
        return kernel.boundPort(Int32(descriptor))
    }

    /// Listens on a socket in the file system that only this process's user (and root) can open. One that is there
    /// already is taken away: the caller knows that nobody listens on it.
    package mutating func listen(path: String) throws(NetError) {
        add(Listener(descriptor: try makeLocalSocket(path), mode: .plain, isProxied: false, isLocal: true))
    }

    private mutating func add(_ listener: Listener) {
        listeners.append(listener)
        let tag = Tag.listener(listeners.count - 1).packed
        kernel.watch(listener.descriptor, Interest.levelReading, tag, isNew: true)
    }

    /// No new peers; those that are there stay. For shutting down.
    package mutating func stopListening() {
        for index in listeners.indices where listeners[index].descriptor >= 0 {
            kernel.close(listeners[index].descriptor)
            listeners[index].descriptor = -1
            listeners[index].isPending = false
        }
    }

    mutating func acceptPending(_ handler: inout some ReactorHandler & ~Copyable) {
        for index in listeners.indices where listeners[index].isPending {
            listeners[index].isPending = false
            for _ in 0..<limits.acceptsPerTurn where !acceptOne(index, &handler) { break }
        }
    }

    /// False when this listener has no more for now.
    private mutating func acceptOne(_ index: Int, _ handler: inout some ReactorHandler & ~Copyable) -> Bool {
        var peer = PeerAddress()
        let descriptor = kernel.accept(listeners[index].descriptor, &peer)
        if descriptor < 0 {
            let code = Int32(-descriptor)
            if code == SystemError.wouldBlock { return false }
            // Any other error is the failed peer's own (accept(2)): the next one may be well.
            if !SystemError.isExhaustion(code) { return true }
            turnAwayBySpendingTheReserve(index)
            pauseListener(index)
            return false
        }
        if connectionCount >= limits.maximumConnections {
            kernel.close(Int32(descriptor))
            pauseListener(index)
            return false
        }
        if listeners[index].isProxied, !isTrusted(peer) {
            kernel.close(Int32(descriptor))
            handler.refusedProxy(peer.text, isTrusted: false)
            return true
        }
        if !listeners[index].isLocal, !count(peer) {
            // Who speaks by TLS or WebSocket could not read it.
            if listeners[index].mode == .plain, !listeners[index].isWebSocket {
                crowdedText.withUnsafeBytes { _ = kernel.send(Int32(descriptor), $0) }
            }
            kernel.close(Int32(descriptor))
            return true
        }
        admit(Int32(descriptor), peer, index, &handler)
        return true
    }

    private mutating func admit(
        _ descriptor: Int32, _ peer: PeerAddress, _ listener: Int, _ handler: inout some ReactorHandler & ~Copyable
    ) {
        let slot = connections.insert()
        connections[slot].descriptor = descriptor
        connections[slot].peer = peer
        connections[slot].listener = UInt16(listener)
        connections[slot].flags = .fresh
        connectionCount += 1
        kernel.watch(descriptor, Interest.connection, connections.id(slot).packed, isNew: true)
        if listeners[listener].isProxied {
            connections[slot].state = .proxying
            arm(slot, after: limits.handshakeTimeoutMs)
        } else {
            begin(slot, &handler)
        }
    }

    /// Who it is is known; how it speaks is not, unless the listener says it.
    mutating func begin(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        switch listeners[Int(connections[slot].listener)].mode {
        case .plain: open(slot, &handler)
        case .tls:
            connections[slot].state = .sniffing
            arm(slot, after: limits.handshakeTimeoutMs)
        case .both:
            connections[slot].state = .sniffing
            arm(slot, after: limits.silenceMs)
        }
    }

    /// Without a descriptor a peer can neither be accepted nor refused and the listener stays ready: the reserve makes
    /// room to tell them by closing, and a pause keeps us from spinning on the rest.
    private mutating func turnAwayBySpendingTheReserve(_ index: Int) {
        if reserve >= 0 { kernel.close(reserve) }
        var peer = PeerAddress()
        for _ in 0..<limits.acceptsPerTurn {
            let descriptor = kernel.accept(listeners[index].descriptor, &peer)
            if descriptor < 0 { break }
            kernel.close(Int32(descriptor))
        }
        reserve = Int32(kernel.openReserve())
    }

    private mutating func pauseListener(_ index: Int) {
        let tag = Tag.listener(index)
        kernel.watch(listeners[index].descriptor, Interest.nothing, tag.packed, isNew: false)
        deadlines.insert(tag, at: now + Int64(limits.exhaustedPauseMs))
    }

    mutating func resumeListener(_ index: Int) {
        if reserve < 0 { reserve = Int32(kernel.openReserve()) }
        if listeners[index].descriptor < 0 { return }
        kernel.watch(listeners[index].descriptor, Interest.levelReading, Tag.listener(index).packed, isNew: false)
    }

    /// False when its network has as many as it may, or they come too fast.
    mutating func count(_ peer: PeerAddress) -> Bool { admission.admit(peer, limits, now: now) }

    mutating func uncount(_ peer: PeerAddress) { admission.leave(peer, limits) }

    /// A gateway said for whom it connects. False: that one may not, and the caller closes it.
    package mutating func move(_ id: ConnectionID, to peer: PeerAddress) -> Bool {
        guard let slot = connections.slot(id) else { return true }
        guard count(peer) else { return false }
        uncount(connections[slot].peer)
        connections[slot].peer = peer
        return true
    }
}
