#if canImport(Glibc)
    private import Glibc
#endif

/// Owned, immutable, shared bytes; equality and hashing are byte by byte (never Unicode-canonical).
///
/// Literals and interpolations make one: `"\(nick) \(channel) :No such nick"`. Interpolated strings, views, numbers and
/// static strings are appended as they are.
package struct ByteString: Hashable, Sendable {
    @usableFromInline var storage: [UInt8]

    @inlinable
    package init() { storage = [] }

    @inlinable
    package init(_ bytes: [UInt8]) { storage = bytes }

    @inlinable
    package init(_ view: ByteView) { storage = [UInt8](view.raw) }

    package init(_ string: String) { storage = [UInt8](string.utf8) }

    @inlinable
    package var count: Int { storage.count }

    @inlinable
    package var isEmpty: Bool { storage.isEmpty }

    @inlinable
    package var bytes: [UInt8] { storage }

    @inlinable
    package subscript(index: Int) -> UInt8 { storage[index] }

    @inlinable
    package func withView<R>(_ body: (ByteView) throws -> R) rethrows -> R {
        try storage.withUnsafeBytes { try body(ByteView($0)) }
    }

    package func equals(_ view: ByteView) -> Bool { withView { $0 == view } }

    /// The part in `range`, copied.
    package subscript(range: Range<Int>) -> ByteString { ByteString([UInt8](storage[range])) }

    /// For logs, files and tests.
    package var string: String { String(decoding: storage, as: UTF8.self) }
}

extension ByteString: ExpressibleByStringInterpolation {
    package init(stringLiteral value: StaticString) { self.init(ByteView(value)) }

    package init(stringInterpolation: Interpolation) { storage = stringInterpolation.bytes }

    package struct Interpolation: StringInterpolationProtocol {
        package typealias StringLiteralType = StaticString
        var bytes: [UInt8] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        package mutating func appendLiteral(_ literal: StaticString) { bytes.append(contentsOf: ByteView(literal).raw) }

        package mutating func appendInterpolation(_ string: ByteString) { bytes.append(contentsOf: string.storage) }

        package mutating func appendInterpolation(_ view: ByteView) { bytes.append(contentsOf: view.raw) }

        package mutating func appendInterpolation(_ literal: StaticString) { appendLiteral(literal) }

        package mutating func appendInterpolation(_ string: String) { bytes.append(contentsOf: string.utf8) }

        package mutating func appendInterpolation(_ number: some BinaryInteger) {
            bytes.append(contentsOf: String(number).utf8)
        }

        package mutating func appendInterpolation(byte: UInt8) { bytes.append(byte) }
    }
}

/// A Swift string interpolation that slips in between still gives the text and not the struct.
extension ByteString: CustomStringConvertible {
    package var description: String { string }
}

/// The bytes are compared in a time that depends on the lengths alone: for tokens, MACs and passwords.
package func constantTimeEquals(_ a: ByteView, _ b: ByteView) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for i in 0..<a.count { difference |= a[i] ^ b[i] }
    return difference == 0
}
