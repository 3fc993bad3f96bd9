import Glibc

/// Bytes that are wiped when the last reference goes: a key, a passphrase, a token. Immutable.
@safe
package final class SecretBytes: Sendable {
    /// Never changed after init.
    nonisolated(unsafe) private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Copies the bytes.
    package init(copying bytes: some Collection<UInt8>) {
        unsafe storage = .allocate(capacity: bytes.count)
        _ = unsafe storage.initialize(fromContentsOf: bytes)
    }

    /// Copies the bytes and wipes the original, if it is not shared with another array.
    package convenience init(consuming bytes: inout [UInt8]) {
        self.init(copying: bytes)
        Self.wipe(&bytes)
        bytes = []
    }

    /// Takes over `count` bytes that `read` writes.
    ///
    /// - Parameter read: fills the room that it is given from its start and tells how many bytes of it are of use.
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

    /// Lends the bytes.
    package func withSpan<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe UnsafeBufferPointer(storage).span)
    }

    /// An array that nobody wipes: for a caller who is to have the secret.
    package var unwipedCopy: [UInt8] { unsafe Array(storage) }

    /// Overwrites the bytes in a way that the compiler does not remove.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
    }

    /// The same for an array, if its bytes are not shared with another.
    package static func wipe(_ bytes: inout [UInt8]) {
        unsafe bytes.withUnsafeMutableBytes { unsafe wipe($0) }
    }
}
