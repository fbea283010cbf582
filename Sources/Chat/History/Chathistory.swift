import Bytes
import Wire

let chathistoryCommand = Command(
    "CHATHISTORY", cost: 2000, source: "IRCv3 draft/chathistory",
    help: [
        "CHATHISTORY LATEST <target> <*|msgid=…|timestamp=…> <limit>",
        "CHATHISTORY BEFORE|AFTER|AROUND <target> <msgid=…|timestamp=…> <limit>",
        "CHATHISTORY BETWEEN <target> <from> <to> <limit>",
        "How IRC clients fetch what was said, page by page. By hand HISTORY is easier.",
        "Example: CHATHISTORY LATEST #lobby * 20",
    ]
) { world, turn in world.chathistory(turn) }

private enum Subcommand {
    case latest, before, after, around, between

    init?(_ word: ByteView) {
        let known: [(StaticString, Subcommand)] = [
            ("LATEST", .latest), ("BEFORE", .before), ("AFTER", .after), ("AROUND", .around), ("BETWEEN", .between),
        ]
        guard let found = known.first(where: { word.equalsIgnoringCase($0.0) }) else { return nil }
        self = found.1
    }

    /// With itself and the target.
    var parameters: Int { self == .between ? 5 : 4 }
}

extension World {
    fileprivate mutating func chathistory(_ turn: Turn) {
        let word = turn.parameter(0) ?? .empty
        let given = shown(word, atMost: 32)
        if word.isEmpty { return fail(turn, "NEED_MORE_PARAMS", "Missing parameters", about: [given]) }
        guard let subcommand = Subcommand(word) else {
            return fail(
                turn, "UNKNOWN_COMMAND", "Known are LATEST, BEFORE, AFTER, AROUND and BETWEEN", about: [given])
        }
        guard turn.parameterCount >= subcommand.parameters else {
            return fail(turn, "NEED_MORE_PARAMS", "Missing parameters", about: [given])
        }
        guard let selector = selector(subcommand, turn) else {
            return fail(
                turn, "INVALID_PARAMS", "A reference is msgid=<id> or timestamp=<YYYY-MM-DDThh:mm:ss.sssZ>",
                about: [given, shown(turn[2])])
        }
        let last = turn[subcommand.parameters - 1]
        guard let limit = last.decimal(), limit > 0 else {
            return fail(
                turn, "INVALID_PARAMS", "The limit is a number from 1 to \(settings.page)",
                about: [given, shown(last, atMost: 32)])
        }
        guard let target = readable(turn[1], by: turn.me) else {
            return fail(
                turn, "INVALID_TARGET", "Messages could not be retrieved",
                about: [given, shown(turn[1])])
        }
        answerLater(
            turn, chathistoryRequest(turn, target, subcommand: given), selector, limit: min(limit, settings.page))
    }

    private func chathistoryRequest(_ turn: Turn, _ target: Readable, subcommand: ByteString) -> PageRequest {
        var request = pageRequest(turn.session, turn.me, target, .chathistory(subcommand: subcommand))
        if request.capabilities.contains(.batch) {
            request.form = .batch
        } else if sessions[turn.session].isPlain {
            request.purpose = .asked
        } else {
            request.form = .lines
        }
        return request
    }

    /// nil: a reference is not one.
    private func selector(_ subcommand: Subcommand, _ turn: Turn) -> PageSelector? {
        if subcommand == .latest, turn[2] == "*" { return .latest(after: nil) }
        guard let first = reference(turn[2]) else { return nil }
        switch subcommand {
        case .latest: return .latest(after: first)
        case .before: return .before(first)
        case .after: return .after(first)
        case .around: return .around(first)
        case .between: return reference(turn[3]).map { .between(first, $0) }
        }
    }

    private func reference(_ text: ByteView) -> PageReference? {
        if text.hasPrefix("msgid=") { return MessageID.position(text.dropFirst(6)).map { .position($0) } }
        if text.hasPrefix("timestamp=") { return Times.parse(text.dropFirst(10)).map { .time($0) } }
        return nil
    }
}
