import CAPNSCommon

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4).
package enum CRC32C {
    /// Returns the checksum of some bytes.
    ///
    /// - Parameter before: The checksum of the bytes that precede them.
    package static func of(_ bytes: UnsafeRawBufferPointer, after before: UInt32 = 0) -> UInt32 {
        unsafe apns_crc32c(before, bytes.baseAddress, bytes.count)
    }

    /// Returns the checksum of two concatenated byte strings, given the checksums of both and the length of the second,
    /// in bytes.
    package static func combine(_ first: UInt32, _ second: UInt32, length: UInt64) -> UInt32 {
        apns_crc32c_combine(first, second, length)
    }
}
