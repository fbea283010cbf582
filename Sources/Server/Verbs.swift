/// What the command line asks for.
package enum Verb: Sendable, Equatable {
    case serve(configuration: String?)
    case checkConfig(file: String?)
    case defaultConfig
    case hashPassword
    case checkStore(configuration: String?)
    /// An operator's command for the running server.
    case command([String], configuration: String?)
    case account(AccountVerb, configuration: String?)
    /// Everything that is kept of a person.
    case export(String, configuration: String?)
    case exportChannel(String, configuration: String?)
    case help
    case version

    package struct UsageError: Error, Sendable, Equatable {
        package let text: String
    }

    private static let names: [StaticString] = [
        "serve", "check-config", "default-config", "hash-password", "check-store", "operator", "account", "export",
        "help", "version",
    ]

    /// `arguments` without the program's name.
    package static func parse(_ arguments: [String]) throws(UsageError) -> Verb {
        var words: [String] = []
        var file: String?
        var channel: String?
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "operator", words.isEmpty {
                return try command(Array(rest), file)
            }
            if argument == "account", words.isEmpty {
                if ["-h", "--help"].contains(rest.first) { return .help }
                return .account(try AccountVerb(Array(rest)), configuration: file)
            }
            switch argument {
            case "-h", "--help": return .help
            case "-V", "--version": return .version
            case "-c", "--config":
                guard let value = rest.popFirst(), !value.isEmpty else {
                    throw UsageError(text: "\(argument) needs a file")
                }
                file = try once(file, value)
            case _ where argument.hasPrefix("--config="):
                file = try once(file, String(argument.dropFirst("--config=".count)))
            case "--channel":
                guard let value = rest.popFirst(), !value.isEmpty else {
                    throw UsageError(text: "--channel needs a channel")
                }
                channel = value
            case _ where argument.hasPrefix("-"):
                throw unknown("option", argument, among: ["--channel", "--config", "--help", "--version"])
            default: words.append(argument)
            }
        }
        if let channel {
            guard words == ["export"] else { throw UsageError(text: "--channel is for export alone") }
            return .exportChannel(channel, configuration: file)
        }
        return try verb(words, file)
    }

    /// What follows is the server's: no option is looked for in it.
    private static func command(_ words: [String], _ file: String?) throws(UsageError) -> Verb {
        if ["-h", "--help"].contains(words.first) { return .help }
        if words.isEmpty { throw UsageError(text: "operator: which command? Try: parley operator help operator") }
        return .command(words, configuration: file)
    }

    private static func verb(_ words: [String], _ file: String?) throws(UsageError) -> Verb {
        let name = words.first ?? "serve"
        var file = file
        if name == "check-config", words.count == 2 { file = try once(file, words[1]) }
        let most = name == "check-config" || name == "export" ? 2 : 1
        guard names.contains(where: { $0.description == name }) else { throw unknown("verb", name, among: names) }
        guard words.count <= most else {
            throw UsageError(text: "\(name): unexpected \(TOML.quote(Suggestion.printable(words[most])))")
        }
        switch name {
        case "serve": return .serve(configuration: file)
        case "export":
            guard words.count == 2 else {
                throw UsageError(text: "export: of whom? A nick, an account, =uid, or --channel and its name")
            }
            return .export(words[1], configuration: file)
        case "check-config": return .checkConfig(file: file)
        case "check-store": return .checkStore(configuration: file)
        case _ where file != nil: throw UsageError(text: "\(name) takes no --config")
        case "default-config": return .defaultConfig
        case "hash-password": return .hashPassword
        case "version": return .version
        default: return .help
        }
    }

    private static func once(_ file: String?, _ value: String) throws(UsageError) -> String {
        if file != nil { throw UsageError(text: "more than one configuration file") }
        return value
    }

    private static func unknown(_ what: String, _ word: String, among known: [StaticString]) -> UsageError {
        let hint = Suggestion.nearest(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
        return UsageError(text: "unknown \(what) \(TOML.quote(Suggestion.printable(word)))\(hint)")
    }
}

/// Status codes of the process.
package enum Exit {
    package static let success: Int32 = 0
    package static let failure: Int32 = 1
    package static let usage: Int32 = 2
}

extension Verb {
    /// Does what the command line asks for, and gives the process's status. `arguments` starts with the program's name.
    package static func run(_ arguments: [String]) -> Int32 {
        if arguments.count > 1, arguments[1] == ImageSandbox.verb { return ImageSandbox.run(arguments) }
        let verb: Verb
        do {
            verb = try parse(Array(arguments.dropFirst()))
        } catch {
            Output.error("parley: \(error.text); see parley --help\n")
            return Exit.usage
        }
        switch verb {
        case .serve(let file): return runServe(file)
        case .checkConfig(let file): return runCheckConfig(file)
        case .defaultConfig: return Output.print(DefaultsText.make())
        case .hashPassword: return runHashPassword()
        case .checkStore(let file): return runCheckStore(file)
        case .command(let words, let file): return runCommand(words, file)
        case .account(let verb, let file): return runAccount(verb, file)
        case .export(let who, let file): return runExport(.person(who), file)
        case .exportChannel(let name, let file): return runExport(.channel(name), file)
        case .help: return Output.print(Help.text)
        case .version: return Output.print("parley \(Version.string)\n")
        }
    }
}

enum Output {
    /// To standard output. A full disk or a closed pipe is a failure.
    static func print(_ text: String) -> Int32 {
        do {
            try Files.writeAll(1, Array(text.utf8))
            return Exit.success
        } catch {
            Output.error("parley: cannot write: \(error.reason)\n")
            return Exit.failure
        }
    }

    /// To standard error; when that is gone nobody is left to be told.
    static func error(_ text: String) { try? Files.writeAll(2, Array(text.utf8)) }
}
