import Bytes
import Wire

let namesCommand = Command(
    "NAMES", source: "Modern IRC, NAMES",
    help: [
        "NAMES [<#channel>[,<#channel>…]]", "Shows who is in a channel: ~ owner, @ op, % halfop, + voice.",
        "Example: NAMES #lobby",
    ]
) { world, turn in
    if let list = turn.parameter(0), !list.isEmpty {
        var seen = Set<NameKey>()
        for name in list.parts(0x2C) where seen.insert(NameKey(name)).inserted { world.showNames(turn, name) }
    } else if world.sessions[turn.session].isPlain, let channel = world.sessions[turn.session].talkingIn {
        // Who types it alone means the people around.
        world.sendNames(of: channel, to: turn.session)
    } else {
        world.reply(turn, .RPL_ENDOFNAMES, "* :End of /NAMES list")
    }
}

extension World {
    fileprivate mutating func showNames(_ turn: Turn, _ name: ByteView) {
        guard let channel = channel(named: name), may(turn.user, know: .members, of: channel) else {
            return reply(turn, .RPL_ENDOFNAMES, "\(shown(name)) :End of /NAMES list")
        }
        sendNames(of: channel, to: turn.session)
    }

    /// What follows a JOIN, unless the client wants no names that it did not ask for (IRCv3 no-implicit-names).
    mutating func sendImplicitNames(of channel: ChannelID, to session: ConnectionID) {
        if capabilities[Int(session.index)].contains(.noImplicitNames) { return }
        sendNames(of: channel, to: session)
    }

    /// 353 lines within the line length, then 366.
    mutating func sendNames(of channel: ChannelID, to session: ConnectionID) {
        let mine = capabilities[Int(session.index)]
        let symbol: StaticString = channels[channel].isSecret ? "@" : "="
        let name = channels[channel].name
        let room = LineLimits.message - 2 - settings.serverName.count - nickShown(to: session).count - name.count - 12
        var line: ByteString = ""
        let viewer = sessions[session].user
        let isMember = viewer.map { self.isMember($0, of: channel) } ?? false
        for member in channels[channel].members {
            if !isMember, users[member.user].modes.contains(.invisible) { continue }
            let who = mine.contains(.userhostInNames) ? users[member.user].source : users[member.user].nick
            let item: ByteString = "\(member.ranks.prefixes(all: mine.contains(.multiPrefix)))\(who)"
            if line.count + item.count + 1 > room {
                reply(to: session, .RPL_NAMREPLY, "\(symbol) \(name) :\(line)")
                line = ""
            }
            line = line.isEmpty ? item : "\(line) \(item)"
        }
        if !line.isEmpty { reply(to: session, .RPL_NAMREPLY, "\(symbol) \(name) :\(line)") }
        reply(to: session, .RPL_ENDOFNAMES, "\(name) :End of /NAMES list")
    }
}
