import Bytes
import Chat

/// Walks a document along the schema and collects everything that is wrong with it.
struct ConfigurationReader {
    let file: String
    private(set) var configuration = Configuration()
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var warnings: [ConfigurationProblem] = []
    /// Where each key stood, for the checks that need more than one key.
    private var places: [String: TOML.Place] = [:]

    init(file: String) { self.file = file }

    mutating func read(_ root: TOML.Node) {
        guard case .table(let entries) = root.value else { return }
        for entry in entries {
            places[entry.key] = entry.node.place
            readTable(entry)
        }
        checkTogether()
    }

    /// toml++ keeps tables by name; people read files by line.
    func inOrder(_ problems: [ConfigurationProblem]) -> [ConfigurationProblem] {
        problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    }

    private mutating func readTable(_ entry: TOML.Entry) {
        if Schema.listen.name == entry.key {
            configuration.listeners = readList(entry, Schema.listen, Configuration.Listener())
        } else if Schema.operators.name == entry.key {
            configuration.operators = readList(entry, Schema.operators, Configuration.Operator())
        } else if Schema.operatorClasses.name == entry.key {
            configuration.operatorClasses = readList(entry, Schema.operatorClasses, Configuration.OperatorClass())
        } else if Schema.gateways.name == entry.key {
            configuration.gateways = readList(entry, Schema.gateways, Configuration.Gateway())
        } else if let section = Schema.sections.first(where: { $0.name == entry.key }) {
            if case .table(let entries) = entry.node.value {
                configuration = read(entries, section, path: entry.key, over: configuration)
            } else {
                report(entry.node.place, entry.key, "expected a table, [\(entry.key)], found \(entry.node.value.kind)")
            }
        } else {
            reportUnknownTable(entry)
        }
    }

    private mutating func readList<Element>(
        _ entry: TOML.Entry, _ section: Schema.Section<Element>, _ initial: Element
    ) -> [Element] {
        guard case .array(let nodes) = entry.node.value else {
            report(entry.place, entry.key, "expected [[\(entry.key)]], found \(entry.node.value.kind)")
            return []
        }
        return nodes.enumerated().map { index, node in
            let path = "\(entry.key)[\(index + 1)]"
            places[path] = node.place
            guard case .table(let entries) = node.value else {
                report(node.place, path, "expected a table, found \(node.value.kind)")
                return initial
            }
            for key in section.keys where key.isRequired && !entries.contains(where: { $0.key == key.name }) {
                report(node.place, "\(path).\(key.name)", "is missing")
            }
            return read(entries, section, path: path, over: initial)
        }
    }

    private mutating func read<Root>(
        _ entries: [TOML.Entry], _ section: Schema.Section<Root>, path: String, over initial: Root
    ) -> Root {
        var root = initial
        for entry in entries {
            let name = "\(path).\(entry.key)"
            places[name] = entry.node.place
            guard let key = section.keys.first(where: { $0.name == entry.key }) else {
                let known = Suggestion.nearest(to: entry.key, among: section.keys.map(\.word)).map { "\(path).\($0)" }
                report(entry.place, name, unknown("key", known ?? Self.home(of: entry.key)))
                continue
            }
            if let complaint = key.read(entry.node.value, &root) { report(entry.node.place, name, complaint) }
        }
        return root
    }

    private mutating func reportUnknownTable(_ entry: TOML.Entry) {
        if entry.node.value.isTableOrList {
            let lists = [Schema.listen.word, Schema.operators.word, Schema.operatorClasses.word, Schema.gateways.word]
            let names = Schema.sections.map(\.word) + lists
            report(entry.place, entry.key, unknown("table", Suggestion.nearest(to: entry.key, among: names)))
        } else {
            report(entry.place, entry.key, unknown("key", Self.home(of: entry.key)))
        }
    }

    private func unknown(_ what: String, _ suggestion: String?) -> String {
        "unknown \(what)" + (suggestion.map { "; did you mean \($0)?" } ?? "")
    }

    /// The full name of the key that is called so, or nearly so, in whichever table.
    private static func home(of name: String) -> String? {
        let all = Schema.sections.flatMap { section in section.keys.map { (section.name, $0.word) } }
        guard let nearest = Suggestion.nearest(to: name, among: all.map(\.1)) else { return nil }
        return all.first { $0.1.description == nearest }.map { "\($0.0).\($0.1)" }
    }

    private mutating func report(_ place: TOML.Place?, _ key: String, _ text: String) {
        problems.append(problem(place, key, text))
    }

    private func problem(_ place: TOML.Place?, _ key: String, _ text: String) -> ConfigurationProblem {
        ConfigurationProblem(
            file: file, line: place?.line ?? 0, column: place?.column ?? 0, key: Suggestion.printable(key), text: text)
    }
}

/// What no single key can be checked for.
extension ConfigurationReader {
    private mutating func checkTogether() {
        guard problems.isEmpty else { return }
        checkListeners()
        checkOperators()
        checkOperatorClasses()
        checkLengths()
        let tls = configuration.tls
        if tls.certificate.isEmpty != tls.key.isEmpty {
            let given = tls.key.isEmpty ? "tls.certificate" : "tls.key"
            let missing = tls.key.isEmpty ? "tls.key" : "tls.certificate"
            report(places[given], given, "needs \(missing) as well")
        }
        // With a certificate that clients cannot verify they would be locked out.
        if tls.stsPort != 0, tls.certificate.isEmpty {
            report(places["tls.sts-port"], "tls.sts-port", "needs tls.certificate: a self-signed one locks clients out")
        }
    }

    private mutating func checkListeners() {
        var seen: [String: Int] = [:]
        let listeners = configuration.listeners
        if listeners.isEmpty { report(places["listen"], "listen", "nowhere to listen: add a [[listen]]") }
        for (index, listener) in listeners.enumerated() where listener.port != 0 {
            let key = "listen[\(index + 1)]"
            if let first = seen.updateValue(index + 1, forKey: "\(listener.address) \(listener.port)") {
                report(places[key], key, "the same address and port as listen[\(first)]")
            }
        }
        if let index = listeners.firstIndex(where: \.proxy), configuration.server.trustedProxies.isEmpty {
            let key = "listen[\(index + 1)].proxy"
            report(places[key], key, "nobody could connect: name the proxies in server.trusted-proxies")
        }
    }

    private mutating func checkOperators() {
        checkPasswords(Schema.operators.name, configuration.operators.map { ($0.name, $0.password) })
        checkPasswords(Schema.gateways.name, configuration.gateways.map { ($0.name, $0.password) })
    }

    private mutating func checkPasswords(_ table: String, _ entries: [(name: String, password: String)]) {
        var seen: [String: Int] = [:]
        for (index, entry) in entries.enumerated() {
            let key = "\(table)[\(index + 1)]"
            if let first = seen.updateValue(index + 1, forKey: entry.name) {
                report(places["\(key).name"], "\(key).name", "the same name as \(table)[\(first)]")
            }
            if entry.password.hasPrefix(PasswordHash.plainPrefix) {
                let key = "\(key).password"
                let text = "the password stands here in clear; better a hash, made with: parley hash-password"
                warnings.append(problem(places[key], key, text))
            }
        }
    }

    private mutating func checkOperatorClasses() {
        let full = Privilege.fullClass.string
        var known = [full]
        for (index, item) in configuration.operatorClasses.enumerated() {
            let key = "operator-class[\(index + 1)].name"
            if item.name == full {
                report(places[key], key, "\(full) is the built-in class that may everything")
            } else if known.contains(item.name) {
                report(places[key], key, "the same name as another class")
            }
            known.append(item.name)
        }
        for (index, person) in configuration.operators.enumerated() where !known.contains(person.class) {
            let key = "operator[\(index + 1)].class"
            report(places[key], key, "there is no [[operator-class]] of this name; there are \(list(known))")
        }
    }

    private func list(_ names: [String]) -> String { names.map(TOML.quote).joined(separator: ", ") }

    private mutating func checkLengths() {
        let limits = configuration.limits
        let nick = configuration.guests.prefix.utf8.count + Configuration.Guests.generatedLetters
        if nick > limits.nickLength {
            let key = places["guests.prefix"] == nil ? "limits.nick-length" : "guests.prefix"
            report(
                places[key], key, "a guest's nick would have \(nick) bytes, limits.nick-length is \(limits.nickLength)")
        }
        let channel = configuration.server.welcomeChannel
        if channel.utf8.count > limits.channelLength {
            let key = places["server.welcome-channel"] == nil ? "limits.channel-length" : "server.welcome-channel"
            report(places[key], key, "\(channel) is longer than limits.channel-length, \(limits.channelLength)")
        }
    }
}

extension TOML.Value {
    fileprivate var isTableOrList: Bool {
        switch self {
        case .table, .array: true
        default: false
        }
    }
}
