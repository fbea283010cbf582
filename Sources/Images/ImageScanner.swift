import Bytes

/// Reads forward through bytes that may end anywhere.
struct ImageScanner {
    let bytes: ByteView
    private(set) var at = 0

    init(_ bytes: ByteView) { self.bytes = bytes }

    var left: Int { bytes.count - at }
    var rest: ByteView { bytes.dropFirst(at) }

    mutating func take(_ count: Int) throws(ImageFault) -> ByteView {
        guard count >= 0, count <= left else { throw .truncated }
        defer { at += count }
        return bytes[at..<at + count]
    }

    mutating func byte() throws(ImageFault) -> UInt8 {
        guard left > 0 else { throw .truncated }
        defer { at += 1 }
        return bytes[at]
    }

    mutating func big16() throws(ImageFault) -> Int { try take(2).big(0, 2) }
    mutating func big32() throws(ImageFault) -> Int { try take(4).big(0, 4) }
    mutating func little16() throws(ImageFault) -> Int { try take(2).little(0, 2) }
    mutating func little32() throws(ImageFault) -> Int { try take(4).little(0, 4) }
}

extension ByteView {
    /// The number in `width` bytes from `start`, most significant first.
    func big(_ start: Int, _ width: Int) -> Int {
        var number = 0
        for i in start..<start + width { number = number << 8 | Int(self[i]) }
        return number
    }

    /// The number in `width` bytes from `start`, least significant first.
    func little(_ start: Int, _ width: Int) -> Int {
        var number = 0
        for i in (start..<start + width).reversed() { number = number << 8 | Int(self[i]) }
        return number
    }

    var startsJPEG: Bool { count >= 3 && big(0, 3) == 0xFFD8FF }

    var startsPNG: Bool { count >= 8 && self[0] == 0x89 && dropFirst().hasPrefix("PNG\r\n\u{1A}\n") }

    var isZero: Bool { raw.allSatisfy { $0 == 0 } }
}

extension [UInt8] {
    mutating func append(_ view: ByteView) { append(contentsOf: view.raw) }

    mutating func append(big number: Int, _ width: Int) {
        for shift in (0..<width).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }

    mutating func append(little number: Int, _ width: Int) {
        for shift in 0..<width { append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }
}
