import Bytes
import Wire

/// SplitMix64: the same bytes in every run.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Bytes of an alphabet that leads into every branch, now and then any byte.
    mutating func bytes(_ count: Int, of alphabet: [UInt8]) -> [UInt8] {
        (0..<count).map { _ in
            Int.random(in: 0..<8, using: &self) == 0
                ? UInt8.random(in: 0...255, using: &self) : alphabet.randomElement(using: &self)!
        }
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func with<R>(_ text: String, _ body: (ByteView) throws -> R) rethrows -> R { try ByteString(text).withView(body) }

func with<R>(_ bytes: [UInt8], _ body: (ByteView) throws -> R) rethrows -> R { try ByteString(bytes).withView(body) }
