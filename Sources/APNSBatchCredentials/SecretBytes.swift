import CAPNSCrypto

/// Bytes that are wiped when the last reference goes: a key file's content, a passphrase. Immutable.
package final class SecretBytes: Sendable {
    /// Never changed after init.
    nonisolated(unsafe) private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Copies the bytes.
    package init(copying bytes: UnsafeRawBufferPointer) {
        storage = .allocate(capacity: bytes.count)
        _ = storage.initialize(fromContentsOf: bytes)
    }

    /// Copies the bytes and wipes the original, if it is not shared with another array.
    package init(consuming bytes: inout [UInt8]) {
        storage = .allocate(capacity: bytes.count)
        _ = storage.initialize(fromContentsOf: bytes)
        bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) }
        bytes = []
    }

    deinit {
        SecretBytes.wipe(UnsafeMutableRawBufferPointer(storage))
        storage.deallocate()
    }

    package var count: Int { storage.count }

    /// Calls `body` with the bytes, valid until it returns.
    package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(storage))
    }

    /// Overwrites the bytes in a way that the compiler does not remove.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        apns_crypto_wipe(bytes.baseAddress, bytes.count)
    }
}
