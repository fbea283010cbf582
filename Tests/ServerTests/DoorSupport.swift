import Foundation
import TestKit
import Testing

/// What the tests at the door share: servers that stay for the whole run, and names that nobody else uses, so that the
/// tests can run side by side on one of them.
enum Door {
    /// Three listeners: plain, TLS, and one port for both.
    static let shared = Result { try ServerProcess(ServerConfiguration(.plain, .tls, .both)) }
    /// The same with flood control as it is by default.
    static let metered = Result { try ServerProcess(ServerConfiguration().with("flood", "enabled", "true")) }

    static let plain = 0
    static let tls = 1
    static let both = 2

    static func unique(_ stem: String) -> String {
        let letters = "abcdefghijkmnpqrstuvwxyz"
        return stem + "-" + String((0..<6).map { _ in letters.randomElement()! })
    }
}

extension ServerProcess {
    /// A client over TLS, on the TLS listener unless told otherwise.
    func connectTLS(_ label: String = "tls", listener: Int = Door.tls, options: [String] = []) throws -> LineClient {
        try LineClient(tlsPort: port(listener), label: label, options: options)
    }

    /// An IRC client that is in `channel` and will see what is said there.
    func watcher(_ channel: String, _ capabilities: String...) throws -> LineClient {
        let watcher = try connect("watcher")
        try watcher.register(Door.unique("w"), capabilities: capabilities)
        try watcher.join(channel)
        return watcher
    }

    /// A person who is in `channel`.
    func person(_ nick: String, in channel: String) throws -> LineClient {
        let person = try person(nick)
        try person.join(channel)
        try person.sync()
        return person
    }
}

extension LineClient {
    /// What others said, of what came until now.
    func messages() throws -> [String] {
        try sync().filter { $0.command == "PRIVMSG" }.map(\.last)
    }

    /// Reads on to a message with exactly this text.
    @discardableResult
    func expectMessage(_ text: String, within seconds: Double = patience) throws -> ReceivedLine {
        try expect(text, within: seconds) { $0.command == "PRIVMSG" && $0.last == text }
    }
}
