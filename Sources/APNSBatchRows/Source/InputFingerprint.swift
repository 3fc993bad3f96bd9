import APNSBatchBasics

/// What tells inputs apart without their rows: checksums of their unpacked bytes.
package struct InputFingerprint: Sendable, Equatable {
    /// The greatest length of the beginning and of the end, in bytes.
    package static let edge = 64 << 10

    /// The number of bytes.
    package private(set) var bytes: UInt64 = 0
    /// Their CRC-32C.
    package private(set) var sum: UInt32 = 0
    /// The CRC-32C of the first ``edge`` bytes, or of all if they are fewer.
    package private(set) var headSum: UInt32 = 0
    /// Whether there are at most one line, such as a header row.
    package private(set) var isBare = true
    /// Whether the bytes are packed where they are stored.
    package var isPacked = false

    /// The fingerprint of an input without bytes.
    package init() {}

    /// The number of bytes that ``headSum`` is about.
    package var headBytes: UInt64 { min(bytes, UInt64(Self.edge)) }

    mutating func add(_ more: UnsafeRawBufferPointer) {
        let room = Self.edge - Int(clamping: headBytes)
        if isBare { unsafe noteLines(more) }
        if room > 0 { unsafe headSum = CRC32C.of(UnsafeRawBufferPointer(rebasing: more.prefix(room)), after: headSum) }
        sum = unsafe CRC32C.of(more, after: sum)
        bytes += UInt64(more.count)
    }

    /// Whether the bytes so far end with a line feed.
    private var endsLine = false

    private mutating func noteLines(_ more: UnsafeRawBufferPointer) {
        guard let last = unsafe more.last else { return }
        let hasInner = unsafe more[..<(more.count - 1)].contains(Byte.lineFeed)
        isBare = !endsLine && !hasInner
        endsLine = last == Byte.lineFeed
    }
}
