import APNSBatchBasics

/// The `date` field of answers (RFC 9110, section 5.6.7), formatted at most once a second.
@safe struct DateField: ~Copyable {
    static let length = 29
    private let text = UnsafeMutablePointer<UInt8>.allocate(capacity: length)
    private var second = Int64.min

    deinit {
        unsafe text.deallocate()
    }

    /// Returns the date of a time in milliseconds since the epoch. The bytes are valid until a call in another second.
    mutating func bytes(_ milliseconds: Int64) -> Bytes {
        // The remainder of a negative time is negative.
        let now = milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0)
        if now != second {
            second = now
            for (place, byte) in HTTPDate.text(now).utf8.prefix(Self.length).enumerated() { unsafe text[place] = byte }
        }
        return unsafe Bytes(start: text, count: Self.length)
    }
}
