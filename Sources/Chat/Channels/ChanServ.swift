import Bytes
import Wire

let chanServCommands: [Command] = [
    Command(
        "CHANSERV", minimum: 1, source: "docs/PROTOCOL.md, Channels",
        help: [
            "CHANSERV <command>", "The same as a message to ChanServ; CHANSERV HELP lists what it knows.",
            "Example: CHANSERV HELP",
        ]
    ) { world, turn in world.serve(turn.session, turn.message.rest(from: 0), by: .channels) },
    Command(
        "CS", minimum: 1, source: "docs/PROTOCOL.md, Channels",
        help: [
            "CS <command>", "The same as a message to ChanServ; CS HELP lists what it knows.",
            "Example: CS REGISTER #lobby",
        ]
    ) { world, turn in world.serve(turn.session, turn.message.rest(from: 0), by: .channels) },
]

/// ChanServ, for who is used to it. A channel is its founder's without it: what it does are the commands that it names.
extension World {
    private static var chanServHelp: [ByteString] {
        [
            "A channel is kept for its founder from the first JOIN on, with its topic, modes, lists and ranks.",
            "REGISTER <#channel>: shows the founder as its owner (MODE <#channel> +q <nick>)",
            "DROP <#channel>: removes the channel and its history for good (DROP <#channel>)",
            "OP|DEOP|HALFOP|DEHALFOP|VOICE|DEVOICE <#channel> [nick]: gives a rank or takes it (MODE)",
        ]
    }

    private static var ranksByWord: [(word: StaticString, mode: StaticString)] {
        [
            ("OP", "+o"), ("DEOP", "-o"), ("HALFOP", "+h"), ("DEHALFOP", "-h"), ("VOICE", "+v"), ("DEVOICE", "-v"),
        ]
    }

    mutating func chanServ(_ session: ConnectionID, _ text: ByteView) {
        let words = text.parts(0x20)
        guard let user = sessions[session].user, let word = words.first else { return }
        let nick = words.count > 2 ? ByteString(words[2]) : users[user].nick
        if word.equalsIgnoringCase("HELP") {
            for line in Self.chanServHelp { serviceNotice(session, line, by: .channels) }
        } else if word.equalsIgnoringCase("REGISTER"), words.count == 2 {
            registerChannel(session, user, words[1])
        } else if word.equalsIgnoringCase("DROP"), words.count == 2 {
            run(session, "DROP \(words[1])")
        } else if let rank = Self.ranksByWord.first(where: { word.equalsIgnoringCase($0.word) }), words.count > 1 {
            run(session, "MODE \(words[1]) \(rank.mode) \(nick)")
        } else {
            refuseWord(session, word, by: .channels)
        }
    }

    private mutating func registerChannel(_ session: ConnectionID, _ user: UserID, _ name: ByteView) {
        guard let channel = channel(named: name), isMember(user, of: channel) else {
            return serviceNotice(session, "\(shown(name)): join it first", by: .channels)
        }
        let name = channels[channel].name
        guard channels[channel].state.founder == users[user].uid else {
            return serviceNotice(session, "\(name) is somebody else's, who founded it", by: .channels)
        }
        run(session, "MODE \(name) +q \(users[user].nick)")
        serviceNotice(session, "\(name) is yours, and stays so while you are away", by: .channels)
    }
}
