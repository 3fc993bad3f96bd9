// Bytes across the border to CAPNSCrypto: NULL, empty, owned.
import CAPNSCrypto

extension UnsafeBufferPointer<UInt8> {
    /// Calls `body` with the address CAPNSCrypto wants: NULL stands for "none" there, so "empty" must not be NULL.
    package func neverNull<R>(_ body: (UnsafePointer<UInt8>) throws -> R) rethrows -> R {
        if let address = baseAddress { return try body(address) }
        return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { empty in
            empty[0] = 0
            return try body(UnsafePointer(empty.baseAddress!))
        }
    }
}

/// Calls `body` with the passphrase's address and length, or with NULL and 0.
func withPassphrase<R>(_ passphrase: [UInt8]?, _ body: (UnsafePointer<UInt8>?, Int) -> R) -> R {
    guard let passphrase else { return body(nil, 0) }
    return passphrase.withUnsafeBufferPointer { bytes in
        bytes.neverNull { body($0, bytes.count) }
    }
}

/// Takes over what CAPNSCrypto wrote: copies it into an array, wipes and frees the original.
package func take(_ buffer: inout apns_crypto_buffer) -> [UInt8] {
    defer { apns_crypto_buffer_free(&buffer) }
    return Array(UnsafeBufferPointer(start: buffer.bytes, count: buffer.length))
}

extension [UInt8] {
    /// `withUnsafeBytes` for a body that throws typed errors.
    func withBytes<R>(
        _ body: (UnsafeRawBufferPointer) throws(CredentialError) -> R
    ) throws(CredentialError) -> R {
        try withUnsafeBytes { bytes in
            Result { () throws(CredentialError) in try body(bytes) }
        }.get()
    }
}
