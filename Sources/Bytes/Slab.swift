/// A number that expires: a late event for a slot that was given to somebody else fails one comparison.
package struct SlotID<Kind>: Hashable, Sendable {
    package let index: Int32
    package let generation: UInt32

    @inlinable
    package init(index: Int32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

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

/// Values by slot, with generations. Slots are reused, last freed first.
package struct Slab<Kind, Element> {
    package typealias ID = SlotID<Kind>
    @usableFromInline var elements: ContiguousArray<Element?> = []
    @usableFromInline var generations: ContiguousArray<UInt32> = []
    @usableFromInline var free: ContiguousArray<Int32> = []

    package init() {}

    package var count: Int { elements.count - free.count }

    /// Slots ever used: the bound for tables indexed by slot.
    package var slots: Int { elements.count }

    package mutating func insert(_ element: Element) -> ID {
        if let index = free.popLast() {
            elements[Int(index)] = element
            return ID(index: index, generation: generations[Int(index)])
        }
        elements.append(element)
        generations.append(1)
        return ID(index: Int32(elements.count - 1), generation: 1)
    }

    @discardableResult
    package mutating func remove(_ id: ID) -> Element? {
        guard contains(id) else { return nil }
        let element = elements[Int(id.index)]
        elements[Int(id.index)] = nil
        generations[Int(id.index)] &+= 1
        free.append(id.index)
        return element
    }

    @inlinable
    package func contains(_ id: ID) -> Bool {
        let index = Int(id.index)
        return index >= 0 && index < elements.count && generations[index] == id.generation && elements[index] != nil
    }

    /// Traps when the id has expired: ask `contains` first wherever that can happen.
    @inlinable
    package subscript(id: ID) -> Element {
        _read {
            precondition(generations[Int(id.index)] == id.generation, "expired id")
            yield elements[Int(id.index)]!
        }
        _modify {
            precondition(generations[Int(id.index)] == id.generation, "expired id")
            yield &elements[Int(id.index)]!
        }
    }

    /// The live id at a slot.
    package func id(at index: Int) -> ID? {
        guard index < elements.count, elements[index] != nil else { return nil }
        return ID(index: Int32(index), generation: generations[index])
    }

    /// Every live id, by slot.
    package var ids: [ID] { (0..<elements.count).compactMap { id(at: $0) } }
}
