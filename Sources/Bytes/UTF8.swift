/// Strict UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF (RFC 3629).
package enum UTF8Check {
    package static func isValid(_ view: ByteView) -> Bool {
        var index = 0
        while true {
            index = endOfASCII(view, from: index)
            repeat {
                if index == view.count { return true }
                guard scalar(view, at: &index) != nil else { return false }
            } while index < view.count && view[index] >= 0x80
        }
    }

    /// The scalar that starts at `index`, which moves behind it; nil, and `index` unmoved, where none does.
    @inline(__always)
    package static func scalar(_ view: ByteView, at index: inout Int) -> UInt32? {
        let lead = view[index]
        let left = view.count - index
        switch lead {
        case 0..<0x80:
            index += 1
            return UInt32(lead)
        case 0xC2..<0xE0:
            guard left >= 2, isContinuation(view[index + 1]) else { return nil }
            let value = UInt32(lead & 0x1F) << 6 | six(view[index + 1])
            index += 2
            return value
        case 0xE0..<0xF0:
            guard left >= 3, isContinuation(view[index + 1]), isContinuation(view[index + 2]) else { return nil }
            let value = UInt32(lead & 0x0F) << 12 | six(view[index + 1]) << 6 | six(view[index + 2])
            guard value >= 0x800, value & 0xF800 != 0xD800 else { return nil }
            index += 3
            return value
        case 0xF0..<0xF5:
            guard left >= 4, isContinuation(view[index + 1]), isContinuation(view[index + 2]),
                isContinuation(view[index + 3])
            else { return nil }
            let high = UInt32(lead & 0x07) << 18 | six(view[index + 1]) << 12
            let value = high | six(view[index + 2]) << 6 | six(view[index + 3])
            guard value >= 0x10000, value <= 0x10FFFF else { return nil }
            index += 4
            return value
        default:
            return nil
        }
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
    package static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    @inline(__always)
    private static func six(_ byte: UInt8) -> UInt32 { UInt32(byte & 0x3F) }

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
