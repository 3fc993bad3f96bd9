/// How the requests for a row are counted, in 16 bits: their number over all sessions, as far as it is known, and whether
/// one was sent when an earlier one may have arrived.
@usableFromInline package enum Attempts {
    /// The row was sent again although an earlier request may have arrived: it may have arrived twice.
    @inlinable package static var resentBit: UInt16 { 1 << 15 }
    /// Of earlier sessions: leaves room for those of this one.
    @inlinable package static var pastMax: UInt16 { 1 << 14 }

    @inlinable package static func count(_ attempts: UInt16) -> UInt16 { attempts & ~resentBit }
    static func isResent(_ attempts: UInt16) -> Bool { attempts & resentBit != 0 }
}
