/// How long answers take, in buckets a sixteenth of their value wide, so that what it costs does not depend on how many there
/// are. All of the first thousand answers go in, and of the others every sixteenth.
struct AnswerTimes: Equatable, Sendable {
    /// Answers by bucket.
    private var counts: [UInt32] = []
    private(set) var count: UInt64 = 0
    /// Microseconds, of all that went in.
    private(set) var longest: UInt32 = 0

    private static let bucketsPerOctave: UInt32 = 16
    private static let bucketCount = Int(bucket(of: .max)) + 1
    /// From then on a sample tells enough.
    static let samplesFrom: UInt64 = 1000

    /// Of answers, those for which the number of answers and this is 0.
    var sampleMask: UInt64 { count < Self.samplesFrom ? 0 : 15 }

    mutating func note(_ microseconds: UInt32) {
        if counts.isEmpty { counts = Array(repeating: 0, count: Self.bucketCount) }
        counts[Int(Self.bucket(of: microseconds))] &+= 1
        count += 1
        longest = max(longest, microseconds)
    }

    mutating func add(_ other: AnswerTimes) {
        guard !other.counts.isEmpty else { return }
        if counts.isEmpty { counts = Array(repeating: 0, count: Self.bucketCount) }
        for bucket in counts.indices { counts[bucket] &+= other.counts[bucket] }
        count += other.count
        longest = max(longest, other.longest)
    }

    /// So long at most took this share of the answers, in microseconds; nil without any.
    func quantile(_ share: Double) -> UInt32? {
        guard count > 0 else { return nil }
        let wanted = max(1, UInt64((share * Double(count)).rounded(.up)))
        var seen: UInt64 = 0
        for (bucket, number) in counts.enumerated() {
            seen += UInt64(number)
            if seen >= wanted { return min(longest, Self.end(of: UInt32(bucket))) }
        }
        return longest
    }

    /// Small values have a bucket each.
    private static func bucket(of value: UInt32) -> UInt32 {
        guard value >= bucketsPerOctave else { return value }
        let octave = UInt32(27 - value.leadingZeroBitCount)
        return octave * bucketsPerOctave + (value >> octave)
    }

    /// The largest value in a bucket.
    private static func end(of bucket: UInt32) -> UInt32 {
        guard bucket >= 2 * bucketsPerOctave else { return bucket }
        let octave = bucket / bucketsPerOctave - 1
        let first = UInt64(bucket - octave * bucketsPerOctave) << UInt64(octave)
        return UInt32(clamping: first + 1 << UInt64(octave) - 1)
    }
}
