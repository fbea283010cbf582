import Bytes
import Wire

let helpCommand = Command(
    "HELP", access: .visitor, source: "Modern IRC, HELP",
    help: ["HELP [command]", "How to chat here, or what one command does, with an example.", "Example: HELP JOIN"]
) { world, turn in world.help(turn) }

let helpopCommand = Command(
    "HELPOP", access: .visitor, source: "Modern IRC, HELP",
    help: ["HELPOP [command]", "The same as HELP.", "Example: HELPOP JOIN"]
) { world, turn in world.help(turn) }

extension World {
    fileprivate mutating func help(_ turn: Turn) {
        guard let subject = turn.parameter(0)?.trimmed, !subject.isEmpty, subject != "*" else {
            return sendHelp(turn, "*", HelpScreen.start(settings.welcomeChannel) + HelpScreen.topics)
        }
        let word = subject.first == 0x2F ? subject.dropFirst() : subject
        if let row = CommandTable.find(word) {
            return sendHelp(turn, "\(row.name)", row.help.map { ByteString(ByteView($0)) })
        }
        var text: ByteString = "No help available on this topic. HELP lists all commands"
        if let near = nearestWord(word, among: CommandTable.names) { text = "No such command. Did you mean \(near)?" }
        reply(turn, .ERR_HELPNOTFOUND, "\(shown(subject)) :\(text)")
    }

    /// 704 for the first line, 706 for the end (Modern IRC, RPL_HELPSTART).
    private mutating func sendHelp(_ turn: Turn, _ subject: ByteString, _ lines: [ByteString]) {
        for (i, line) in lines.enumerated() {
            reply(turn, i == 0 ? .RPL_HELPSTART : .RPL_HELPTXT, subject, fitting: line)
        }
        let end: ByteString = subject == "*" ? "HELP <command> explains one, as in HELP JOIN" : "End of HELP"
        reply(turn, .RPL_ENDOFHELP, "\(subject) :\(end)")
    }
}

/// `HELP` alone: one screen, first how to start, then every command that people type, by topic.
enum HelpScreen {
    static func start(_ channel: ByteString) -> [ByteString] {
        [
            "To start, type these, each with Enter:",
            "  NICK ana           be called ana",
            "  JOIN \(channel)  enter a channel; what you type then is said there",
            "  PRIVMSG bo :hello  say hello to bo alone",
            "  LIST, or WHO \(channel): which channels there are, or who is in one",
            "  QUIT               leave",
        ]
    }

    static let topics: [ByteString] =
        list("You", registrationCommands + identityCommands + presenceCommands) + list("Channels", channelCommands)
        + list("Saying", messageCommands + imageCommands) + list("What was said", historyCommands)
        + list("Who and what is here", queryCommands) + list("Operators", operatorCommands)

    /// Sent by clients, not typed by people; `HELP <command>` knows them all the same.
    private static let forClients: Set<String> = [
        "USER", "CAP", "AUTHENTICATE", "PING", "PONG", "TAGMSG", "CHATHISTORY", "HELPOP", "ISUPPORT", "USERHOST",
        "ISON",
        "USERS", "SUMMON", "LINKS", "RELAYMSG", "CHANSERV", "CS",
    ]

    private static func list(_ title: StaticString, _ rows: [Command]) -> [ByteString] {
        let names = rows.filter { !forClients.contains("\($0.name)") }.map { ByteString(ByteView($0.name)) }
        if names.isEmpty { return [] }
        return wrap(["\(title):"] + names, width: 76)
    }
}
