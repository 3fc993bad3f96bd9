/// Scratch memory of a scanner: for each container that is open, whether it is an object. One bit each, so that the
/// deepest nesting a text of the given length can have fits.
///
/// Owned by whoever made it, freed by `deallocate`.
struct JSONNesting {
    private let words: UnsafeMutablePointer<UInt64>
    private let depthMaximum: Int

    /// - Parameter textMaximum: the longest text in bytes; an open container takes at least two of them, its end
    ///   included.
    init(textMaximum: Int) {
        depthMaximum = textMaximum / 2 + 1
        words = .allocate(capacity: depthMaximum / 64 + 1)
        words.initialize(repeating: 0, count: depthMaximum / 64 + 1)
    }

    func deallocate() {
        words.deallocate()
    }

    /// An address for a text of no bytes.
    var nothing: UnsafePointer<UInt8> {
        UnsafePointer(UnsafeRawPointer(words).assumingMemoryBound(to: UInt8.self))
    }

    /// Notes the kind of the container at `depth`. False when no text of the promised length could be closed from
    /// there.
    @inline(__always)
    func push(_ isObject: Bool, at depth: Int) -> Bool {
        guard depth < depthMaximum else { return false }
        let bit = UInt64(1) << UInt64(depth & 63)
        if isObject {
            words[depth >> 6] |= bit
        } else {
            words[depth >> 6] &= ~bit
        }
        return true
    }

    /// The kind noted by `push` at `depth`.
    @inline(__always)
    func isObject(at depth: Int) -> Bool {
        words[depth >> 6] >> UInt64(depth & 63) & 1 == 1
    }
}
