/// A number that expires: a late event for a slot that was given to somebody else fails one comparison.
package struct SlotID<Kind>: Hashable, Sendable {
    package let index: Int32
    package let generation: UInt32

    @inlinable
    package init(index: Int32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    // Written out, as derived ones are not inlined across modules.
    @inlinable
    package static func == (a: SlotID, b: SlotID) -> Bool { a.index == b.index && a.generation == b.generation }

    @inlinable
    package func hash(into hasher: inout Hasher) { hasher.combine(packed) }

    /// Fits the 64 bits that epoll and timers carry.
    @inlinable
    package var packed: UInt64 { UInt64(UInt32(bitPattern: index)) << 32 | UInt64(generation) }

    @inlinable
    package init(packed: UInt64) {
        index = Int32(bitPattern: UInt32(packed >> 32))
        generation = UInt32(truncatingIfNeeded: packed)
    }
}

package enum ConnectionKind {}
/// Names one connection for its whole life; the slot is used again, the generation never.
package typealias ConnectionID = SlotID<ConnectionKind>
