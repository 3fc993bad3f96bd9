import CCrypto

/// Base64 with the standard alphabet and padding (RFC 4648 section 4).
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.isEmpty { return [] }
        return [UInt8](unsafeUninitializedCapacity: apns_crypto_base64_length(bytes.count)) { text, count in
            count = apns_crypto_base64_length(bytes.count)
            if let target = text.baseAddress, count > 0 { apns_crypto_base64_encode(bytes, bytes.count, target) }
        }
    }

    /// Nil for anything that is not the one text of a value: blanks, missing padding, bits behind the last byte.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        var count = 0
        var status: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 1) { bytes, initialized in
            status = apns_crypto_base64_read(text, text.count, bytes.baseAddress, bytes.count, &count)
            initialized = count
        }
        return status == 0 ? bytes : nil
    }
}
