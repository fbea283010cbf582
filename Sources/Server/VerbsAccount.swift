import Net

/// `parley account …`: what the running server is asked to do with accounts.
package struct AccountVerb: Sendable, Equatable {
    /// The command for the server; a password is its last word.
    package var command: [String]
    package var needsPassword = false
    package var isList = false

    package static let usage = """
        account add NAME [EMAIL] | passwd NAME | delete NAME | list [MASK] | suspend NAME [REASON] | unsuspend NAME \
        | cert NAME list|add|del [FINGERPRINT]
        """

    /// Passwords are read from standard input, never taken from the command line.
    package init(_ words: [String]) throws(Verb.UsageError) {
        let rest = Array(words.dropFirst())
        switch (words.first, rest.count) {
        case ("add", 1...2):
            command = ["ACCOUNT", "ADD", rest[0], rest.count > 1 ? rest[1] : "*"]
            needsPassword = true
        case ("passwd", 1):
            command = ["ACCOUNT", "PASSWD", rest[0]]
            needsPassword = true
        case ("delete", 1): command = ["ACCOUNT", "DELETE", rest[0]]
        case ("list", 0...1):
            command = ["ACCOUNT", "LIST", rest.first ?? "*"]
            isList = true
        case ("suspend", 1...2): command = ["SUSPEND"] + rest
        case ("unsuspend", 1): command = ["UNSUSPEND", rest[0]]
        case ("cert", 2...3): command = ["ACCOUNT", "CERT"] + rest
        default: throw Verb.UsageError(text: "write \(Self.usage)")
        }
    }
}

func runAccount(_ verb: AccountVerb, _ file: String?) -> Int32 {
    guard let loaded = loadOrComplain(file) else { return Exit.failure }
    var words = verb.command.map { Array($0.utf8) }
    if verb.needsPassword {
        guard let password = readPassword() else {
            Output.error("parley: no password given\n")
            return Exit.failure
        }
        words.append(password)
    }
    return withConsole(loaded.configuration) { console throws(NetError) in
        while true {
            guard let line = commandLine(words) else { return Exit.failure }
            let (status, next) = try console.ask(line)
            guard verb.isList, let next else { return status }
            words = verb.command.map { Array($0.utf8) } + [Array(next.utf8)]
        }
    }
}
