package import Bytes

/// What a proxy says before the connection that it carries: who is at the far end (PROXY protocol, versions 1 and 2, by
/// HAProxy). Read from the first bytes, which may be more or fewer than the header.
package enum ProxyHeader: Sendable, Equatable {
    /// More may still make it one.
    case incomplete
    case invalid
    /// Of so many bytes. nil: the proxy speaks for itself (LOCAL, UNKNOWN) or for what is no internet address.
    case complete(length: Int, source: PeerAddress?)

    /// PROXY protocol, 2.1: the longest line of version 1, with CR LF.
    package static let longestText = 107
    /// The header with addresses and all TLVs; longer is refused. Version 2 could say 65,551.
    package static let longest = 4096

    private static var signature: ByteView { ByteView("\r\n\r\n\0\r\nQUIT\n") }
    private static var word: ByteView { ByteView("PROXY ") }

    package init(_ bytes: ByteView) {
        if bytes.isEmpty {
            self = .incomplete
        } else if bytes[0] == Self.word[0] {
            self = Self.text(bytes)
        } else {
            self = Self.binary(bytes)
        }
    }

    /// Whether `bytes` begin with `beginning`, as far as they go.
    private static func mayBegin(_ bytes: ByteView, _ beginning: ByteView) -> Bool {
        beginning.hasPrefix(bytes.prefix(beginning.count))
    }

    /// `PROXY TCP4 192.0.2.7 198.51.100.1 50000 6667` (2.1).
    private static func text(_ bytes: ByteView) -> ProxyHeader {
        let line = bytes.prefix(longestText)
        guard mayBegin(line, word) else { return .invalid }
        guard let end = line.firstIndex(of: 0x0A) else { return line.count < longestText ? .incomplete : .invalid }
        guard line[end - 1] == 0x0D else { return .invalid }
        let words = line[0..<end - 1].parts(0x20)
        if words.count >= 2, words[1] == "UNKNOWN" { return .complete(length: end + 1, source: nil) }
        guard words.count == 6, let port = words[4].decimal(limit: 65_535), words[5].decimal(limit: 65_535) != nil,
            words[1] == (words[2].contains(0x3A) ? "TCP6" : "TCP4"),
            let source = PeerAddress(words[2].description, port: UInt16(port)),
            PeerAddress(words[3].description, port: 0) != nil
        else { return .invalid }
        return .complete(length: end + 1, source: source)
    }

    /// Signature, version and command, family and protocol, length; then addresses, ports and TLVs (2.2).
    private static func binary(_ bytes: ByteView) -> ProxyHeader {
        guard mayBegin(bytes, signature) else { return .invalid }
        guard bytes.count >= 16 else { return .incomplete }
        let length = 16 + Int(bytes[14]) << 8 + Int(bytes[15])
        guard bytes[12] == 0x20 || bytes[12] == 0x21, length <= longest else { return .invalid }
        guard bytes.count >= length else { return .incomplete }
        let addresses = bytes[16..<length]
        switch (bytes[12] & 0x0F, bytes[13]) {
        case (0, _), (1, 0x00), (1, 0x31): return .complete(length: length, source: nil)
        case (1, 0x11) where addresses.count >= 12: return .complete(length: length, source: source(addresses, 4))
        case (1, 0x21) where addresses.count >= 36: return .complete(length: length, source: source(addresses, 16))
        default: return .invalid
        }
    }

    /// Two addresses of `size` bytes, two ports.
    private static func source(_ addresses: ByteView, _ size: Int) -> PeerAddress {
        let port = UInt16(addresses[size * 2]) << 8 | UInt16(addresses[size * 2 + 1])
        return PeerAddress(addresses.prefix(size), port: port)
    }
}
