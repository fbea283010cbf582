#if canImport(Glibc)
    private import Glibc
#endif

/// Bytes that somebody else owns, valid for the duration of the call they are passed to.
///
/// Every access is bounds-checked, also in release builds: foreign bytes decide the offsets.
package struct ByteView: CustomStringConvertible {
    @usableFromInline let base: UnsafeRawPointer
    package let count: Int

    @inlinable
    package init(_ bytes: UnsafeRawBufferPointer) {
        base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
        count = bytes.count
    }

    @inlinable
    init(base: UnsafeRawPointer, count: Int) {
        self.base = base
        self.count = count
    }

    /// A literal's bytes live as long as the process.
    @inlinable
    package init(_ literal: StaticString) {
        precondition(literal.hasPointerRepresentation)
        base = UnsafeRawPointer(literal.utf8Start)
        count = literal.utf8CodeUnitCount
    }

    @inlinable
    package static var empty: ByteView { ByteView("") }

    @inlinable
    package var isEmpty: Bool { count == 0 }

    @inlinable
    package var raw: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    @inlinable @inline(__always)
    package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "byte out of bounds")
        return base.load(fromByteOffset: index, as: UInt8.self)
    }

    @inlinable
    package subscript(range: Range<Int>) -> ByteView {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range out of bounds")
        return ByteView(base: base + range.lowerBound, count: range.count)
    }

    @inlinable
    package func dropFirst(_ n: Int = 1) -> ByteView { self[min(n, count)..<count] }

    @inlinable
    package func prefix(_ n: Int) -> ByteView { self[0..<min(n, count)] }

    @inlinable
    package var first: UInt8? { count > 0 ? self[0] : nil }

    @inlinable
    package var last: UInt8? { count > 0 ? self[count - 1] : nil }

    /// The offset of the first `byte` at or after `start`, by `memchr`.
    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start < count else { return nil }
        precondition(start >= 0)
        guard let hit = memchr(base + start, Int32(byte), count - start) else { return nil }
        return UnsafeRawPointer(hit) - base
    }

    @inlinable
    package func contains(_ byte: UInt8) -> Bool { firstIndex(of: byte) != nil }

    package static func == (a: ByteView, b: ByteView) -> Bool {
        a.count == b.count && memcmp(a.base, b.base, a.count) == 0
    }

    package static func != (a: ByteView, b: ByteView) -> Bool { !(a == b) }

    package static func == (a: ByteView, b: StaticString) -> Bool { a == ByteView(b) }

    package static func != (a: ByteView, b: StaticString) -> Bool { !(a == ByteView(b)) }

    package func hasPrefix(_ other: ByteView) -> Bool {
        count >= other.count && memcmp(base, other.base, other.count) == 0
    }

    package func hasPrefix(_ other: StaticString) -> Bool { hasPrefix(ByteView(other)) }

    /// ASCII case is ignored; every other byte must be the same.
    package func equalsIgnoringCase(_ other: ByteView) -> Bool {
        guard count == other.count else { return false }
        for i in 0..<count where ASCII.lower(self[i]) != ASCII.lower(other[i]) { return false }
        return true
    }

    package func equalsIgnoringCase(_ other: StaticString) -> Bool { equalsIgnoringCase(ByteView(other)) }

    /// The decimal number these bytes spell, digits only; nil when empty, not a number or over `limit`.
    package func decimal(limit: Int = Int(Int32.max)) -> Int? {
        guard count > 0, count <= 19 else { return nil }
        var value = 0
        for i in 0..<count {
            let digit = self[i]
            guard ASCII.isDigit(digit) else { return nil }
            let (times, over) = value.multipliedReportingOverflow(by: 10)
            let (sum, over2) = times.addingReportingOverflow(Int(digit - 0x30))
            if over || over2 { return nil }
            value = sum
        }
        return value <= limit ? value : nil
    }

    /// Calls `body` for each part between `separator`s; empty parts are passed too.
    @inlinable
    package func split(_ separator: UInt8, _ body: (ByteView) -> Void) {
        var start = 0
        while let end = firstIndex(of: separator, from: start) {
            body(self[start..<end])
            start = end + 1
        }
        body(self[start..<count])
    }

    /// The parts between `separator`s, empty ones left out.
    package func parts(_ separator: UInt8) -> [ByteView] {
        var parts: [ByteView] = []
        split(separator) { if !$0.isEmpty { parts.append($0) } }
        return parts
    }

    /// Spaces (0x20) at both ends left out.
    package var trimmed: ByteView {
        var lower = 0
        var upper = count
        while lower < upper, self[lower] == 0x20 { lower += 1 }
        while upper > lower, self[upper - 1] == 0x20 { upper -= 1 }
        return self[lower..<upper]
    }

    /// For logs and tests only, never on the way of a message.
    package var description: String { String(decoding: raw, as: UTF8.self) }
}
