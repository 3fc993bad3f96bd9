/// Follows quotes through blocks by their parity: a quoted field opens at every odd quote and closes at every even one,
/// a doubled quote closes and opens again. That is exact as long as each opening quote stands where a field may begin
/// and each closing one where a field may end; `step` says where this fails first.
struct QuoteTracker {
    /// All ones while a quoted field is open at the start of the block.
    private(set) var open: UInt64 = 0
    /// 1 if the byte before the block is a closing quote.
    private(set) var closed: UInt64 = 0

    struct Step {
        /// Opening quotes and what follows them up to their closing quotes.
        let quoted: UInt64
        /// Quotes that double the one before.
        let doubled: UInt64
        /// Opening quotes at the wrong place, and bytes after a closing quote that are none of `breaks`. Only the
        /// lowest bit means what it says.
        let odd: UInt64
    }

    /// Whether a block without quotes is just a block.
    @inline(__always)
    var isQuiet: Bool {
        open | closed == 0
    }

    /// - Parameters:
    ///   - quotes: the quotes of the block.
    ///   - breaks: what may stand before an opening and after a closing quote, quoted or not.
    ///   - mayOpen: 1 if the first byte may open a quoted field, because a break or nothing precedes it. Only looked
    ///     at when no field is open.
    @inline(__always)
    mutating func step(quotes: UInt64, breaks: UInt64, mayOpen: UInt64) -> Step {
        let quoted = runningParity(quotes) ^ open
        let opening = quotes & quoted
        let closing = quotes & ~quoted
        let outside = breaks & ~quoted
        let afterClosing = closing &<< 1 | closed
        let afterBreak = outside &<< 1 | mayOpen
        let odd = opening & ~(afterBreak | afterClosing) | afterClosing & ~(outside | opening)
        open = 0 &- (quoted &>> 63)
        closed = closing &>> 63
        return Step(quoted: quoted, doubled: opening & afterClosing, odd: odd)
    }
}
