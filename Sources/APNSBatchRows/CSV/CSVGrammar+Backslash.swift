// What a backslash and the byte after it are, where backslashes are escapes.
extension CSVGrammar {
    enum Pair {
        /// This many bytes; the first is the backslash.
        case pair(width: Int)
        /// The bytes end before this is known.
        case needsMore
        case fault(Fault.Cause)
    }

    /// The pair at a backslash inside quotes.
    func quotedPair(_ bytes: Span<UInt8>, at: Int, _ final: Bool) -> Pair {
        let pair = agreedPair(bytes, at: at, final)
        guard findsEndsOnly, case .fault(let cause) = pair, cause != .unclosedQuote else { return pair }
        return .pair(width: 2)
    }

    /// The pair at a backslash of the unquoted field that begins at `start`.
    func unquotedPair(_ bytes: Span<UInt8>, at: Int, _ start: Int, _ final: Bool) -> Pair {
        let pair = agreedPair(bytes, at: at, outside: start, final)
        guard findsEndsOnly, case .fault = pair else { return pair }
        guard at + 1 < bytes.count else { return .pair(width: 1) }
        if bytes[at + 1] == Byte.backslash { return .pair(width: 2) }
        switch lineEnd(bytes, at: at + 1, final) {
        case .none: return .pair(width: 1)
        case .undecided: return .needsMore
        case .at: return pair
        }
    }

    private func agreedPair(_ bytes: Span<UInt8>, at: Int, _ final: Bool) -> Pair {
        guard at + 1 < bytes.count else { return final ? .fault(.unclosedQuote) : .needsMore }
        switch bytes[at + 1] {
        case Byte.quote, Byte.backslash, Byte.lineFeed: return .pair(width: 2)
        case UInt8(ascii: "0"): return .fault(.escapedNUL)
        case Byte.carriageReturn:
            guard at + 2 < bytes.count else { return final ? .fault(.unknownEscape) : .needsMore }
            return bytes[at + 2] == Byte.lineFeed ? .pair(width: 2) : .fault(.unknownEscape)
        default: return .fault(.unknownEscape)
        }
    }

    /// Whether the unquoted field that begins at `start` begins with `\N`.
    func isNull(_ bytes: Span<UInt8>, at: Int, _ start: Int) -> Bool {
        at == start && at + 1 < bytes.count && bytes[at + 1] == UInt8(ascii: "N")
    }

    private func agreedPair(_ bytes: Span<UInt8>, at: Int, outside start: Int, _ final: Bool) -> Pair {
        guard at + 1 < bytes.count else { return final ? .fault(.backslashOutsideQuotes) : .needsMore }
        if bytes[at + 1] == Byte.quote { return .pair(width: 2) }
        guard isNull(bytes, at: at, start) else { return .fault(.backslashOutsideQuotes) }
        switch lineEnd(bytes, at: at + 2, final) {
        case .at: return .pair(width: 2)
        case .undecided: return .needsMore
        case .none: return bytes[at + 2] == delimiter ? .pair(width: 2) : .fault(.backslashOutsideQuotes)
        }
    }
}
