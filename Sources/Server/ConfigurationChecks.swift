import Bytes
import CSystem
import Chat
import Net
import Wire

/// What is wrong with a name or text that goes out on the wire; nil: nothing.
enum Checks {
    /// Modern IRC, "servername": host name characters and at least one dot, at most 63 bytes.
    static func complaint(serverName name: String) -> String? {
        let bytes = Array(name.utf8)
        guard bytes.count <= 63 else { return "is longer than 63 bytes" }
        guard bytes.contains(0x2E) else { return "needs a dot, as in \(TOML.quote("irc.example.org"))" }
        let parts = bytes.split(separator: 0x2E, omittingEmptySubsequences: false)
        let fine = parts.allSatisfy { part in
            !part.isEmpty && part.first != 0x2D && part.last != 0x2D
                && part.allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2D }
        }
        return fine ? nil : "is not a host name: letters, digits, dots and hyphens"
    }

    static func complaint(word: String, limit: Int) -> String? {
        if word.isEmpty { return "must not be empty" }
        if word.utf8.contains(0x20) { return "must be one word, without spaces" }
        return complaint(line: word, limit: limit)
    }

    static func complaint(line: String, limit: Int) -> String? {
        if line.utf8.count > limit { return "is longer than \(limit) bytes" }
        let hasControl = line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
        return hasControl ? "must not contain control characters" : nil
    }

    static func complaint(path: String) -> String? {
        path.utf8.contains(0) ? "a file name cannot contain a zero byte" : nil
    }

    static func complaint(channel name: String) -> String? {
        if !name.hasPrefix("#") { return "a channel's name starts with #" }
        let isValid = ByteString(name).withView { Names.isValidChannel($0, limit: LineLimits.message) }
        return isValid ? nil : "is no name that a channel can have"
    }

    static func complaint(nickPrefix prefix: String) -> String? {
        let isValid = ByteString(prefix).withView { Names.isValidNick($0, limit: LineLimits.message) }
        return isValid ? nil : "is no name that a nick can begin with"
    }

    static func complaint(command: [String]) -> String? {
        if command.first?.isEmpty ?? false { return "the first word is a program" }
        return command.contains { $0.utf8.contains(0) } ? "a word cannot contain a zero byte" : nil
    }

    static func complaint(email: String) -> String? {
        let isValid = ByteString(email).withView { Email.isValid($0) }
        return isValid ? nil : "is no address, such as \(TOML.quote("chat@example.org"))"
    }

    static func complaint(address: String) -> String? {
        var room = in6_addr()
        if inet_pton(AF_INET, address, &room) == 1 || inet_pton(AF_INET6, address, &room) == 1 { return nil }
        if address.hasPrefix("[") { return "write an IPv6 address without brackets" }
        return "is no IPv4 or IPv6 address, such as \"127.0.0.1\", \"::1\", \"0.0.0.0\" or \"::\""
    }

    static var privileges: String { Privilege.allCases.map(\.rawValue).joined(separator: ", ") }

    static func complaint(privileges names: [String]) -> String? {
        guard let wrong = names.first(where: { Privilege(rawValue: $0) == nil }) else { return nil }
        return "there is no privilege \(TOML.quote(Suggestion.printable(wrong))); there are \(privileges)"
    }

    static func complaint(userModes: String) -> String? {
        UserModes(settable: userModes) == nil ? "only \(UserModes.settableLetters) can be given to everybody" : nil
    }

    static var imageTypes: String { ImageType.allCases.map(\.name.string).joined(separator: ", ") }

    static func complaint(imageTypes names: [String]) -> String? {
        if names.isEmpty { return "must not be empty; enabled = false switches pictures off" }
        let wrong = names.first { name in ByteString(name).withView { ImageType($0) } == nil }
        return wrong.map { "there is no kind \(TOML.quote(Suggestion.printable($0))); there are \(imageTypes)" }
    }

    static func complaint(networks: [String]) -> String? {
        networks.first { AddressRange($0) == nil }.map {
            "\(TOML.quote($0)) is no address or network, such as \(TOML.quote("10.0.0.0/8"))"
        }
    }

    static func complaint(operatorPassword text: String) -> String? {
        if text.hasPrefix(PasswordHash.plainPrefix) {
            return text.utf8.count > PasswordHash.plainPrefix.utf8.count ? nil : "the password is empty"
        }
        if PasswordHash.isWellFormed(text) { return nil }
        return "is not an argon2id hash; make one with: parley hash-password"
    }
}
