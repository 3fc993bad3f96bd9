/// A fixed number of slots for elements, filled from the first one on. Elements keep their addresses, and every index is
/// checked.
///
/// For memory that C points to, and for what lanes access for every row: it does not grow, counts no references, and needs
/// no check for uniqueness. The type of the elements must not be private: Swift 6.3 fails to link the destruction of such a
/// field from another file.
@safe struct Slab<Element: ~Copyable>: ~Copyable {
    private let base: UnsafeMutablePointer<Element>
    let capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        unsafe base = .allocate(capacity: capacity)
    }

    deinit {
        unsafe base.deinitialize(count: count)
        unsafe base.deallocate()
    }

    var indices: Range<Int> { 0..<count }

    /// Appends an element. Traps when the slab is full.
    @inline(__always)
    mutating func append(_ element: consuming Element) {
        precondition(count < capacity, "the slab is full")
        unsafe (base + count).initialize(to: element)
        count += 1
    }

    mutating func removeAll() {
        unsafe base.deinitialize(count: count)
        count = 0
    }

    /// The address of the next element to be appended.
    var end: UnsafeMutablePointer<Element> { unsafe base + count }

    /// Returns the address of an element. Traps if there is no such element.
    @inline(__always)
    func address(of index: Int) -> UnsafeMutablePointer<Element> {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "no such element")
        return unsafe base + index
    }

    // Addressors, because an accessor that is a coroutine allocates and calls twice for every row where it is not inlined.
    subscript(index: Int) -> Element {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(address(of: index)) }
        @inline(__always) unsafeMutableAddress { unsafe address(of: index) }
    }
}

extension Slab {
    /// The elements; valid until the slab changes.
    var elements: UnsafeBufferPointer<Element> { unsafe UnsafeBufferPointer(start: base, count: count) }
}
