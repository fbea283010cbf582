import Bytes
import Wire

let statsCommand = Command(
    "STATS", minimum: 1, source: "Modern IRC, STATS",
    help: [
        "STATS <letter>", "Numbers of the server: u, since when it runs. Operators: m, commands; o, operators;",
        "k, d, q, s: the bans of KLINE, DLINE, RESV and SHUN.",
        "Example: STATS u",
    ]
) { world, turn in
    guard world.isForHere(turn, 1) else { return }
    let letter = turn[0].first.map(ASCII.lower) ?? 0x2A
    let isOperator = world.users[turn.me].isOperator
    switch letter {
    case 0x75: world.statsUptime(turn)
    case 0x6D where isOperator: world.statsCommands(turn)
    case 0x6F where isOperator: world.statsOperators(turn)
    case 0x6B where isOperator: world.statsBans(turn, .kline)
    case 0x64 where isOperator: world.statsBans(turn, .dline)
    case 0x71 where isOperator: world.statsBans(turn, .resv)
    case 0x73 where isOperator: world.statsBans(turn, .shun)
    case 0x6B, 0x64, 0x71, 0x73, 0x6D, 0x6F:
        world.reply(turn, .ERR_NOPRIVILEGES, ":Permission Denied - You're not an IRC operator")
    default: break
    }
    let word = turn[0].prefix(UTF8Check.scalarBoundary(turn[0], atMost: 1))
    world.reply(turn, .RPL_ENDOFSTATS, "\(world.shown(word)) :End of /STATS report")
}

extension World {
    /// 242 (RFC 2812): `Server Up 3 days 4:05:06`.
    fileprivate mutating func statsUptime(_ turn: Turn) {
        let seconds = max(0, now.wall - settings.started) / 1000
        func two(_ number: Int64) -> ByteString { number < 10 ? "0\(number)" : "\(number)" }
        let clock: ByteString = "\(seconds / 3600 % 24):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        reply(turn, .RPL_STATSUPTIME, ":Server Up \(seconds / 86400) days \(clock)")
    }

    /// 212, for commands that were used.
    fileprivate mutating func statsCommands(_ turn: Turn) {
        let uses = statistics.uses
        for (row, count) in zip(CommandTable.rows, uses) where count > 0 {
            reply(turn, .RPL_STATSCOMMANDS, "\(row.name) \(count)")
        }
    }

    /// 243: the operators that the configuration knows.
    fileprivate mutating func statsOperators(_ turn: Turn) {
        for entry in settings.operators { reply(turn, .RPL_STATSOLINE, "O * * \(entry.name) \(entry.kind)") }
    }
}
