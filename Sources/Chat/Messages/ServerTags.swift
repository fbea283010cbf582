import Bytes
import Wire

/// Tags that the server gives a message of a kind, before those of its author. They are for who asked for them.
enum ServerTags {
    private static var kinds: [(prefix: StaticString, capability: Capabilities)] {
        [("parley.chat/img", .images), ("draft/relaymsg=", .relaymsg)]
    }

    /// The capability that shows the first tags; empty: they are all for who knows tags.
    static func capability(for tags: ByteView) -> Capabilities {
        for kind in kinds where tags.hasPrefix(kind.prefix) { return kind.capability }
        return []
    }

    /// The tags of the server and all others; either may be empty.
    static func split(_ tags: ByteView) -> (own: ByteView, others: ByteView) {
        guard let kind = kinds.first(where: { tags.hasPrefix($0.prefix) }) else { return (.empty, tags) }
        var end = 0
        while tags.dropFirst(end).hasPrefix(kind.prefix) {
            end = tags.firstIndex(of: 0x3B, from: end).map { $0 + 1 } ?? tags.count + 1
        }
        return (tags.prefix(end - 1), tags.dropFirst(end))
    }
}
