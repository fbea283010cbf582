import Bytes
import Wire

/// What people type: text that is said, commands with and without a slash.
extension World {
    mutating func receiveTyped(_ id: ConnectionID, _ line: ByteView) {
        var edited = ByteBuffer()
        let line = LineEditing.apply(line, into: &edited) ? edited.view.trimmed : line
        if line.isEmpty { return }
        // Who speaks first need not be told how.
        sessions[id].isGreeted = true
        if sessions[id].manner == .undecided, sessions[id].stage == .opening, refuseHTTP(id, line) { return }
        if line[0] == 0x2F { return receiveSlash(id, line.dropFirst()) }
        guard let channel = sessions[id].talkingIn, !isCommand(id, line) else { return receiveCommand(id, line) }
        say(id, in: channel, line)
    }

    /// After a JOIN typed text is said, unless its first word is a command in capitals, or in any case stands alone or
    /// before a channel name.
    private func isCommand(_ id: ConnectionID, _ line: ByteView) -> Bool {
        if line[0] == 0x40 || line[0] == 0x3A { return isProtocol(id, line) }
        let end = line.firstIndex(of: 0x20) ?? line.count
        let word = line[0..<end]
        guard CommandTable.find(word) != nil else { return false }
        let isCapital = (0..<word.count).allSatisfy { ASCII.upper(word[$0]) == word[$0] }
        let rest = line.dropFirst(end).trimmed
        return isCapital || rest.isEmpty || rest[0] == 0x23
    }

    /// Tags come from who asked for tags, a source names the sender; all else, `:)` and `@ana hi`, is said.
    private func isProtocol(_ id: ConnectionID, _ line: ByteView) -> Bool {
        guard let message = Message(parsing: line), CommandTable.find(message.command) != nil else { return false }
        if line[0] == 0x40 { return capabilities[Int(id.index)].contains(.messageTags) }
        guard let user = sessions[id].user else { return false }
        return users[user].nick.withView { Source(message.source).nick.equalsIgnoringCase($0) }
    }

    private mutating func say(_ id: ConnectionID, in channel: ChannelID, _ text: ByteView) {
        command(id, "PRIVMSG \(channels[channel].name) :\(text)")
    }

    /// Runs a command line that was made here.
    private mutating func command(_ id: ConnectionID, _ line: ByteString) {
        line.withView { view in receiveCommand(id, view) }
    }

    private mutating func receiveSlash(_ id: ConnectionID, _ line: ByteView) {
        let end = line.firstIndex(of: 0x20) ?? line.count
        let word = line[0..<end]
        let rest = line.dropFirst(end).trimmed
        if word.equalsIgnoringCase("msg") || word.equalsIgnoringCase("query") {
            let space = rest.firstIndex(of: 0x20) ?? rest.count
            return command(id, "PRIVMSG \(rest[0..<space]) :\(rest.dropFirst(space).trimmed)")
        }
        if word.equalsIgnoringCase("me") || word.equalsIgnoringCase("say") {
            guard let channel = sessions[id].talkingIn else {
                return fail(
                    id, "ME", "NO_CHANNEL", "You are in no channel yet. Type JOIN \(settings.welcomeChannel) first")
            }
            if word.equalsIgnoringCase("say") { return say(id, in: channel, rest) }
            return command(id, "PRIVMSG \(channels[channel].name) :\u{1}ACTION \(rest)\u{1}")
        }
        let known: StaticString? = Self.aliases.first { word.equalsIgnoringCase($0.alias) }?.command
        let meant = known.map { ByteView($0) } ?? word
        let isAboutChannel = (["PART", "NAMES", "TOPIC"] as [StaticString]).contains { meant.equalsIgnoringCase($0) }
        if rest.isEmpty, isAboutChannel, let channel = sessions[id].talkingIn {
            return command(id, "\(meant) \(channels[channel].name)")
        }
        if let known { return command(id, "\(known) \(rest)") }
        receiveCommand(id, line)
    }

    private static var aliases: [(alias: StaticString, command: StaticString)] {
        [
            ("j", "JOIN"), ("leave", "PART"), ("exit", "QUIT"), ("bye", "QUIT"), ("q", "QUIT"), ("n", "NAMES"),
            ("w", "WHO"), ("nick", "NICK"), ("help", "HELP"),
        ]
    }

    /// A browser or a scanner: one readable answer, and nothing of what follows is done.
    mutating func refuseHTTP(_ id: ConnectionID, _ line: ByteView) -> Bool {
        let methods: [StaticString] = [
            "GET ", "POST ", "HEAD ", "PUT ", "OPTIONS ", "CONNECT ", "DELETE ", "PATCH ", "PRI ",
        ]
        guard methods.contains(where: { line.hasPrefix($0) }), line.count > 8 else { return false }
        let isVersioned = line.dropFirst(max(0, line.count - 8)).hasPrefix("HTTP/")
        guard isVersioned || line.firstIndex(of: 0x2F) != nil && line.count > 400 else { return false }
        let text: ByteString = "This is a chat server (IRC), not a web server. Connect with an IRC client or netcat."
        let head: ByteString =
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close"
        sendRaw(id, "\(head)\r\nContent-Length: \(text.count + 2)\r\n\r\n\(text)")
        close(id, reason: "HTTP request", error: nil)
        return true
    }
}
