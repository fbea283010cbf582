import Bytes
import Wire

let webircCommand = Command(
    "WEBIRC", minimum: 4, access: .opening, source: "IRCv3 WebIRC",
    help: [
        "WEBIRC <password> <gateway> <hostname> <address> [:options]",
        "For gateways that the configuration names: says for whom they connect.",
        "Example: WEBIRC secret webchat host.example 192.0.2.7 :secure",
    ]
) { world, turn in
    if turn.user != nil { return world.reply(turn, .ERR_ALREADYREGISTERED, ":You may not reregister") }
    let address = world.sessions[turn.session].peer.address
    guard let gateway = world.gateway(at: address, named: turn[1]) else {
        return world.refuseGateway(turn.session, "not a gateway of this server", from: address)
    }
    if world.openings[turn.session.index]?.isForwarded ?? true {
        return world.refuseGateway(turn.session, "said twice", from: address)
    }
    if world.isThrottled(address) {
        return world.refuseGateway(turn.session, "too many wrong passwords; wait a minute", from: address)
    }
    guard let peer = world.forwardedPeer(turn) else {
        return world.refuseGateway(turn.session, "not an IP address", from: address)
    }
    let number = world.nextQuestion(.forwarding(turn.session, peer, gateway: gateway.name))
    world.sessions[turn.session].isWaiting = true
    world.effects.passwords.append(
        PasswordQuestion(number: number, password: ByteString(turn[0]), hash: gateway.hash, isOperators: true))
}

extension World {
    /// Of those that may connect from this address: the one that is called so, else the first.
    fileprivate func gateway(at address: ByteString, named name: ByteView) -> GatewaySettings? {
        let here = settings.gateways.filter { ports.isWithin(address, $0.hosts) }
        return here.first { $0.name.equals(name) } ?? here.first
    }

    /// The person behind the gateway. The host name is not taken over: what others see is made from the address, as
    /// everywhere. `secure` counts where the way from the gateway to us cannot be overheard either.
    fileprivate func forwardedPeer(_ turn: Turn) -> Peer? {
        guard var peer = ports.peer(ByteString(turn[3])) else { return nil }
        let options = turn.parameter(4) ?? .empty
        let own = sessions[turn.session].peer
        peer.isTLS = options.parts(0x20).contains { $0 == "secure" } && (own.isTLS || own.isLoopback)
        return peer
    }

    /// The hasher's answer, if it is about a gateway.
    mutating func gatewayVerified(_ number: Int64, _ outcome: PasswordOutcome) -> Bool {
        guard case .forwarding(let session, let peer, let gateway)? = pending[number] else { return false }
        pending[number] = nil
        guard sessions.contains(session), sessions[session].stage == .opening else { return true }
        let address = sessions[session].peer.address
        stopWaiting(session)
        switch outcome {
        case .right:
            sessions[session].peer = peer
            effects.moves.append((session, peer.address))
            openings[session.index]?.isForwarded = true
            note(.info, "gateway \(gateway) at \(address) connects for \(peer.address)")
            // The door saw the gateway's address only.
            if refuseBannedAddress(session) { return true }
        case .wrong:
            countFailure(address)
            refuseGateway(session, "wrong password", from: address)
        case .busy:
            refuseGateway(session, "the server is busy, try again", from: address)
        }
        endInputIfOver(session)
        return true
    }

    fileprivate mutating func refuseGateway(_ session: ConnectionID, _ reason: ByteString, from address: ByteString) {
        note(.warning, "WEBIRC from \(address) refused: \(reason)")
        close(session, reason: "WEBIRC refused", error: "WEBIRC refused: \(reason)")
    }
}
