import Bytes

/// Values in one piece of memory, by slot. Who asks for one gets its place and no copy: with optionals in an array each
/// read of a field copied the whole value, with a retain for everything in it.
private struct Places<Element>: ~Copyable {
    private var memory: UnsafeMutablePointer<Element>?
    private var capacity = 0

    init() { memory = nil }

    /// Whoever owns this takes the values out first.
    deinit { memory?.deallocate() }

    /// Memory for the slots below `count`; values move, those of slots whose generation is live.
    mutating func reserve(_ count: Int, _ generations: ContiguousArray<UInt32>, isLive: (UInt32) -> Bool) {
        if count <= capacity { return }
        let size = max(count, capacity * 2, 16)
        let grown = UnsafeMutablePointer<Element>.allocate(capacity: size)
        if let memory {
            for index in generations.indices where isLive(generations[index]) {
                (grown + index).moveInitialize(from: memory + index, count: 1)
            }
            memory.deallocate()
        }
        memory = grown
        capacity = size
    }

    @inline(__always)
    func place(_ index: Int) -> UnsafeMutablePointer<Element> { memory.unsafelyUnwrapped + index }
}

/// Values by slot, with generations: odd ones are live. Slots are reused, last freed first.
///
/// It stands in this module so that the compiler makes it for the types it holds.
struct Slab<Kind, Element>: ~Copyable {
    typealias ID = SlotID<Kind>
    private var places = Places<Element>()
    private var generations: ContiguousArray<UInt32> = []
    private var free: ContiguousArray<Int32> = []

    init() {}

    deinit { for index in generations.indices where isLive(index) { places.place(index).deinitialize(count: 1) } }

    var count: Int { generations.count - free.count }

    /// Slots ever used: the bound for tables indexed by slot.
    var slots: Int { generations.count }

    mutating func insert(_ element: Element) -> ID {
        let index: Int
        if let reused = free.popLast() {
            index = Int(reused)
            generations[index] &+= 1
        } else {
            index = generations.count
            places.reserve(index + 1, generations) { $0 & 1 == 1 }
            generations.append(1)
        }
        places.place(index).initialize(to: element)
        return ID(index: Int32(index), generation: generations[index])
    }

    @discardableResult
    mutating func remove(_ id: ID) -> Element? {
        guard contains(id) else { return nil }
        generations[Int(id.index)] &+= 1
        free.append(id.index)
        return places.place(Int(id.index)).move()
    }

    func contains(_ id: ID) -> Bool {
        let index = Int(id.index)
        return index >= 0 && index < generations.count && generations[index] == id.generation && isLive(index)
    }

    private func isLive(_ index: Int) -> Bool { generations[index] & 1 == 1 }

    /// Traps when the id has expired: ask `contains` first wherever that can happen.
    subscript(id: ID) -> Element {
        @inline(__always) unsafeAddress { UnsafePointer(live(id)) }
        @inline(__always) unsafeMutableAddress { live(id) }
    }

    @inline(__always)
    private func live(_ id: ID) -> UnsafeMutablePointer<Element> {
        precondition(generations[Int(id.index)] == id.generation && id.generation & 1 == 1, "expired id")
        return places.place(Int(id.index))
    }

    /// The live id at a slot.
    func id(at index: Int) -> ID? {
        guard index < generations.count, isLive(index) else { return nil }
        return ID(index: Int32(index), generation: generations[index])
    }

    /// Every live id, by slot.
    var ids: [ID] { (0..<generations.count).compactMap { id(at: $0) } }
}

/// Values by the slot of an id that somebody else gives out; no generation is 0.
struct SlotTable<Kind, Element>: ~Copyable {
    typealias ID = SlotID<Kind>
    private var places = Places<Element>()
    /// 0: nothing is there.
    private var generations: ContiguousArray<UInt32> = []
    private(set) var count = 0

    init() {}

    deinit {
        for index in generations.indices where generations[index] != 0 { places.place(index).deinitialize(count: 1) }
    }

    func contains(_ id: ID) -> Bool {
        let index = Int(id.index)
        return index < generations.count && generations[index] == id.generation && id.generation != 0
    }

    mutating func insert(_ element: Element, at id: ID) {
        precondition(id.generation != 0, "no generation")
        let index = Int(id.index)
        places.reserve(index + 1, generations) { $0 != 0 }
        while generations.count <= index { generations.append(0) }
        if generations[index] != 0 {
            places.place(index).pointee = element
        } else {
            places.place(index).initialize(to: element)
            count += 1
        }
        generations[index] = id.generation
    }

    mutating func remove(_ id: ID) {
        guard contains(id) else { return }
        generations[Int(id.index)] = 0
        places.place(Int(id.index)).deinitialize(count: 1)
        count -= 1
    }

    /// Traps when the id has expired: ask `contains` first wherever that can happen.
    subscript(id: ID) -> Element {
        @inline(__always) unsafeAddress { UnsafePointer(live(id)) }
        @inline(__always) unsafeMutableAddress { live(id) }
    }

    @inline(__always)
    private func live(_ id: ID) -> UnsafeMutablePointer<Element> {
        precondition(generations[Int(id.index)] == id.generation && id.generation != 0, "expired id")
        return places.place(Int(id.index))
    }

    var ids: [ID] {
        generations.indices.compactMap { index in
            generations[index] == 0 ? nil : ID(index: Int32(index), generation: generations[index])
        }
    }
}
