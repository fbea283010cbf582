import Bytes
import Wire

/// Who is no user but answers as one, as clients and people are used to.
enum Service: CaseIterable {
    case nicks, channels

    var name: StaticString {
        switch self {
        case .nicks: "NickServ"
        case .channels: "ChanServ"
        }
    }
}

extension World {
    func service(named nick: ByteView) -> Service? { Service.allCases.first { nick.equalsIgnoringCase($0.name) } }

    func isService(_ nick: ByteView) -> Bool { service(named: nick) != nil }

    mutating func serviceNotice(_ session: ConnectionID, _ text: ByteString, by service: Service = .nicks) {
        sendRaw(session, serviceLine(session, text, by: service))
    }

    func serviceLine(_ session: ConnectionID, _ text: ByteString, by service: Service = .nicks) -> ByteString {
        let source: ByteString = "\(service.name)!\(service.name)@\(settings.serverName)"
        return ":\(source) NOTICE \(nickShown(to: session)) :\(text)"
    }

    /// Nothing of it is kept, and no other session hears it: it may hold a password. A service answers no notice.
    mutating func speak(_ turn: Turn, _ utterance: Utterance, to service: Service) {
        if utterance.kind == .tagmsg { return }
        let line = outgoing(from: turn.me, "\(utterance.command) \(service.name) :\(utterance.text)")
        if capabilities[Int(turn.session.index)].contains(.echoMessage) { send(line, to: turn.session) }
        if utterance.kind == .privmsg { utterance.text.withView { serve(turn.session, $0, by: service) } }
    }

    mutating func refuseWord(_ session: ConnectionID, _ word: ByteView, by service: Service) {
        let given = shown(word, atMost: 32)
        serviceNotice(
            session, "\(given): I do not know that, or not in this form. HELP lists what I know", by: service)
    }

    /// What a service is told in its own words is a command.
    mutating func run(_ session: ConnectionID, _ line: ByteString) {
        line.withView { view in
            guard let message = Message(parsing: view) else { return }
            dispatch(session, message)
        }
    }

    mutating func serve(_ session: ConnectionID, _ text: ByteView, by service: Service) {
        if text.trimmed.isEmpty { return serviceNotice(session, "HELP lists what I know", by: service) }
        switch service {
        case .nicks: nickServ(session, text)
        case .channels: chanServ(session, text)
        }
    }
}
