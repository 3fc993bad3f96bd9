import CAPNSCommon

/// CRC-32C (Castagnoli; RFC 3720 appendix B.4).
package enum CRC32C {
    /// The checksum of some bytes.
    ///
    /// - Parameter before: the checksum of what stands before them.
    package static func of(_ bytes: UnsafeRawBufferPointer, after before: UInt32 = 0) -> UInt32 {
        unsafe apns_crc32c(before, bytes.baseAddress, bytes.count)
    }

    /// The checksum of two texts, one behind the other, from the checksums of both and the length of the second.
    package static func combine(_ first: UInt32, _ second: UInt32, length: UInt64) -> UInt32 {
        apns_crc32c_combine(first, second, length)
    }
}
