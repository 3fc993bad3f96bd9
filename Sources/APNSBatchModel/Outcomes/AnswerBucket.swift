/// The buckets in which answers are counted by their time: those of HdrHistogram with two significant digits. Each time below
/// 256 µs has a bucket of its own; above, each power of two is divided into 128 buckets of equal width.
@usableFromInline package enum AnswerBucket {
    /// The number of buckets for all times of 32 bits.
    package static let count = 3328

    /// Returns the index of the bucket of a time in microseconds. Takes a few instructions, because it is called for each
    /// answer.
    @inlinable @inline(__always)
    package static func index(of microseconds: UInt32) -> Int {
        let shift = 24 &- (microseconds | 255).leadingZeroBitCount
        return shift &<< 7 &+ Int(microseconds &>> UInt32(truncatingIfNeeded: shift))
    }

    /// Returns the longest time of a bucket, in microseconds.
    package static func longestTime(at index: Int) -> UInt32 {
        guard index >= 256 else { return UInt32(index) }
        let parts = UInt64(index & 127) + 128
        return UInt32((parts + 1) << UInt64(index >> 7 - 1) - 1)
    }
}
