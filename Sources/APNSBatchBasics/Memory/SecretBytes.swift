import Glibc

/// Immutable bytes that are wiped when the last reference is released: a key, a passphrase or a token.
@safe
package final class SecretBytes: Sendable {
    /// Not modified after init.
    nonisolated(unsafe) private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Creates a copy of the bytes.
    package init(copying bytes: some Collection<UInt8>) {
        unsafe storage = .allocate(capacity: bytes.count)
        _ = unsafe storage.initialize(fromContentsOf: bytes)
    }

    /// Creates a copy of the bytes and wipes the original, unless another array shares its storage.
    package convenience init(consuming bytes: inout [UInt8]) {
        self.init(copying: bytes)
        Self.wipe(&bytes)
        bytes = []
    }

    /// Creates the bytes that `read` writes.
    ///
    /// - Parameter read: Fills the buffer from its start, and returns the number of bytes that it has written.
    package init<E: Error>(
        capacity: Int, _ read: (UnsafeMutableRawBufferPointer) throws(E) -> Int
    ) throws(E) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
        defer {
            unsafe Self.wipe(room)
            unsafe room.deallocate()
        }
        let bytes = try unsafe UnsafeRawBufferPointer(rebasing: room[..<read(room)])
        unsafe storage = .allocate(capacity: bytes.count)
        _ = unsafe storage.initialize(fromContentsOf: bytes)
    }

    deinit {
        unsafe Self.wipe(UnsafeMutableRawBufferPointer(storage))
        unsafe storage.deallocate()
    }

    package var count: Int { unsafe storage.count }

    /// Calls `body` with the bytes.
    package func withSpan<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe UnsafeBufferPointer(storage).span)
    }

    package func hasSameBytes(as other: SecretBytes) -> Bool { unsafe storage.elementsEqual(other.storage) }

    /// A copy of the bytes in an array, which is not wiped.
    package var unwipedCopy: [UInt8] { unsafe Array(storage) }

    /// Overwrites bytes in a way that the compiler does not remove.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
    }

    /// Overwrites the bytes of an array, unless another array shares its storage.
    package static func wipe(_ bytes: inout [UInt8]) {
        unsafe bytes.withUnsafeMutableBytes { unsafe wipe($0) }
    }
}
