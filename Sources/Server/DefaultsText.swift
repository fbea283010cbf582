/// The commented configuration file at its defaults, made from the schema: what `default-config` prints.
package enum DefaultsText {
    private static let width = 100

    package static func make() -> String {
        let defaults = Configuration()
        var out = comment(
            """
            Parley's configuration: every key at its default. A file may leave out what it does not change. Sizes are \
            "64KiB", "1MiB" or a number of bytes; times are "500ms", "10s", "5m", "12h", "90d" or an integer in the \
            unit that the comment names. Check a file with: parley check-config FILE
            """)
        for (index, section) in Schema.sections.enumerated() {
            out += "\n" + comment(section.comment) + "[\(section.name)]\n" + keys(section, defaults)
            if index == 0 { out += listeners() }
        }
        return out + operators() + operatorClasses() + gateways()
    }

    private static func listeners() -> String {
        var out = "\n" + comment(Schema.listen.comment)
        for (index, listener) in Configuration.Listener.defaults.enumerated() {
            out += (index == 0 ? "" : "\n") + "[[listen]]\n" + keys(Schema.listen, listener, commented: index == 0)
        }
        return out
    }

    /// None by default, so an example that is switched off.
    private static func operators() -> String {
        var example = Configuration.Operator()
        example.name = "ana"
        example.password = "$argon2id$v=19$m=19456,t=2,p=1$...$..."
        return switchedOff(Schema.operators, example)
    }

    private static func operatorClasses() -> String {
        var example = Configuration.OperatorClass()
        example.name = "helper"
        example.privileges = ["kill", "kline", "shun"]
        return switchedOff(Schema.operatorClasses, example)
    }

    private static func gateways() -> String {
        var example = Configuration.Gateway()
        example.name = "webchat"
        example.password = "$argon2id$v=19$m=19456,t=2,p=1$...$..."
        example.hosts = ["127.0.0.1"]
        return switchedOff(Schema.gateways, example)
    }

    private static func switchedOff<Root>(_ section: Schema.Section<Root>, _ example: Root) -> String {
        let lines = "[[\(section.name)]]\n" + keys(section, example)
        let off = lines.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { "#\($0)" }
        return "\n" + comment(section.comment) + off.joined(separator: "\n") + "\n"
    }

    private static func keys<Root>(_ section: Schema.Section<Root>, _ root: Root, commented: Bool = true) -> String {
        section.keys.map { key in
            let about = key.allowed.isEmpty ? key.comment : "\(key.comment) (\(key.allowed))"
            return (commented ? comment(about) : "") + "\(key.name) = \(key.write(root))\n"
        }.joined()
    }

    private static func comment(_ text: String) -> String {
        var lines = ["#"]
        for word in text.split(separator: " ") {
            if lines[lines.count - 1].utf8.count + word.utf8.count >= width { lines.append("#") }
            lines[lines.count - 1] += " " + word
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
