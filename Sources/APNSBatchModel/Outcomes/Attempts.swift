/// The encoding of a row's requests in 16 bits: their number over all sessions, as far as it is known, and whether one was
/// sent when an earlier one may have arrived.
@usableFromInline package enum Attempts {
    /// The bit that says that the row was sent again although an earlier request may have arrived, so that it may have
    /// arrived twice.
    @inlinable package static var resentBit: UInt16 { 1 << 15 }
    /// The largest number of requests taken over from earlier sessions; it leaves room for those of this session.
    @inlinable package static var pastMax: UInt16 { 1 << 14 }

    @inlinable package static func count(_ attempts: UInt16) -> UInt16 { attempts & ~resentBit }
}
