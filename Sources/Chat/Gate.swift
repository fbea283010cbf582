import Bytes
import Wire

/// The one place where a line becomes a command: text and flood rules, state, access and arity are settled here, once.
extension World {
    mutating func receive(_ id: ConnectionID, _ line: ByteView) {
        guard sessions.contains(id), sessions[id].stage != .closing else { return }
        sessions[id].heard = now.steady
        sessions[id].isPinged = false
        if sessions[id].isPlain { typedAgain(id) }
        statistics.commands += 1
        if hasPastes, takeIntoPaste(id, line) { return }
        if sessions[id].manner != .client {
            receiveTyped(id, line)
        } else {
            receiveCommand(id, line)
        }
    }

    /// A line of the protocol, from a client or meant as one by a person.
    mutating func receiveCommand(_ id: ConnectionID, _ line: ByteView) {
        guard let message = Message(parsing: line) else { return }
        let label = labelOf(message, id)
        if let label { beginResponse(id, label: label) }
        if UTF8Check.isValid(line) { dispatch(id, message) } else { refuseEncoding(id, message) }
        if label != nil { endResponse(id) }
    }

    mutating func dispatch(_ id: ConnectionID, _ message: Message) {
        guard let row = CommandTable.position(message.command) else { return unknownCommand(id, message) }
        let command = CommandTable.rows[row]
        statistics.uses[row] += 1
        charge(id, command.cost)
        if sessions[id].stage == .opening, !mayRun(command, id, message) { return }
        let turn = Turn(session: id, user: sessions[id].user, message: message, command: command.name)
        if !openBatches.isEmpty, takeIntoBatch(turn) { return }
        if command.access == .operators, !requireOperator(turn, command.privilege) { return }
        if message.parameterCount < command.minimum { return needMoreParameters(turn) }
        if serverBans.hasMutes, refuseMuted(turn) { return }
        command.handle(&self, turn)
    }

    /// Before registration: what belongs to coming in is let through; a person's other commands make a guest first.
    private mutating func mayRun(_ command: Command, _ id: ConnectionID, _ message: Message) -> Bool {
        if command.access == .opening { return true }
        if command.access == .anytime {
            if isNamedPerson(id) { _ = completePlain(id) }
            return sessions[id].stage != .closing
        }
        if !capabilities[Int(id.index)].isDisjoint(with: command.early) { return true }
        if sessions[id].manner == .client {
            reply(to: id, .ERR_NOTREGISTERED, ":You have not registered")
            return false
        }
        if command.access == .visitor, openings[id.index]?.nick.isEmpty ?? true { return true }
        return completePlain(id)
    }

    /// A person, for all we know, who has given a nick.
    private func isNamedPerson(_ id: ConnectionID) -> Bool {
        guard sessions[id].manner != .client, let opening = openings[id.index] else { return false }
        return !opening.nick.isEmpty && !opening.isSynchronizing || opening.returning != nil
    }

    private func labelOf(_ message: Message, _ id: ConnectionID) -> ByteString? {
        guard !message.tags.isEmpty, capabilities[Int(id.index)].isSuperset(of: [.labeledResponse, .batch]),
            let label = Tags.value(of: "label", in: message.tags), !label.isEmpty, label.count <= 64,
            UTF8Check.isValid(label)
        else { return nil }
        return ByteString(label)
    }

    mutating func unknownCommand(_ id: ConnectionID, _ message: Message) {
        charge(id, 1000)
        let given = shown(message.command, atMost: 32)
        if sessions[id].stage == .opening, sessions[id].manner == .client {
            return reply(to: id, .ERR_NOTREGISTERED, ":You have not registered")
        }
        var text: ByteString = ":Unknown command"
        if sessions[id].manner != .client {
            let near = nearestWord(message.command, among: CommandTable.names)
            let question: ByteString = near.map { " Did you mean \($0)?" } ?? ""
            let isMute = sessions[id].user != nil && sessions[id].talkingIn == nil
            let talk: ByteString = isMute ? " To talk, type JOIN \(settings.welcomeChannel) first." : ""
            text = ":Unknown command.\(question)\(talk) HELP lists all commands"
        }
        reply(to: id, .ERR_UNKNOWNCOMMAND, "\(given) \(text)")
    }

    private mutating func refuseEncoding(_ id: ConnectionID, _ message: Message) {
        charge(id, 1000)
        // Who sends these is a client, whatever else it meant to say.
        if sessions[id].stage == .opening, ["USER", "CAP"].contains(where: { message.command.equalsIgnoringCase($0) }) {
            sessions[id].manner = .client
        }
        let known = CommandTable.find(message.command)
        let command: ByteString = known.map { "\($0.name)" } ?? "*"
        fail(id, command, "INVALID_UTF8", "Text must be UTF-8; nothing of this line was done")
    }

    /// The line was over the limit and nothing of it was done (Modern IRC, ERR_INPUTTOOLONG).
    mutating func refuseOverlong(_ id: ConnectionID, _ beginning: ByteView) {
        guard sessions.contains(id), sessions[id].stage != .closing else { return }
        sessions[id].heard = now.steady
        charge(id, 1000)
        if sessions[id].manner == .undecided, sessions[id].stage == .opening, refuseHTTP(id, beginning) { return }
        reply(
            to: id, .ERR_INPUTTOOLONG, ":Input line was too long (\(LineLimits.message) bytes); nothing of it was done")
    }

    // MARK: Flood control

    /// Takes a command's cost from the allowances of the connection and of its network. Below zero it is not read until
    /// it has paid: slowed, never cut, and nothing it sent is lost.
    mutating func charge(_ id: ConnectionID, _ cost: Int64) {
        if !settings.flood.enabled || cost == 0 { return }
        if let user = sessions[id].user, users[user].isOperator { return }
        let flood = settings.flood
        var wait = sessions[id].allowance.take(cost, burst: flood.burst, rate: flood.rate, now: now.steady)
        let network = sessions[id].peer.network
        if network != 0, flood.networkRate > 0 {
            var allowance = networkAllowances[network] ?? Allowance(burst: flood.networkBurst, now: now.steady)
            wait = max(
                wait, allowance.take(cost, burst: flood.networkBurst, rate: flood.networkRate, now: now.steady))
            networkAllowances[network] = allowance
            if networkAllowances.count > 100_000 { forgetFullAllowances() }
        }
        if wait > 0, sessions[id].throttledUntil == 0 {
            sessions[id].throttledUntil = now.steady + wait
            deadlines.add(now.steady + wait, .resume, id)
        }
    }

    private mutating func forgetFullAllowances() {
        let (flood, now) = (settings.flood, now.steady)
        networkAllowances = networkAllowances.filter {
            Double(now - $0.value.refilled) * flood.networkRate < Double(flood.networkBurst) * 1000
        }
    }

    // MARK: The end of a session

    /// Ctrl-D typed at a terminal means QUIT; a client does not type.
    mutating func endOfTransmission(_ id: ConnectionID) {
        guard sessions.contains(id), sessions[id].stage != .closing, sessions[id].manner != .client else { return }
        close(id, reason: "Client quit", error: nil)
    }

    /// Everything the client sent has been done and answered: what is owed leaves, then the connection closes.
    mutating func inputEnded(_ id: ConnectionID) {
        guard sessions.contains(id), sessions[id].stage != .closing else { return }
        if sessions[id].isWaiting || isReceiving(id) {
            sessions[id].isInputOver = true
            return
        }
        if sessions[id].stage == .opening, isNamedPerson(id) { _ = completePlain(id) }
        close(id, reason: "Connection closed", error: nil)
    }

    /// The answer came that the session's input waited for.
    mutating func stopWaiting(_ id: ConnectionID) {
        sessions[id].isWaiting = false
        if !isInputBlocked(id) { effects.resumes.append(id) }
    }

    /// If the input ended while an answer was awaited: it ends now that the answer is told.
    mutating func endInputIfOver(_ id: ConnectionID) {
        if sessions[id].isInputOver, !sessions[id].isWaiting, !isReceiving(id) { inputEnded(id) }
    }

    /// Ends a session: the user leaves if it was the last, what is owed leaves first, then the connection closes.
    /// - Parameter error: what the client is told as ERROR; nil says nothing.
    mutating func close(_ id: ConnectionID, reason: ByteString, error: ByteString?) {
        guard sessions.contains(id), sessions[id].stage != .closing else { return }
        if let error { sendRaw(id, "ERROR :\(error)") }
        leave(id, reason: reason)
        if response.slot == id.index { endResponse(id) }
        effects.outbox.close(id)
    }

    /// The connection is gone already.
    mutating func disconnected(_ id: ConnectionID, reason: ByteString) {
        guard sessions.contains(id) else { return }
        if sessions[id].stage != .closing { leave(id, reason: reason) }
        openings[id.index] = nil
        sessions.remove(id)
    }

    private mutating func leave(_ id: ConnectionID, reason: ByteString) {
        sessions[id].stage = .closing
        openings[id.index] = nil
        openBatches[id.index] = nil
        accounts.exchanges[id.index] = nil
        monitors.clear(id)
        subscriptions[id.index] = nil
        if !watch.sessions.isEmpty { watch.remove(id) }
        forgetImages(of: id)
        guard let user = sessions[id].user else { return }
        detach(id, from: user)
        if users[user].sessions.isEmpty { quit(user, reason: reason) } else { settleAbsence(user) }
    }
}
