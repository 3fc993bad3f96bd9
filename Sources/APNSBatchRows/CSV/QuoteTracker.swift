/// Tracks quoted fields through blocks by the parity of quotes: every odd quote opens a quoted field and every even one
/// closes it, so a doubled quote closes and opens it again. This is exact as long as each opening quote is where a field
/// may begin, and each closing quote where a field may end; `step` reports the first place where this is not the case.
struct QuoteTracker {
    /// All ones if a quoted field is open at the start of the block, else 0.
    private(set) var open: UInt64 = 0
    /// 1 if the byte before the block is a closing quote, else 0.
    private(set) var closed: UInt64 = 0

    struct Step {
        /// The bytes from opening quotes up to, but not including, their closing quotes.
        let quoted: UInt64
        /// Quotes that double the quote before them.
        let doubled: UInt64
        /// Opening quotes in wrong places, and bytes after a closing quote that are not in `breaks`. Only the lowest bit is
        /// reliable.
        let odd: UInt64
    }

    /// Whether a block without quotes needs no call of `step`.
    @inline(__always)
    var isQuiet: Bool {
        open | closed == 0
    }

    /// - Parameters:
    ///   - quotes: the quotes of the block.
    ///   - breaks: the bytes that may precede an opening quote and follow a closing one, including quoted ones.
    ///   - mayOpen: 1 if the first byte may open a quoted field, because it follows a break or is the first of all. It is
    ///     only used if no field is open.
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
