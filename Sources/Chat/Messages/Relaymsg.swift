import Bytes
import Wire

let relaymsgCommand = Command(
    "RELAYMSG", minimum: 3, source: "IRCv3 relaymsg (draft)",
    help: [
        "RELAYMSG <#channel> <nick/network> :<text>",
        "For bridges: says what somebody of another network said. The nick has a slash, which no nick here has.",
        "For channel operators.", "Example: RELAYMSG #lobby ana/discord :hello",
    ]
) { world, turn in world.relayMessage(turn) }

extension World {
    fileprivate mutating func relayMessage(_ turn: Turn) {
        let name = turn[0]
        guard let channel = channel(named: name), may(turn.me, know: .existence, of: channel) else {
            return fail(turn, "INVALID_CHANNEL", "No such channel", about: [shown(name)])
        }
        guard ranks(turn.me, in: channel).isAtLeastHalfop else {
            return fail(turn, "PRIVS_NEEDED", "Only channel operators relay messages")
        }
        guard isForeignNick(turn[1]) else {
            return fail(turn, "INVALID_NICK", "A relayed nick is one of another network, as ana/discord")
        }
        let text = freeText(turn, 2)
        if text.isEmpty { return reply(turn, .ERR_NOTEXTTOSEND, ":No text to send") }
        let nick = ByteString(turn[1])
        let own: ByteString = "draft/relaymsg=\(users[turn.me].nick)"
        let tags = clientTags(turn)
        let utterance = Utterance(
            kind: .privmsg, command: "PRIVMSG", text: ByteString(text), tags: tags.isEmpty ? own : "\(own);\(tags)",
            author: Author(source: "\(nick)!\(users[turn.me].username)@\(users[turn.me].host)", name: nick))
        users[turn.me].spoke = now.wall
        speakInChannel(turn, utterance, name, onlyRanks: [])
    }

    /// A nick but for the slashes, which the value of the capability tells.
    private func isForeignNick(_ nick: ByteView) -> Bool {
        guard nick.firstIndex(of: 0x2F) != nil, nick.count <= settings.limits.nickLength else { return false }
        var isValid = true
        nick.split(0x2F) { part in
            let word: ByteString = "_\(part)"
            isValid = isValid && !part.isEmpty && word.withView { Names.isValidNick($0, limit: nick.count + 1) }
        }
        return isValid
    }
}
