import CAPNSCommon

/// Base64 (RFC 4648): with the standard alphabet and padding (section 4), or for URLs and without padding (section 5,
/// as used in RFC 7515).
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: apns_base64_length(bytes.count)) { text, count in
            count = apns_base64_length(bytes.count)
            if let start = text.baseAddress { unsafe apns_base64_encode(bytes, bytes.count, start) }
        }
    }

    /// Returns the decoded bytes, or nil for texts that are not canonical: with blanks, without padding, or with
    /// nonzero bits after the last byte.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 1) { bytes, initialized in
            count = unsafe apns_base64_decode(text, text.count, false, bytes.baseAddress, bytes.count)
            initialized = max(count, 0)
        }
        return count < 0 ? nil : bytes
    }

    /// Encodes for URLs. Uses only the array that is returned, so that the caller can wipe the text.
    package static func encodeURL(_ bytes: [UInt8]) -> [UInt8] {
        var text = encode(bytes)
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "+"): text[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): text[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return text
    }

    /// Decodes text for URLs; returns nil for texts that are not canonical.
    package static func decodeURL(_ text: some Collection<UInt8>) -> [UInt8]? {
        var standard: [UInt8] = []
        standard.reserveCapacity(text.count + 3)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: standard.append(byte)
            }
        }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        return decode(standard)
    }
}
