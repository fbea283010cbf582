import Bytes
import Wire

let lusersCommand = Command(
    "LUSERS", source: "Modern IRC, LUSERS",
    help: ["LUSERS", "How many people, operators and channels are here.", "Example: LUSERS"]
) { world, turn in
    // RFC 2812: [<mask> [<target>]]; the mask says of which servers, and there is one.
    if world.isForHere(turn, 1) { world.sendLusers(turn.session) }
}

let motdCommand = Command(
    "MOTD", access: .visitor, source: "Modern IRC, MOTD",
    help: ["MOTD", "The message of the day: what the operators want everyone to know.", "Example: MOTD"]
) { world, turn in
    if world.isForHere(turn) { world.sendMotd(turn.session) }
}

extension World {
    mutating func sendMotd(_ session: ConnectionID) {
        if settings.motd.isEmpty { return reply(to: session, .ERR_NOMOTD, ":MOTD File is missing") }
        reply(to: session, .RPL_MOTDSTART, ":- \(settings.serverName) Message of the day -")
        for line in settings.motd {
            let room = room(for: session) - 3
            let line = line.filled([("{users}", "\(users.count)")])
            let cut = line.withView { ByteString($0.prefix(UTF8Check.scalarBoundary($0, atMost: room))) }
            reply(to: session, .RPL_MOTD, ":- \(cut)")
        }
        reply(to: session, .RPL_ENDOFMOTD, ":End of /MOTD command.")
    }

    mutating func sendLusers(_ session: ConnectionID) {
        let here = users.count
        let most = statistics.mostUsers
        let invisible = statistics.invisible
        reply(
            to: session, .RPL_LUSERCLIENT,
            ":There are \(here - invisible) users and \(invisible) invisible on 1 servers")
        reply(to: session, .RPL_LUSEROP, "\(statistics.operators) :operator(s) online")
        reply(to: session, .RPL_LUSERUNKNOWN, "\(openings.count) :unknown connection(s)")
        reply(to: session, .RPL_LUSERCHANNELS, "\(channels.count) :channels formed")
        reply(to: session, .RPL_LUSERME, ":I have \(here) clients and 0 servers")
        reply(to: session, .RPL_LOCALUSERS, "\(here) \(most) :Current local users \(here), max \(most)")
        reply(to: session, .RPL_GLOBALUSERS, "\(here) \(most) :Current global users \(here), max \(most)")
    }
}
