import CAPNSCrypto

/// Random bytes from OpenSSL's generator.
package enum SecureRandom {
    /// `count` random bytes.
    package static func bytes(_ count: Int) throws(CredentialError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try CredentialError.check { record in
            bytes.withUnsafeMutableBufferPointer { apns_crypto_random($0.baseAddress, $0.count, record) }
        }
        return bytes
    }

    /// A random 64-bit number.
    package static func number() throws(CredentialError) -> UInt64 {
        var number: UInt64 = 0
        try CredentialError.check { record in
            withUnsafeMutableBytes(of: &number) { bytes in
                bytes.withMemoryRebound(to: UInt8.self) { apns_crypto_random($0.baseAddress, $0.count, record) }
            }
        }
        return number
    }
}
