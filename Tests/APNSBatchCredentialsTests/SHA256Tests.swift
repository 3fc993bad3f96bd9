import APNSBatchCredentials
import Testing

@Suite struct SHA256Tests {
    /// Below, at and above the length of a block, 64 bytes, and of what fits into its last one.
    @Test(arguments: [0, 1, 31, 32, 55, 56, 63, 64, 65, 1_000])
    func `the first half of a digest is that of the whole one`(length: Int) throws {
        let bytes = try SecureRandom.bytes(length)
        let digest = try SHA256.digest(bytes)
        let (high, low) = bytes.withUnsafeBytes { SHA256.firstHalf(of: $0) }
        let half = [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
        #expect(half == Array(digest.prefix(16)))
    }
}
