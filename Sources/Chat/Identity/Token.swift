import Bytes
import Wire

/// A guest's token: `uid.epoch.mac`. The MAC under the server's secret makes it right without any row; the epoch lets
/// IDENTITY REVOKE void all earlier ones.
extension World {
    func token(of user: UserID) -> ByteString { token(users[user].uid, epoch: users[user].epoch) }

    private func token(_ uid: UID, epoch: Int64) -> ByteString {
        let named: ByteString = "\(uid.text).\(epoch)"
        // 130 bits of the MAC: more than can be guessed, short enough to copy by hand.
        let mac = Base32.encode(Array(ports.mac(Array("token:".utf8) + named.bytes).prefix(16)))
        return "\(named).\(mac)"
    }

    /// What a token names if its MAC is right; the epoch is yet to be compared with the row's.
    private func verify(_ text: ByteView) -> (uid: UID, epoch: Int64)? {
        let parts = text.parts(0x2E)
        guard parts.count == 3, let uid = UID(parts[0]), let epoch = parts[1].decimal(limit: .max) else { return nil }
        let right = token(uid, epoch: Int64(epoch)).withView { constantTimeEquals($0, text) }
        return right ? (uid, Int64(epoch)) : nil
    }

    /// Starts a guest's return. The MAC is checked at once, without asking the store; the row decides the rest.
    mutating func resume(_ session: ConnectionID, token text: ByteView, way: Comeback.Way) {
        let address = sessions[session].peer.address
        if isThrottled(address) {
            return refuseReturn(session, way, "Too many wrong tokens from your address; wait a minute")
        }
        guard let (uid, epoch) = verify(text) else {
            countFailure(address)
            note(.info, "wrong guest token from \(address)")
            return refuseReturn(session, way, "This token is not right")
        }
        let comeback = Comeback(session: session, uid: uid, epoch: epoch, way: way)
        if let online = identities[uid] {
            let state = users[online].stored(now: now.wall)
            return finish(comeback, state: state, members: [], Metadata())
        }
        let number = nextQuestion(.comingBack(comeback))
        sessions[session].isWaiting = true
        effects.identities.append(IdentityQuestion(number: number, who: .uid(uid)))
    }

    mutating func answered(_ answer: IdentityAnswer) {
        guard let asked = pending.removeValue(forKey: answer.number) else { return }
        if case .seen(let request) = asked { return answered(answer, request) }
        guard case .comingBack(let comeback) = asked else { return }
        let session = comeback.session
        guard sessions.contains(session) else { return }
        stopWaiting(session)
        guard sessions[session].stage != .closing else { return }
        settle(comeback, answer)
        if sessions[session].stage != .closing { endInputIfOver(session) }
    }

    private mutating func settle(_ comeback: Comeback, _ answer: IdentityAnswer) {
        if let failure = answer.failure {
            note(.warning, "identity not read: \(failure)")
            return refuseReturn(comeback.session, comeback.way, "The server could not look you up; try again")
        }
        // Somebody else may have brought it back in between.
        let state = identities[comeback.uid].map { users[$0].stored(now: now.wall) } ?? answer.state
        finish(comeback, state: state, members: answer.members, answer.metadata, answer.correspondence)
    }

    private mutating func finish(
        _ comeback: Comeback, state: IdentityState?, members: [MemberState], _ metadata: Metadata,
        _ correspondence: Correspondence = Correspondence()
    ) {
        let session = comeback.session
        if comeback.epoch != state?.epoch ?? 0 {
            countFailure(sessions[session].peer.address)
            return refuseReturn(session, comeback.way, "This token was revoked")
        }
        if let online = identities[comeback.uid], users[online].sessions.count >= settings.limits.sessionsPerIdentity,
            !users[online].sessions.contains(session)
        {
            return refuseReturn(
                session, comeback.way, "This identity has \(settings.limits.sessionsPerIdentity) sessions already")
        }
        let returning = Returning(
            uid: comeback.uid, epoch: comeback.epoch, state: state, members: members, metadata: metadata,
            correspondence: correspondence)
        if sessions[session].stage == .registered { return becomeAnother(session, returning) }
        openings[session.index]?.returning = returning
        switch comeback.way {
        case .pass:
            // A person who says nothing more is complete without a NICK: the identity has one.
            if sessions[session].manner == .undecided {
                deadlines.add(now.steady + settings.limits.plainDelay, .completePlain, session)
            }
        case .sasl: saslSucceeded(session)
        case .resume: return completeResumed(session)
        }
        completeClient(session)
    }

    private mutating func refuseReturn(_ session: ConnectionID, _ way: Comeback.Way, _ why: ByteString) {
        switch way {
        case .pass:
            reply(to: session, .ERR_PASSWDMISMATCH, ":Password incorrect: \(why)")
            close(session, reason: "Bad password", error: why)
        case .sasl:
            openings[session.index]?.mechanism = ""
            reply(to: session, .ERR_SASLFAIL, ":SASL authentication failed: \(why)")
        case .resume:
            fail(session, "IDENTITY", "INVALID_TOKEN", why)
        }
    }
}
