import Bytes
import Wire

let chathistoryCommand = Command(
    "CHATHISTORY", cost: 2000, source: "IRCv3 draft/chathistory",
    help: [
        "CHATHISTORY LATEST <target> <*|msgid=…|timestamp=…> <limit>",
        "CHATHISTORY BEFORE|AFTER|AROUND <target> <msgid=…|timestamp=…> <limit>",
        "CHATHISTORY BETWEEN <target> <from> <to> <limit>",
        "CHATHISTORY TARGETS <timestamp=…> <timestamp=…> <limit>",
        "How IRC clients fetch what was said, page by page. TARGETS tells where something was said last in that time.",
        "By hand HISTORY is easier.", "Example: CHATHISTORY LATEST #lobby * 20",
    ]
) { world, turn in world.chathistory(turn) }

private enum Subcommand {
    case latest, before, after, around, between, targets

    init?(_ word: ByteView) {
        let known: [(StaticString, Subcommand)] = [
            ("LATEST", .latest), ("BEFORE", .before), ("AFTER", .after), ("AROUND", .around), ("BETWEEN", .between),
            ("TARGETS", .targets),
        ]
        guard let found = known.first(where: { word.equalsIgnoringCase($0.0) }) else { return nil }
        self = found.1
    }

    /// With itself and the limit.
    var parameters: Int { self == .between ? 5 : 4 }

    /// Where references begin.
    var references: Int { self == .targets ? 1 : 2 }
}

extension World {
    fileprivate mutating func chathistory(_ turn: Turn) {
        let word = turn.parameter(0) ?? .empty
        let given = shown(word, atMost: 32)
        guard let subcommand = Subcommand(word) else {
            let known: ByteString = "LATEST, BEFORE, AFTER, AROUND, BETWEEN and TARGETS"
            let why: ByteString = word.isEmpty ? "Insufficient parameters" : "Unknown command"
            return fail(turn, "INVALID_PARAMS", "\(why); known are \(known)", about: [given])
        }
        guard turn.parameterCount == subcommand.parameters else {
            let isShort = turn.parameterCount < subcommand.parameters
            let why: ByteString = isShort ? "Insufficient parameters" : "Too many parameters"
            return fail(turn, "INVALID_PARAMS", why, about: [given])
        }
        let last = turn[subcommand.parameters - 1]
        guard let selector = selector(subcommand, turn) else { return refuseReference(turn, subcommand, given) }
        guard let limit = last.decimal(), limit > 0 else {
            return fail(
                turn, "INVALID_PARAMS", "The limit is a number from 1 to \(settings.page)",
                about: [given, shown(last, atMost: 32)])
        }
        if subcommand == .targets { return targets(turn, selector, limit: min(limit, settings.page)) }
        guard let target = readable(turn[1], by: turn.me) else {
            return fail(
                turn, "INVALID_TARGET", "Messages could not be retrieved",
                about: [given, shown(turn[1])])
        }
        answerLater(
            turn, chathistoryRequest(turn, target, subcommand: given), selector, limit: min(limit, settings.page))
    }

    private mutating func refuseReference(_ turn: Turn, _ subcommand: Subcommand, _ given: ByteString) {
        let isTimed = subcommand == .targets
        let wrong = (subcommand.references..<subcommand.parameters - 1).first {
            isTimed ? timestamp(turn[$0]) == nil : reference(turn[$0]) == nil
        }
        let form: ByteString = "timestamp=<YYYY-MM-DDThh:mm:ss.sssZ>"
        fail(
            turn, "INVALID_PARAMS", isTimed ? "A reference is \(form)" : "A reference is msgid=<id> or \(form)",
            about: [given, shown(turn[wrong ?? subcommand.references])])
    }

    private func chathistoryRequest(_ turn: Turn, _ target: Readable, subcommand: ByteString) -> PageRequest {
        var request = pageRequest(turn.session, turn.me, target, .chathistory(subcommand: subcommand))
        if target.conversation.isDirect, target.name.withView({ turn[1].equalsIgnoringCase($0) }) {
            request.spelling = ByteString(turn[1])
        }
        if !request.capabilities.contains(.batch), sessions[turn.session].isPlain { request.purpose = .asked }
        request.answerClient(isPlain: sessions[turn.session].isPlain)
        return request
    }

    /// nil: a reference is not one.
    private func selector(_ subcommand: Subcommand, _ turn: Turn) -> PageSelector? {
        if subcommand == .targets {
            guard let from = timestamp(turn[1]), let to = timestamp(turn[2]) else { return nil }
            return .between(.time(from), .time(to))
        }
        if subcommand == .latest, turn[2] == "*" { return .latest(after: nil) }
        guard let first = reference(turn[2]) else { return nil }
        switch subcommand {
        case .latest: return .latest(after: first)
        case .before: return .before(first)
        case .after: return .after(first)
        case .around: return .around(first)
        case .between, .targets: return reference(turn[3]).map { .between(first, $0) }
        }
    }

    func reference(_ text: ByteView) -> PageReference? {
        if text.hasPrefix("msgid=") { return MessageID.position(text.dropFirst(6)).map { .position($0) } }
        return timestamp(text).map { .time($0) }
    }

    func timestamp(_ text: ByteView) -> Int64? {
        text.hasPrefix("timestamp=") ? Times.parse(text.dropFirst(10)) : nil
    }
}
