import APNSBatchBasics

/// What distinguishes inputs without their rows: checksums of their unpacked bytes.
package struct InputFingerprint: Sendable, Equatable {
    /// The greatest length of the beginning and of the end, in bytes.
    package static let edge = 64 << 10

    /// The number of bytes.
    package private(set) var bytes: UInt64 = 0
    /// Their CRC-32C.
    package private(set) var sum: UInt32 = 0
    /// The CRC-32C of the first ``edge`` bytes, or of all if they are fewer.
    package private(set) var headSum: UInt32 = 0
    /// Whether there is at most one line that is not blank, and that is no row of NDJSON: a header row.
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

    /// Whether a line that is not blank has begun, and whether one has ended.
    private var hasLine = false
    private var hasEndedLine = false

    private mutating func noteLines(_ more: UnsafeRawBufferPointer) {
        for index in more.indices {
            let byte = unsafe more[index]
            if byte == Byte.lineFeed || byte == Byte.carriageReturn {
                hasEndedLine = hasLine
                continue
            }
            // A line of NDJSON is a row.
            isBare = !hasEndedLine && (hasLine || byte != UInt8(ascii: "{"))
            hasLine = true
            if !isBare { return }
        }
    }
}
