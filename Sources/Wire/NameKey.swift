package import Bytes

/// A name as a dictionary key: ASCII case folded (`CASEMAPPING=ascii`), inline, hashed with the process's secret seed
/// because strangers choose the names.
///
/// No valid name is longer than 64 bytes; the key of a longer one is its first 64 bytes and its length.
package struct NameKey: Hashable, Sendable {
    private var words: InlineArray<8, UInt64>
    private let length: Int

    package init(_ name: ByteView) {
        words = InlineArray(repeating: 0)
        length = name.count
        let kept = min(name.count, 64)
        let raw = name.raw
        var at = 0
        while kept - at >= 8 {
            words[at / 8] = Self.folded(raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            at += 8
        }
        if at == kept { return }
        var rest: UInt64 = 0
        for i in at..<kept { rest |= UInt64(name[i]) << UInt64((i - at) * 8) }
        words[at / 8] = Self.folded(UInt64(littleEndian: rest))
    }

    package init(_ name: ByteString) { self = name.withView { NameKey($0) } }

    private var used: Int { (min(length, 64) + 7) / 8 }

    package static func == (a: NameKey, b: NameKey) -> Bool {
        guard a.length == b.length else { return false }
        var difference: UInt64 = 0
        for i in 0..<a.used { difference |= a.words[i] ^ b.words[i] }
        return difference == 0
    }

    /// Without the length, which the padding tells already for every name that can be stored.
    package func hash(into hasher: inout Hasher) {
        for i in 0..<used { hasher.combine(words[i]) }
    }

    /// Lower case of the eight bytes at once. Bytes with the high bit never carry into their neighbours here.
    @inline(__always)
    private static func folded(_ word: UInt64) -> UInt64 {
        let low = word & 0x7F7F_7F7F_7F7F_7F7F
        let fromA = low &+ 0x3F3F_3F3F_3F3F_3F3F  // high bit: byte >= 'A'
        let pastZ = low &+ 0x2525_2525_2525_2525  // high bit: byte > 'Z'
        let upper = fromA & ~pastZ & ~word & 0x8080_8080_8080_8080
        return word | upper >> 2
    }
}
