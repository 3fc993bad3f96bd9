// Passing bytes to and from CAPNSCrypto.
import APNSBatchBasics
import CAPNSCrypto

extension Span<UInt8> {
    /// Calls `body` with address and length. The address of an empty span is not NULL, because CAPNSCrypto takes NULL
    /// for "none".
    package func lent<R>(_ body: (UnsafePointer<UInt8>, Int) -> R) -> R {
        unsafe withUnsafeBufferPointer { bytes in
            if let address = bytes.baseAddress { return unsafe body(address, bytes.count) }
            let nothing: UInt8 = 0
            return unsafe withUnsafePointer(to: nothing) { unsafe body($0, 0) }
        }
    }
}

/// Calls `body` with the address and length of the passphrase, or NULL and 0.
func withPassphrase<R>(_ passphrase: [UInt8]?, _ body: (UnsafePointer<UInt8>?, Int) -> R) -> R {
    guard let passphrase else { return body(nil, 0) }
    return unsafe passphrase.span.lent { unsafe body($0, $1) }
}

/// Copies a buffer of CAPNSCrypto into an array, and wipes and frees the buffer.
package func take(_ buffer: inout apns_crypto_buffer) -> [UInt8] {
    defer { unsafe apns_crypto_buffer_free(&buffer) }
    return unsafe Array(UnsafeBufferPointer(start: buffer.bytes, count: buffer.length))
}

/// Copies a buffer with a secret, and wipes and frees the buffer.
func takeSecret(_ buffer: inout apns_crypto_buffer) -> SecretBytes {
    defer { unsafe apns_crypto_buffer_free(&buffer) }
    return unsafe SecretBytes(copying: UnsafeBufferPointer(start: buffer.bytes, count: buffer.length))
}
