import Bytes

/// Values by slot, with generations. Slots are reused, last freed first. It stands in this module so that the compiler
/// makes it for the types it holds: called across modules, each access would copy the whole value.
struct Slab<Kind, Element> {
    typealias ID = SlotID<Kind>
    private var elements: ContiguousArray<Element?> = []
    private var generations: ContiguousArray<UInt32> = []
    private var free: ContiguousArray<Int32> = []

    init() {}

    var count: Int { elements.count - free.count }

    /// Slots ever used: the bound for tables indexed by slot.
    var slots: Int { elements.count }

    mutating func insert(_ element: Element) -> ID {
        if let index = free.popLast() {
            elements[Int(index)] = element
            return ID(index: index, generation: generations[Int(index)])
        }
        elements.append(element)
        generations.append(1)
        return ID(index: Int32(elements.count - 1), generation: 1)
    }

    @discardableResult
    mutating func remove(_ id: ID) -> Element? {
        guard contains(id) else { return nil }
        let element = elements[Int(id.index)]
        elements[Int(id.index)] = nil
        generations[Int(id.index)] &+= 1
        free.append(id.index)
        return element
    }

    func contains(_ id: ID) -> Bool {
        let index = Int(id.index)
        return index >= 0 && index < elements.count && generations[index] == id.generation && elements[index] != nil
    }

    /// Traps when the id has expired: ask `contains` first wherever that can happen.
    subscript(id: ID) -> Element {
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
    func id(at index: Int) -> ID? {
        guard index < elements.count, elements[index] != nil else { return nil }
        return ID(index: Int32(index), generation: generations[index])
    }

    /// Every live id, by slot.
    var ids: [ID] { (0..<elements.count).compactMap { id(at: $0) } }
}
