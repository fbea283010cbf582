/// What a test's server is told, as the TOML an operator would write. Flood control is off unless a test asks for it,
/// and everything but the listeners stays at its default.
package struct ServerConfiguration: Sendable {
    package struct Listen: Sendable {
        package enum Mode: String, Sendable { case plain, tls, both }
        package var mode: Mode
        package var address: String
        package var isWebSocket: Bool

        package init(_ mode: Mode, address: String = "127.0.0.1", isWebSocket: Bool = false) {
            self.mode = mode
            self.address = address
            self.isWebSocket = isWebSocket
        }
    }

    package var listeners: [Listen] = [Listen(.plain)]
    /// Values as TOML writes them: `["limits": ["registration-seconds": "1"]]`.
    package var sections: [String: [String: String]] = [
        "server": ["name": "\"parley.test\"", "network": "\"ParleyTest\""], "flood": ["enabled": "false"],
    ]
    /// Name and password of operators.
    package var operators: [(name: String, password: String)] = []
    /// Name and password of web gateways, which connect from this machine.
    package var gateways: [(name: String, password: String)] = []
    /// Holds the database and what the server keeps beside it; nil: `data` in the server's own directory.
    package var dataDirectory: String?

    /// Open files the process may have; nil: as many as the tests.
    package var descriptorLimit: Int?

    package init(_ listeners: Listen.Mode...) {
        if !listeners.isEmpty { self.listeners = listeners.map { Listen($0) } }
    }

    /// The same with one key set.
    package func with(_ section: String, _ key: String, _ value: String) -> ServerConfiguration {
        var copy = self
        copy.sections[section, default: [:]][key] = value
        return copy
    }

    func text(ports: [UInt16], directory: String) -> String {
        var sections = sections
        sections["store", default: [:]]["path"] = "\"\(dataDirectory ?? "\(directory)/data")/parley.db\""
        var text = ""
        for (name, values) in sections.sorted(by: { $0.key < $1.key }) {
            text += "[\(name)]\n"
            for (key, value) in values.sorted(by: { $0.key < $1.key }) { text += "\(key) = \(value)\n" }
            text += "\n"
        }
        for (listen, port) in zip(listeners, ports) {
            text +=
                "[[listen]]\naddress = \"\(listen.address)\"\nport = \(port)\nmode = \"\(listen.mode.rawValue)\"\n"
            text += "websocket = \(listen.isWebSocket)\n\n"
        }
        for (name, password) in gateways {
            text += "[[webirc]]\nname = \"\(name)\"\npassword = \"plain:\(password)\"\nhosts = [\"127.0.0.1\"]\n\n"
        }
        for (name, password) in operators {
            text += "[[operator]]\nname = \"\(name)\"\npassword = \"plain:\(password)\"\n\n"
        }
        return text
    }
}
