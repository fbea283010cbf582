import Testing

/// What a decoder makes pixels of, found by other code than the one that is tested: it only knows what the fixtures
/// have.
struct Pixels: Equatable {
    var parts: [[UInt8]] = []

    init(_ bytes: [UInt8]) throws {
        switch bytes[0] {
        case 0xFF: jpeg(bytes)
        case 0x89: try chunks(bytes, from: 8, lengthFirst: true)
        case 0x47: try gif(bytes)
        default: try chunks(bytes, from: 12, lengthFirst: false)
        }
    }

    /// Tables, frame and scans, to the end of the picture.
    private mutating func jpeg(_ bytes: [UInt8]) {
        var at = 2
        while bytes[at + 1] != 0xD9 {
            let marker = bytes[at + 1]
            var end = at + (Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])) + 2
            if marker == 0xDA {
                while bytes[end] != 0xFF || bytes[end + 1] == 0 || (0xD0...0xD7).contains(bytes[end + 1]) { end += 1 }
            }
            if !(0xE0...0xEF).contains(marker), marker != 0xFE { parts.append(Array(bytes[at..<end])) }
            at = end
        }
    }

    /// PNG and WebP, whose chunks differ in where the length stands.
    private mutating func chunks(_ bytes: [UInt8], from start: Int, lengthFirst: Bool) throws {
        let pixels = ["IHDR", "PLTE", "IDAT", "tRNS", "acTL", "fcTL", "fdAT", "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF"]
        var at = start
        while at + 8 <= bytes.count {
            let first = bytes[at..<at + 4]
            let second = bytes[at + 4..<at + 8]
            let length = (lengthFirst ? Array(first) : second.reversed()).reduce(0) { $0 << 8 | Int($1) }
            let name = String(decoding: lengthFirst ? second : first, as: UTF8.self)
            try #require(at + 8 + length <= bytes.count)
            if pixels.contains(name) { parts.append(Array(name.utf8) + bytes[at + 8..<at + 8 + length]) }
            at += 8 + length + (lengthFirst ? 4 : length % 2)
        }
    }

    /// Everything but comments and application data.
    private mutating func gif(_ bytes: [UInt8]) throws {
        func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        func skipped(_ start: Int) -> Int {
            var at = start
            while bytes[at] != 0 { at += Int(bytes[at]) + 1 }
            return at + 1
        }
        var at = 13 + table(bytes[10])
        parts.append(Array(bytes[6..<at]))
        while bytes[at] != 0x3B {
            let end: Int
            if bytes[at] == 0x21 {
                end = skipped(at + 2)
                if bytes[at + 1] == 0xF9 { parts.append(Array(bytes[at..<end])) }
            } else {
                try #require(bytes[at] == 0x2C)
                end = skipped(at + 10 + table(bytes[at + 9]) + 1)
                parts.append(Array(bytes[at..<end]))
            }
            at = end
        }
    }
}
