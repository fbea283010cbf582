import Bytes

/// ISO 3309, as PNG has it (PNG, Annex D).
struct CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
    }

    private var sum = UInt32.max

    var value: Int { Int(~sum) }

    mutating func add(_ bytes: ByteView) {
        var sum = sum
        Self.table.withUnsafeBufferPointer { table in
            for byte in bytes.raw { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
        }
        self.sum = sum
    }
}
