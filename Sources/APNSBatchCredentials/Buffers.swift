// Bytes across the border to CAPNSCrypto: NULL, empty, owned.
import APNSBatchBasics
import CAPNSCrypto

extension Span<UInt8> {
    /// Lends address and length as CAPNSCrypto wants them: NULL stands for "none" there, so "empty" must not be NULL.
    package func lent<R>(_ body: (UnsafePointer<UInt8>, Int) -> R) -> R {
        unsafe withUnsafeBufferPointer { bytes in
            if let address = bytes.baseAddress { return unsafe body(address, bytes.count) }
            let nothing: UInt8 = 0
            return unsafe withUnsafePointer(to: nothing) { unsafe body($0, 0) }
        }
    }
}

/// Lends the passphrase's address and length, or NULL and 0.
func withPassphrase<R>(_ passphrase: [UInt8]?, _ body: (UnsafePointer<UInt8>?, Int) -> R) -> R {
    guard let passphrase else { return body(nil, 0) }
    return unsafe passphrase.span.lent { unsafe body($0, $1) }
}

/// Takes over what CAPNSCrypto wrote: copies it into an array, wipes and frees the original.
package func take(_ buffer: inout apns_crypto_buffer) -> [UInt8] {
    defer { unsafe apns_crypto_buffer_free(&buffer) }
    return unsafe Array(UnsafeBufferPointer(start: buffer.bytes, count: buffer.length))
}

/// The same for a secret.
func takeSecret(_ buffer: inout apns_crypto_buffer) -> SecretBytes {
    defer { unsafe apns_crypto_buffer_free(&buffer) }
    return unsafe SecretBytes(copying: UnsafeBufferPointer(start: buffer.bytes, count: buffer.length))
}
