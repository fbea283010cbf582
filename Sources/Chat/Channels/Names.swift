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
        world.showNames(turn, list)
    } else if world.sessions[turn.session].isPlain, let channel = world.sessions[turn.session].talkingIn {
        // Who types it alone means the people around.
        world.sendNames(of: channel, to: turn.session)
    } else {
        world.reply(turn, .RPL_ENDOFNAMES, "* :End of /NAMES list")
    }
}

extension World {
    /// One 366 ends the answer to one command and names what was asked for (RFC 2812, NAMES); more than a line holds
    /// takes more lines.
    fileprivate mutating func showNames(_ turn: Turn, _ list: ByteView) {
        let room = LineLimits.message - 2 - settings.serverName.count - nickShown(to: turn.session).count - 28
        var seen = Set<NameKey>()
        var asked: ByteString = ""
        for name in list.parts(0x2C) where seen.insert(NameKey(name)).inserted {
            if let channel = channel(named: name), may(turn.user, know: .members, of: channel) {
                sendMembers(of: channel, to: turn.session)
            }
            let name = shown(name)
            if !asked.isEmpty, asked.count + 1 + name.count > room {
                endNames(of: asked, to: turn.session)
                asked = ""
            }
            asked = asked.isEmpty ? name : "\(asked),\(name)"
        }
        endNames(of: asked.isEmpty ? "*" : asked, to: turn.session)
    }

    private mutating func endNames(of asked: ByteString, to session: ConnectionID) {
        reply(to: session, .RPL_ENDOFNAMES, "\(asked) :End of /NAMES list")
    }

    /// What follows a JOIN, unless the client wants no names that it did not ask for (IRCv3 no-implicit-names).
    mutating func sendImplicitNames(of channel: ChannelID, to session: ConnectionID) {
        if capabilities[Int(session.index)].contains(.noImplicitNames) { return }
        sendNames(of: channel, to: session)
    }

    mutating func sendNames(of channel: ChannelID, to session: ConnectionID) {
        sendMembers(of: channel, to: session)
        endNames(of: channels[channel].name, to: session)
    }

    /// 353 lines within the line length.
    private mutating func sendMembers(of channel: ChannelID, to session: ConnectionID) {
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
    }
}
