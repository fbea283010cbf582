import Bytes
import Wire

extension World {
    mutating func tick() {
        runDeadlines()
        if let due = watch.due, due <= now.steady { tellChannelChanges() }
    }

    private mutating func runDeadlines() {
        while let entry = deadlines.pop(now: now.steady) {
            let id = entry.connection
            guard sessions.contains(id), sessions[id].stage != .closing else { continue }
            switch entry.purpose {
            case .greet: greet(id)
            case .completePlain: plainDue(id)
            case .registration: registrationDue(id)
            case .ping: pingDue(id)
            case .resume: resume(id)
            case .batch: batchDue(id)
            case .confirm: confirmDue(id)
            }
        }
    }

    private mutating func resume(_ id: ConnectionID) {
        if sessions[id].throttledUntil > now.steady { return deadlines.add(sessions[id].throttledUntil, .resume, id) }
        sessions[id].throttledUntil = 0
        if !isInputBlocked(id) { effects.resumes.append(id) }
    }

    private mutating func plainDue(_ id: ConnectionID) {
        guard sessions[id].stage == .opening, sessions[id].manner == .undecided, let opening = openings[id.index],
            !opening.nick.isEmpty && !opening.isSynchronizing || opening.returning != nil
        else { return }
        if sessions[id].isWaiting { return deadlines.add(now.steady + settings.limits.plainDelay, .completePlain, id) }
        _ = completePlain(id)
    }

    private mutating func registrationDue(_ id: ConnectionID) {
        guard sessions[id].stage == .opening else { return }
        // A person who looks around without a name is not silent.
        let end = sessions[id].heard + settings.limits.registrationTimeout
        if sessions[id].manner != .client, end > now.steady { return deadlines.add(end, .registration, id) }
        let seconds = settings.limits.registrationTimeout / 1000
        let said: ByteString =
            sessions[id].manner == .client
            ? "Registration timed out after \(seconds) seconds"
            : "Nothing came for \(seconds) seconds. Come back and type NICK yourname"
        close(id, reason: "Registration timed out", error: said)
    }

    /// Only IRC clients are pinged; a person's connection is watched by TCP keepalive alone.
    private mutating func pingDue(_ id: ConnectionID) {
        let interval = settings.limits.pingInterval
        guard sessions[id].stage == .registered else { return }
        // A person's session may turn out to be a client's later.
        if sessions[id].manner != .client { return deadlines.add(now.steady + interval, .ping, id) }
        let silent = now.steady - sessions[id].heard
        if silent < interval {
            deadlines.add(sessions[id].heard + interval, .ping, id)
        } else if !sessions[id].isPinged {
            sessions[id].isPinged = true
            if sessions[id].pingedPosition == 0 { sessions[id].pingedPosition = lastPosition }
            sendRaw(id, "PING :\(settings.serverName)")
            deadlines.add(now.steady + interval, .ping, id)
        } else {
            close(id, reason: "Ping timeout: \(silent / 1000) seconds", error: "Ping timeout")
        }
    }

    /// Every connection is told and closed; records of the quits are not made: the users did not leave.
    mutating func stop() {
        keepSeen()
        for id in sessions.ids where sessions[id].stage != .closing {
            sendRaw(id, "ERROR :Server is shutting down; come back soon")
            effects.outbox.close(id)
            sessions[id].stage = .closing
        }
    }
}
