#if canImport(Glibc)
    private import Glibc
#endif

/// A growable byte buffer with one owner; empty it holds no memory.
package struct ByteBuffer: ~Copyable {
    @usableFromInline var memory: UnsafeMutableRawPointer?
    @usableFromInline var capacity: Int
    package private(set) var count: Int

    package init() {
        memory = nil
        capacity = 0
        count = 0
    }

    deinit { free(memory) }

    @inlinable
    package var isEmpty: Bool { count == 0 }

    /// Bytes allocated, for memory limits and metrics.
    package var allocated: Int { capacity }

    /// The contents; valid until the next mutation.
    package var view: ByteView {
        guard let memory else { return .empty }
        return ByteView(UnsafeRawBufferPointer(start: memory, count: count))
    }

    package func view(_ range: Range<Int>) -> ByteView { view[range] }

    package mutating func reserve(_ extra: Int) {
        let needed = count + extra
        if needed <= capacity { return }
        let size = max(needed, capacity * 2, 64)
        guard let grown = realloc(memory, size) else { preconditionFailure("out of memory") }
        memory = grown
        capacity = size
    }

    package mutating func append(_ view: ByteView) {
        if view.isEmpty { return }
        reserve(view.count)
        memcpy(memory! + count, view.base, view.count)
        count += view.count
    }

    package mutating func append(_ literal: StaticString) { append(ByteView(literal)) }

    package mutating func append(_ string: ByteString) { string.withView { append($0) } }

    package mutating func append(byte: UInt8) {
        if count == capacity { reserve(1) }
        memory!.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    package mutating func append(number: Int) {
        if number < 0 { append(byte: 0x2D) }
        var rest = number.magnitude
        var digits = 1
        var power: UInt = 10
        while rest >= power, digits < 20 {
            digits += 1
            let (next, over) = power.multipliedReportingOverflow(by: 10)
            if over { break }
            power = next
        }
        reserve(digits)
        var at = count + digits
        repeat {
            at -= 1
            memory!.storeBytes(of: UInt8(rest % 10) + 0x30, toByteOffset: at, as: UInt8.self)
            rest /= 10
        } while at > count
        count += digits
    }

    /// Room for `size` bytes at the end is given to `body`, which returns how many it wrote.
    package mutating func appendUnsafe(_ size: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) {
        reserve(size)
        let written = body(UnsafeMutableRawBufferPointer(start: memory! + count, count: size))
        precondition(written >= 0 && written <= size)
        count += written
    }

    /// Drops the first `n` bytes; an emptied buffer larger than `keeping` gives its memory back.
    package mutating func consume(_ n: Int, keeping: Int = 0) {
        precondition(n >= 0 && n <= count)
        let rest = count - n
        if rest == 0 {
            clear(keeping: keeping)
        } else if n > 0 {
            memmove(memory!, memory! + n, rest)
            count = rest
        }
    }

    /// Shortens to `length` bytes.
    package mutating func truncate(_ length: Int) {
        precondition(length >= 0 && length <= count)
        count = length
    }

    package mutating func clear(keeping: Int = .max) {
        count = 0
        if capacity > keeping {
            free(memory)
            memory = nil
            capacity = 0
        }
    }
}
