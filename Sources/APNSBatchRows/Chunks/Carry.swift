/// Bytes that were read with one chunk and belong to the next: the beginning of a record, usually.
///
/// They wait here, and not in the old chunk, because that may be in other hands by then.
final class Carry {
    private let bytes: UnsafeMutablePointer<UInt8>
    private var count = 0

    init(capacity: Int) {
        bytes = .allocate(capacity: capacity)
    }

    deinit {
        bytes.deallocate()
    }

    func load(_ source: UnsafePointer<UInt8>, count: Int) {
        bytes.update(from: source, count: count)
        self.count = count
    }

    func empty() { count = 0 }

    /// Moves the bytes to `target` and says how many they are.
    func unload(into target: UnsafeMutablePointer<UInt8>) -> Int {
        target.update(from: bytes, count: count)
        defer { count = 0 }
        return count
    }
}
