import CAPNSCrypto

/// Random bytes from OpenSSL's generator.
package enum SecureRandom {
    package static func bytes(_ count: Int) throws(CredentialError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try unsafe CredentialError.check { record in
            unsafe bytes.withUnsafeMutableBufferPointer { unsafe apns_crypto_random($0.baseAddress, $0.count, record) }
        }
        return bytes
    }

    package static func number() throws(CredentialError) -> UInt64 {
        try bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
