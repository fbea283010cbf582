import Bytes
import Wire

let wallopsCommand = Command(
    "WALLOPS", minimum: 1, access: .operators, privilege: .wallops, source: "Modern IRC, WALLOPS",
    help: [
        "WALLOPS :<text>", "Tells something to everyone who set user mode +w.",
        "Example: WALLOPS :restart at noon",
    ]
) { world, turn in
    guard !turn[0].isEmpty else { return world.needMoreParameters(turn) }
    world.wallops(turn, world.freeText(turn, 0))
}

let rehashCommand = Command(
    "REHASH", access: .operators, privilege: .rehash, source: "Modern IRC, REHASH",
    help: ["REHASH", "Reads the configuration again.", "Example: REHASH"]
) { world, turn in
    world.noteOperator(turn, "asked for the configuration to be read again")
    world.reply(turn, .RPL_REHASHING, "parley.toml :Rehashing")
    world.effects.wantsReload = true
}

extension World {
    fileprivate mutating func wallops(_ turn: Turn, _ text: ByteView) {
        let room = LineLimits.message - 2 - users[turn.me].source.count - 11
        let cut = text.prefix(UTF8Check.scalarBoundary(text, atMost: room))
        let line = outgoing(from: turn.me, "WALLOPS :\(cut)")
        noteOperator(turn, "sent WALLOPS")
        var audience: ContiguousArray<ConnectionID> = [turn.session]
        for user in users.ids where users[user].modes.contains(.wallops) {
            audience.append(contentsOf: users[user].sessions.lazy.filter { $0 != turn.session })
        }
        var forms = Forms(interest: line.interest)
        relay(line, to: audience, &forms)
    }
}
