/// The requests of a row, in 16 bits, as batches and the ledger hold them.
@usableFromInline package struct Attempts: Sendable, Equatable, ExpressibleByIntegerLiteral {
    @usableFromInline package var bits: UInt16
    /// The largest number of requests taken over from earlier sessions; it leaves room for those of this session.
    @inlinable package static var pastMax: UInt16 { 1 << 14 }
    @inlinable static var resentBit: UInt16 { 1 << 15 }

    @inlinable package init(bits: UInt16) { self.bits = bits }
    @inlinable package init(integerLiteral count: UInt16) { bits = count }

    /// The number of requests over all sessions, as far as it is known.
    @inlinable package var count: UInt16 { bits & ~Self.resentBit }

    /// Whether the row was sent again although an earlier request may have arrived, so that it may have arrived twice.
    @inlinable package var isResent: Bool {
        get { bits & Self.resentBit != 0 }
        set { bits = newValue ? bits | Self.resentBit : bits & ~Self.resentBit }
    }
}
