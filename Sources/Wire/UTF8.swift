package import Bytes

/// Strict UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF (RFC 3629).
package enum UTF8Check {
    package static func isValid(_ view: ByteView) -> Bool {
        var index = 0
        while true {
            index = endOfASCII(view, from: index)
            if index == view.count { return true }
            guard scalar(view, at: &index) != nil else { return false }
        }
    }

    /// The scalar that starts at `index`, which moves behind it; nil, and `index` unmoved, where none does.
    package static func scalar(_ view: ByteView, at index: inout Int) -> UInt32? {
        let lead = view[index]
        let length: Int
        var value: UInt32
        let minimum: UInt32
        switch lead {
        case 0..<0x80: (length, value, minimum) = (1, UInt32(lead), 0)
        case 0xC2..<0xE0: (length, value, minimum) = (2, UInt32(lead & 0x1F), 0x80)
        case 0xE0..<0xF0: (length, value, minimum) = (3, UInt32(lead & 0x0F), 0x800)
        case 0xF0..<0xF5: (length, value, minimum) = (4, UInt32(lead & 0x07), 0x10000)
        default: return nil
        }
        guard view.count - index >= length else { return nil }
        for i in 1..<length {
            let next = view[index + i]
            guard isContinuation(next) else { return nil }
            value = value << 6 | UInt32(next & 0x3F)
        }
        guard value >= minimum, value <= 0x10FFFF, value & 0xFFFF_F800 != 0xD800 else { return nil }
        index += length
        return value
    }

    /// The largest length up to `n` that cuts no scalar apart.
    package static func scalarBoundary(_ view: ByteView, atMost n: Int) -> Int {
        if n >= view.count { return view.count }
        if n <= 0 { return 0 }
        var at = n
        while at > 0, n - at < 4, isContinuation(view[at]) { at -= 1 }
        // Four continuation bytes in a row are no text: there is nothing to spare.
        return isContinuation(view[at]) ? n : at
    }

    @inline(__always)
    static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    private static func endOfASCII(_ view: ByteView, from start: Int) -> Int {
        var index = start
        let raw = view.raw
        while view.count - index >= 8 {
            let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let high = word & 0x8080_8080_8080_8080
            if high != 0 { return index + UInt64(littleEndian: high).trailingZeroBitCount / 8 }
            index += 8
        }
        while index < view.count, view[index] < 0x80 { index += 1 }
        return index
    }
}
