import Bytes

extension Reactor {
    /// Proxies are known by their address: who is not one may not say who it is.
    func isTrusted(_ peer: PeerAddress) -> Bool { limits.trustedProxies.contains { $0.contains(peer) } }

    /// Looks at the header, and takes it away when it is whole; from then on the peer is the one that it names.
    mutating func readProxyHeader(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        let descriptor = connections[slot].descriptor
        let room = UnsafeMutableRawBufferPointer(rebasing: chunk[0..<ProxyHeader.longest])
        let count = kernel.receive(descriptor, room, peek: true)
        if count == -Int(SystemError.wouldBlock) { return }
        if count <= 0 { return bury(slot, .endOfStream) }
        switch ProxyHeader(ByteView(UnsafeRawBufferPointer(rebasing: chunk[0..<count]))) {
        case .incomplete: break
        case .invalid: refuseProxy(slot, &handler)
        case .complete(let length, let source):
            // What was looked at is there to be read at once.
            let taken = kernel.receive(descriptor, UnsafeMutableRawBufferPointer(rebasing: chunk[0..<length]))
            if taken != length { return bury(slot, .reset) }
            start(slot, source, &handler)
        }
    }

    private mutating func start(
        _ slot: Int, _ source: PeerAddress?, _ handler: inout some ReactorHandler & ~Copyable
    ) {
        if let source {
            // Not counted yet: a proxy's own address is not.
            guard count(source) else { return bury(slot, .closedByUs) }
            connections[slot].peer = source
        }
        begin(slot, &handler)
        // What came behind the header made its edge already.
        connections[slot].flags.insert(.readable)
        enqueue(slot)
    }

    private mutating func refuseProxy(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        handler.refusedProxy(connections[slot].peer.text, isTrusted: true)
        bury(slot, .wrongProtocol)
    }
}
