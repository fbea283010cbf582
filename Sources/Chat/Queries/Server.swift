import Bytes
import Wire

/// What the server says of itself.

let versionCommand = Command(
    "VERSION", source: "Modern IRC, VERSION",
    help: ["VERSION", "Which server this is, and what it supports.", "Example: VERSION"]
) { world, turn in
    guard world.isForHere(turn) else { return }
    let settings = world.settings
    world.reply(turn, .RPL_VERSION, "\(settings.version) \(settings.serverName)", fitting: settings.description)
    world.sendISupport(turn.session)
}

let timeCommand = Command(
    "TIME", source: "Modern IRC, TIME",
    help: ["TIME", "The server's time, in UTC.", "Example: TIME"]
) { world, turn in
    guard world.isForHere(turn) else { return }
    world.reply(turn, .RPL_TIME, "\(world.settings.serverName) :\(Times.rfc(world.now.wall / 1000))")
}

let infoCommand = Command(
    "INFO", source: "Modern IRC, INFO",
    help: ["INFO", "What this server is and since when it runs.", "Example: INFO"]
) { world, turn in
    guard world.isForHere(turn) else { return }
    let settings = world.settings
    world.reply(turn, .RPL_INFO, "", fitting: "\(settings.serverName), \(settings.description)")
    world.reply(turn, .RPL_INFO, ":It runs \(settings.version), a chat server for IRC clients and for netcat")
    world.reply(turn, .RPL_INFO, ":Running since \(Times.rfc(settings.started / 1000))")
    world.reply(turn, .RPL_ENDOFINFO, ":End of INFO list")
}

let adminCommand = Command(
    "ADMIN", source: "Modern IRC, ADMIN",
    help: ["ADMIN", "Who runs this server and how to reach them.", "Example: ADMIN"]
) { world, turn in
    guard world.isForHere(turn) else { return }
    let name = world.settings.serverName
    let lines = world.settings.admin
    if lines.isEmpty {
        return world.reply(turn, .ERR_NOADMININFO, "\(name) :No administrative info available")
    }
    world.reply(turn, .RPL_ADMINME, "\(name) :Administrative info")
    for (line, numeric) in zip(lines, [Numeric.RPL_ADMINLOC1, .RPL_ADMINLOC2, .RPL_ADMINEMAIL]) {
        world.reply(turn, numeric, "", fitting: line)
    }
}

let linksCommand = Command(
    "LINKS", source: "Modern IRC, LINKS",
    help: ["LINKS", "The servers of this network; only operators are told which they are.", "Example: LINKS"]
) { world, turn in
    // RFC 2812: [[<remote server>] <server mask>]
    if turn.parameterCount > 1, !world.isForHere(turn) { return }
    let name = world.settings.serverName
    let mask = turn.parameter(turn.parameterCount > 1 ? 1 : 0) ?? ByteView("*")
    // How a network is built helps those most who want to take it down.
    if turn.user.map({ world.users[$0].isOperator }) ?? false, name.withView({ Mask.matches(mask, $0) }) {
        world.reply(turn, .RPL_LINKS, "\(name) \(name)", fitting: "0 \(world.settings.description)")
    }
    world.reply(turn, .RPL_ENDOFLINKS, "\(world.shown(mask)) :End of /LINKS list")
}

let usersCommand = Command(
    "USERS", source: "RFC 2812, USERS",
    help: ["USERS", "Not answered: it was for accounts of the machine. WHO lists people.", "Example: WHO #lobby"]
) { world, turn in world.reply(turn, .ERR_USERSDISABLED, ":USERS has been disabled\(world.hint(turn, "; try WHO"))") }

let summonCommand = Command(
    "SUMMON", source: "RFC 2812, SUMMON",
    help: ["SUMMON", "Not answered: it was for accounts of the machine. INVITE asks people in.", "Example: WHO #lobby"]
) { world, turn in world.reply(turn, .ERR_SUMMONDISABLED, ":SUMMON has been disabled") }
