import Bytes
import Wire

let whowasCommand = Command(
    "WHOWAS", source: "Modern IRC, WHOWAS",
    help: ["WHOWAS <nick> [count]", "Who had a nick before, newest first.", "Example: WHOWAS ana"]
) { world, turn in
    guard let nick = turn.parameter(0), !nick.isEmpty else {
        return world.reply(turn, .ERR_NONICKNAMEGIVEN, ":No nickname given\(world.hint(turn, ". Try WHOWAS ana"))")
    }
    guard world.isForHere(turn, 2) else { return }
    // Modern IRC: what is not a positive number asks for everything.
    let asked = turn.parameter(1)?.decimal() ?? 0
    world.whowas(turn, nick, atMost: asked > 0 ? asked : .max)
    world.reply(turn, .RPL_ENDOFWHOWAS, "\(world.shown(nick)) :End of WHOWAS")
}

extension World {
    fileprivate mutating func whowas(_ turn: Turn, _ mask: ByteView, atMost count: Int) {
        let found = former.suffix(settings.limits.whowas).reversed().lazy.filter { entry in
            entry.nick.withView { Mask.matches(mask, $0) }
        }
        let entries = Array(found.prefix(count))
        if entries.isEmpty { return reply(turn, .ERR_WASNOSUCHNICK, "\(shown(mask)) :There was no such nickname") }
        for entry in entries {
            reply(
                turn, .RPL_WHOWASUSER, "\(entry.nick) \(entry.username) \(entry.host) *", fitting: entry.realname)
            reply(
                turn, .RPL_WHOISSERVER, "\(entry.nick) \(settings.serverName) :\(Times.rfc(entry.left / 1000))")
        }
    }
}
