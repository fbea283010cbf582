package import Bytes

/// `nick!user@host`, taken apart; parts that are missing are empty (Modern IRC, "Source").
package struct Source {
    package let nick: ByteView
    package let user: ByteView
    package let host: ByteView

    package init(_ source: ByteView) {
        let at = source.firstIndex(of: 0x40)
        let beforeHost = source.prefix(at ?? source.count)
        let mark = beforeHost.firstIndex(of: 0x21)
        nick = beforeHost.prefix(mark ?? beforeHost.count)
        user = mark.map { beforeHost.dropFirst($0 + 1) } ?? .empty
        host = at.map { source.dropFirst($0 + 1) } ?? .empty
    }
}
