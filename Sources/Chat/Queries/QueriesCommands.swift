import Bytes
import Wire

let queryCommands: [Command] = []

extension World {
    mutating func sendMotd(_ session: ConnectionID) {
        if settings.motd.isEmpty { return reply(to: session, .ERR_NOMOTD, ":MOTD File is missing") }
        reply(to: session, .RPL_MOTDSTART, ":- \(settings.serverName) Message of the day -")
        for line in settings.motd { reply(to: session, .RPL_MOTD, ":- \(line)") }
        reply(to: session, .RPL_ENDOFMOTD, ":End of /MOTD command.")
    }

    mutating func sendLusers(_ session: ConnectionID) {
        let invisible = users.ids.count { self.users[$0].modes.contains(.invisible) }
        let operators = users.ids.count { self.users[$0].isOperator }
        reply(
            to: session, .RPL_LUSERCLIENT,
            ":There are \(users.count - invisible) users and \(invisible) invisible on 1 servers")
        if operators > 0 { reply(to: session, .RPL_LUSEROP, "\(operators) :operator(s) online") }
        if !openings.isEmpty { reply(to: session, .RPL_LUSERUNKNOWN, "\(openings.count) :unknown connection(s)") }
        if channels.count > 0 { reply(to: session, .RPL_LUSERCHANNELS, "\(channels.count) :channels formed") }
        reply(to: session, .RPL_LUSERME, ":I have \(users.count) clients and 0 servers")
        let here = users.count
        let most = statistics.mostUsers
        reply(to: session, .RPL_LOCALUSERS, "\(here) \(most) :Current local users \(here), max \(most)")
        reply(to: session, .RPL_GLOBALUSERS, "\(here) \(most) :Current global users \(here), max \(most)")
    }

    var userModeLetters: ByteString { "BiowZ" }
    var channelModeLetters: ByteString { "CHIMRbefhiklmnoqstv" }
    var channelModeLettersWithParameter: ByteString { "Ibefhkloqv" }

    /// The token groups of 005.
    var isupport: [ByteString] { [] }
}
