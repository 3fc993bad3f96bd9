/// A fixed number of places for elements, filled from the first one on. An element stays at its address, and every index
/// is checked.
///
/// For what C points at, and for what lanes touch for every row: no growth, no reference counting, no check for sharing.
/// The element's type must not be private: Swift 6.3 fails to link the destruction of such a field from another file.
struct Slab<Element: ~Copyable>: ~Copyable {
    private let base: UnsafeMutablePointer<Element>
    let capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    var indices: Range<Int> { 0..<count }

    /// Traps when the slab is full.
    @inline(__always)
    mutating func append(_ element: consuming Element) {
        precondition(count < capacity, "the slab is full")
        (base + count).initialize(to: element)
        count += 1
    }

    mutating func removeAll() {
        base.deinitialize(count: count)
        count = 0
    }

    /// Where the next element will be.
    var end: UnsafeMutablePointer<Element> { base + count }

    /// Traps when there is no such element.
    @inline(__always)
    func address(of index: Int) -> UnsafeMutablePointer<Element> {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "no such element")
        return base + index
    }

    // Addressors, for an accessor that is a coroutine allocates and calls twice where it is not inlined, for every row.
    subscript(index: Int) -> Element {
        @inline(__always) unsafeAddress { UnsafePointer(address(of: index)) }
        @inline(__always) unsafeMutableAddress { address(of: index) }
    }
}

extension Slab {
    /// Valid until the slab changes.
    var elements: UnsafeBufferPointer<Element> { UnsafeBufferPointer(start: base, count: count) }
}
