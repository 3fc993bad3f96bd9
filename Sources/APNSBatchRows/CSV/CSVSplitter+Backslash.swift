// Dialects whose escapes are backslashes: what is read as such, and what only may be one.
extension CSVSplitter {
    /// Splits records by the grammar alone, byte by byte: a quote after a backslash does not count, and this cannot be found in blocks.
    mutating func runByGrammar() {
        while result.records < capacity {
            skipBlankLines()
            guard result.consumed < count, examine() else { return }
        }
    }

    private mutating func skipBlankLines() {
        while result.consumed < count, let next = blankLine(at: result.consumed) {
            result.consumed = next
            result.lines += 1
        }
    }

    /// Returns the offset after a blank line; nil if there is none, or if more bytes must be known.
    private func blankLine(at start: Int) -> Int? {
        if unsafe bytes[start] == Byte.lineFeed { return start + 1 }
        guard unsafe bytes[start] == Byte.carriageReturn else { return nil }
        guard start + 1 < count else { return final ? count : nil }
        return unsafe bytes[start + 1] == Byte.lineFeed ? start + 2 : nil
    }

    mutating func stop(_ dispute: QuotingDispute) -> Bool {
        result.dispute = dispute
        return false
    }

    /// A backslash that is text by RFC 4180, and after which the end of the field, or of the line, may be text, too.
    func dispute(_ field: CSVGrammar.Field) -> QuotingDispute? {
        guard grammar.escape == .recognised, let last = field.content.last else { return nil }
        let endsWithBackslash = unsafe bytes[last] == Byte.backslash
        guard field.isQuoted else {
            // Nothing follows a backslash at the end of the input.
            guard endsWithBackslash, field.endsRecord, field.next > field.content.upperBound else { return nil }
            return QuotingDispute(doubt: .lineEnd, offset: last)
        }
        let place = endsWithBackslash ? last : escapedLineEnd(in: field.content)
        return place.map { QuotingDispute(doubt: .escapes, offset: $0) }
    }

    /// Returns the offset of the first backslash before a line end.
    private func escapedLineEnd(in content: Range<Int>) -> Int? {
        content.first { at in
            guard unsafe bytes[at] == Byte.backslash, at + 1 < content.upperBound else { return false }
            if unsafe bytes[at + 1] == Byte.lineFeed { return true }
            return unsafe at + 2 < content.upperBound && bytes[at + 1] == Byte.carriageReturn
                && bytes[at + 2] == Byte.lineFeed
        }
    }

    /// A record by RFC 4180 that may be another one with backslashes as escapes.
    func dispute(record: Int, end: Int) -> QuotingDispute? {
        guard grammar.escape == .recognised else { return nil }
        let buffer = unsafe UnsafeBufferPointer(start: bytes, count: count)
        return unsafe EscapedQuotes.first(buffer.span, record: record, end: end, delimiter: grammar.delimiter)
            .map { QuotingDispute(doubt: .escapes, offset: $0) }
    }

    /// A record with a fault: up to the fault, or the end of its first line, it may be one with backslashes as escapes; or, where these
    /// are given, a line that ends with one may not be its end.
    ///
    /// - Parameter line: the offset of the first LF; nil if there is none.
    func dispute(faulty record: Int, _ fault: CSVGrammar.Fault, line: Int?) -> QuotingDispute? {
        if grammar.escape == .backslash {
            guard fault.cause == .backslashOutsideQuotes else { return nil }
            return QuotingDispute(doubt: .lineEnd, offset: fault.position)
        }
        guard let end = line ?? (final ? count : nil), end - record < grammar.recordBytesMax + 2 else { return nil }
        return dispute(record: record, end: max(end, min(fault.seenAt + 1, count)))
    }
}
