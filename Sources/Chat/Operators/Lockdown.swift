import Bytes
import Wire

/// Whom a server under attack still lets in.
enum Lockdown: UInt8 {
    case off
    /// Nobody new: who comes back with its token may.
    case new
    /// Only accounts join channels; everyone may connect, as logging in needs a connection.
    case accounts

    var name: StaticString {
        switch self {
        case .off: "off"
        case .new: "new"
        case .accounts: "accounts"
        }
    }
}

let lockdownCommand = Command(
    "LOCKDOWN", access: .operators, privilege: .lockdown, source: "docs/PROTOCOL.md, Operators",
    help: [
        "LOCKDOWN [off|new|accounts]", "new: nobody new comes in; who comes back with a token may.",
        "accounts: only accounts and operators join channels; who is in one stays.",
        "off: everyone may again. A restart lifts it too. Alone it tells what holds.", "Example: LOCKDOWN new",
    ]
) { world, turn in world.lock(turn) }

extension World {
    fileprivate mutating func lock(_ turn: Turn) {
        guard let word = turn.parameter(0), !word.isEmpty else {
            return notice(turn.session, "LOCKDOWN is \(lockdown.name)")
        }
        let all: [Lockdown] = [.off, .new, .accounts]
        guard let wanted = all.first(where: { word.equalsIgnoringCase($0.name) }) else {
            return fail(turn, "INVALID_PARAMS", "Choose off, new or accounts", about: [shown(word)])
        }
        lockdown = wanted
        noteOperator(turn, "set LOCKDOWN \(wanted.name)")
        notice(turn.session, "LOCKDOWN is \(wanted.name) now")
    }

    mutating func refuseNewcomer(_ id: ConnectionID, _ opening: Opening) -> Bool {
        guard lockdown == .new, opening.returning == nil else { return false }
        let text: ByteString = "This server lets nobody new in at the moment; come back later"
        reply(to: id, .ERR_YOUREBANNEDCREEP, ":\(text)")
        close(id, reason: "Lockdown", error: "Closing link: \(text)")
        return true
    }

    mutating func refuseGuest(_ turn: Turn, _ name: ByteView) -> Bool {
        if users[turn.me].isOperator || !users[turn.me].account.isEmpty { return false }
        reply(
            turn, .ERR_NEEDREGGEDNICK,
            "\(shown(name)) :Cannot join channel: only accounts may join while the server is locked down")
        return true
    }
}
