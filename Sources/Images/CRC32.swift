import Bytes

/// ISO 3309, as PNG has it (PNG, Annex D).
struct CRC32 {
    /// Eight tables of 256: what a byte contributes with none to seven zero bytes behind it. So eight bytes are a step.
    private static let tables: [UInt32] = {
        var tables: [UInt32] = []
        for byte in 0..<256 as Range<UInt32> {
            var sum = byte
            for _ in 0..<8 { sum = sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
            tables.append(sum)
        }
        for at in 256..<2048 {
            let before = tables[at - 256]
            tables.append(before >> 8 ^ tables[Int(before & 255)])
        }
        return tables
    }()

    private var sum = UInt32.max

    var value: Int { Int(~sum) }

    mutating func add(_ bytes: ByteView) {
        var sum = sum
        let raw = bytes.raw
        Self.tables.withUnsafeBufferPointer { tables in
            var at = 0
            while raw.count - at >= 8 {
                var word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)) ^ UInt64(sum)
                sum = 0
                for table in (0..<8).reversed() {
                    sum ^= tables[table << 8 | Int(word & 255)]
                    word >>= 8
                }
                at += 8
            }
            for byte in raw[at...] { sum = tables[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
        }
        self.sum = sum
    }
}
