import Bytes
import Wire

let capCommand = Command(
    "CAP", minimum: 1, access: .opening, cost: 500, source: "IRCv3 capability negotiation",
    help: [
        "CAP LS 302 | REQ :<names> | LIST | END", "How IRC clients ask for extensions. By hand it is not needed.",
        "Example: CAP LIST",
    ]
) { world, turn in
    let session = turn.session
    // Who is a person already and asks for extensions stays one; USER would tell otherwise.
    if world.sessions[session].stage == .opening { world.sessions[session].manner = .client }
    let sub = turn[0]
    if sub.equalsIgnoringCase("LS") {
        world.listCapabilities(turn)
    } else if sub.equalsIgnoringCase("LIST") {
        let held = world.capabilities[Int(session.index)]
        let names = Capabilities.table.filter { held.contains($0.bit) }.map { ByteString(ByteView($0.name)) }
        world.sendCapabilityLines(session, "LIST", names)
    } else if sub.equalsIgnoringCase("REQ") {
        world.requestCapabilities(turn)
    } else if sub.equalsIgnoringCase("END") {
        world.openings[session.index]?.isNegotiating = false
        world.completeClient(session)
    } else {
        world.reply(turn, .ERR_INVALIDCAPCMD, "\(world.shown(sub, atMost: 32)) :Invalid CAP command")
    }
}

extension World {
    fileprivate mutating func listCapabilities(_ turn: Turn) {
        let version = turn.parameter(1)?.decimal() ?? 301
        let index = turn.session.index
        if sessions[turn.session].stage == .opening { openings[index]?.isNegotiating = true }
        // Version 302 implies cap-notify, for good (IRCv3 capability negotiation).
        if version >= 302 { capabilities[Int(index)].insert(.capNotify) }
        var names: [ByteString] = Capabilities.table.map { row in
            guard version >= 302, let value = value(of: row, turn.session) else {
                return ByteString(ByteView(row.name))
            }
            return "\(row.name)=\(value)"
        }
        // Not in the table: it is a notice to the client and cannot be asked for.
        if version >= 302, settings.stsPort > 0 { names.append(transportPolicy(turn.session)) }
        sendCapabilityLines(turn.session, "LS", names, continued: version >= 302)
    }

    /// IRCv3 sts: where to come by TLS, and for how long nothing else is to be tried.
    private func transportPolicy(_ session: ConnectionID) -> ByteString {
        let duration: ByteString = "duration=\(settings.stsDuration)"
        return sessions[session].peer.isTLS ? "sts=\(duration)" : "sts=port=\(settings.stsPort),\(duration)"
    }

    /// What CAP LS 302 tells behind the name; nil: nothing.
    private func value(of row: CapabilityRow, _ session: ConnectionID) -> ByteString? {
        if row.bit == .sasl { return mechanisms(for: session) }
        if row.bit == .accountRegistration { return registrationTerms }
        if row.bit == .multiline {
            return "max-bytes=\(settings.limits.multilineBytes),max-lines=\(settings.limits.multilineLines)"
        }
        if row.bit == .metadata || row.bit == .metadata3 { return metadataLimits(row.bit) }
        return row.value.map { ByteString(ByteView($0)) }
    }

    /// IRCv3 metadata, the capability's tokens; the length of keys is told by the later draft alone.
    private func metadataLimits(_ draft: Capabilities) -> ByteString {
        let limits = settings.limits
        let text: ByteString = "before-connect,max-subs=\(limits.metadataSubscriptions),max-keys=\(limits.metadataKeys)"
        let keyBytes: ByteString = draft == .metadata3 ? ",max-key-bytes=\(limits.metadataKeyBytes)" : ""
        return "\(text)\(keyBytes),max-value-bytes=\(limits.metadataValueBytes)"
    }

    /// IRCv3 account-registration; empty: nothing but what everybody has.
    private var registrationTerms: ByteString? {
        let terms: [(Bool, ByteString)] = [
            (settings.accounts.beforeConnect, "before-connect"),
            (settings.accounts.customNames, "custom-account-name"), (settings.accounts.needsEmail, "email-required"),
        ]
        let words = terms.filter { $0.0 }.map { $0.1 }
        return words.isEmpty ? nil : wrap(words, width: .max, separator: 0x2C)[0]
    }

    /// `CAP nick LS * :…` for all lines but the last. Who knows only one line gets what one holds; the rest can be
    /// asked for all the same.
    fileprivate mutating func sendCapabilityLines(
        _ session: ConnectionID, _ sub: StaticString, _ names: [ByteString], continued: Bool = true
    ) {
        let lines = wrap(names, width: capabilityRoom(session)).prefix(continued ? .max : 1)
        for (i, line) in lines.enumerated() {
            let more: ByteString = i + 1 < lines.count ? "* " : ""
            tell(session, "CAP \(nickShown(to: session)) \(sub) \(more):\(line)")
        }
    }

    /// What `:server CAP nick LIST * :` leaves of a line.
    private func capabilityRoom(_ session: ConnectionID) -> Int {
        LineLimits.message - 2 - settings.serverName.count - nickShown(to: session).count - 16
    }

    /// All or nothing (IRCv3: REQ is atomic); a leading `-` takes back.
    fileprivate mutating func requestCapabilities(_ turn: Turn) {
        let session = turn.session
        if sessions[session].stage == .opening { openings[session.index]?.isNegotiating = true }
        let list = turn.parameter(1) ?? .empty
        let held = capabilities[Int(session.index)]
        // With 302 cap-notify cannot be taken back.
        guard let request = CapabilityRequest(parsing: list),
            !(request.disable.contains(.capNotify) && held.contains(.capNotify))
        else {
            let shown = list.prefix(UTF8Check.scalarBoundary(list, atMost: capabilityRoom(session)))
            return tell(session, "CAP \(nickShown(to: session)) NAK :\(shown)")
        }
        let words = list.parts(0x20).map { ByteString($0) }
        for line in wrap(words, width: capabilityRoom(session)) {
            tell(session, "CAP \(nickShown(to: session)) ACK :\(line)")
        }
        capabilities[Int(session.index)] = request.applied(to: held)
    }
}
