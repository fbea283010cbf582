import Bytes

/// The content type of a TLS handshake record (RFC 8446, 5.1); no line of text starts with it.
let tlsFirstByte: UInt8 = 0x16

/// A method in capitals and what can follow it (RFC 9112, 3): a path, `*` or `http:`.
private func looksLikeHTTP(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let space = bytes.firstIndex(of: 0x20), space > 2, space + 1 < bytes.count else { return false }
    return bytes[..<space].allSatisfy { (0x41...0x5a).contains($0) } && [0x2f, 0x2a, 0x68].contains(bytes[space + 1])
}

extension Reactor {
    /// Looks at the first bytes and leaves them where they are.
    mutating func sniff(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        let count = kernel.receive(
            connections[slot].descriptor, UnsafeMutableRawBufferPointer(rebasing: chunk[0..<16]), peek: true)
        if count == -Int(SystemError.wouldBlock) { return }
        if count <= 0 { return bury(slot, .endOfStream) }
        if chunk[0] == tlsFirstByte {
            startTLS(slot, &handler)
        } else if listeners[Int(connections[slot].listener)].mode == .both {
            open(slot, &handler)
            read(slot, &handler)
        } else {
            let isRequest = looksLikeHTTP(UnsafeRawBufferPointer(rebasing: chunk[0..<count]))
            refuse(slot, isRequest ? wrongProtocolText.requestOnTLS : wrongProtocolText.plainOnTLS)
        }
    }

    private mutating func startTLS(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        let listener = listeners[Int(connections[slot].listener)]
        // A browser would ask its user for one.
        let wantsCertificate = !listener.isWebSocket
        guard let session = tls?.session(connections[slot].descriptor, wantsCertificate: wantsCertificate) else {
            return refuse(slot, wrongProtocolText.tlsOnPlain)
        }
        connections[slot].tls = session
        connections[slot].state = .handshaking
        if listener.mode == .both { arm(slot, after: limits.handshakeTimeoutMs) }
        handshake(slot, &handler)
    }

    /// One step, if this turn has one left.
    mutating func handshake(_ slot: Int, _ handler: inout some ReactorHandler & ~Copyable) {
        if handshakesLeft == 0 { return enqueue(slot) }
        handshakesLeft -= 1
        switch connections[slot].tls.handshake() {
        case .bytes:
            open(slot, &handler)
            // OpenSSL may have read application data along with the last flight: no edge will tell.
            connections[slot].flags.insert(.readable)
            read(slot, &handler)
        case .wouldBlock: break
        case .wantsWriting: watchWrites(slot)
        case .ended, .failed: giveUpHandshake(slot)
        }
    }

    /// OpenSSL has written its alert; a reset would take it back.
    private mutating func giveUpHandshake(_ slot: Int) {
        connections[slot].tls = TLSSession()
        startClosing(slot, .tlsFailure(""))
    }
}
