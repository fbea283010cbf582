import Bytes

/// Keys: any name that the grammar allows; a few mean something to the server.
enum MetadataKeys {
    /// What messages are stored under, beside the nick.
    static var displayName: ByteString { "display-name" }
    /// An address, or a photo that is stored here (`portraitValue`).
    static var avatar: ByteString { "avatar" }
    /// `off`: LASTSEEN tells nobody.
    static var lastSeen: ByteString { "parley.chat/last-seen" }
    /// `off`: neither gives receipts nor gets any.
    static var receipts: ByteString { "parley.chat/receipts" }
    /// Keys that begin so are a person's own: settings that its clients share.
    private static var ownPrefix: StaticString { "parley.chat/private/" }

    /// `a-z`, `0-9` and `_./-` (IRCv3 metadata, "Keys and Values").
    static func isValid(_ key: ByteView, limit: Int) -> Bool {
        guard (1...limit).contains(key.count) else { return false }
        return (0..<key.count).allSatisfy { at in
            switch key[at] {
            case 0x61...0x7A, 0x2D...0x39, 0x5F: true
            default: false
            }
        }
    }

    /// Whether its owner alone sees it.
    static func isPrivate(_ key: ByteString) -> Bool {
        key == lastSeen || key == receipts || key.withView { $0.hasPrefix(ownPrefix) }
    }

    /// `*`: everyone.
    static func visibility(of key: ByteString) -> ByteString { isPrivate(key) ? "private" : "*" }

    /// What is wrong with a value for a key that means something; nil: nothing.
    static func complaint(_ key: ByteString, _ value: ByteString) -> ByteString? {
        if key == lastSeen || key == receipts, value != "on", value != "off" { return "\(key) is on or off" }
        if key == displayName, value.withView({ $0.trimmed.isEmpty }) { return "A name has something to see" }
        return nil
    }
}
