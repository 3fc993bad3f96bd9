// Good rows, whose fields are found in blocks of 64 bytes.
extension RowCursor {
    /// See `parse`.
    @inline(__always)
    mutating func parseCSV(_ record: Record, delimiter: UInt8) -> UInt64? {
        var quotes = QuoteTracker()
        var found = 0
        var fieldStart = record.start
        var innerLines = 0
        var isQuoted = false
        var doubled: UInt64 = 0
        var at = record.start
        while at < record.content {
            let block = unsafe ByteBlock(bytes + at)
            let valid = ByteBlock.mask(first: record.content &- at)
            var delimiters = block.equal(to: delimiter) & valid
            let quoteBits = block.equal(to: Byte.quote) & valid
            if quoteBits != 0 || !quotes.isQuiet {
                let mayOpen = unsafe at == record.start || bytes[at &- 1] == delimiter
                let step = quotes.step(quotes: quoteBits, breaks: delimiters, mayOpen: mayOpen ? 1 : 0)
                if step.odd & valid != 0 { return nil }
                delimiters &= ~step.quoted
                doubled |= step.doubled
                isQuoted = true
                let newlines = block.equal(to: Byte.lineFeed) & step.quoted & valid
                if newlines != 0 { innerLines &+= newlines.nonzeroBitCount }
            }
            while delimiters != 0 {
                let end = at &+ delimiters.trailingZeroBitCount
                delimiters &= delimiters &- 1
                if found &+ 1 >= columnCount { return nil }
                setField(found, fieldStart, end)
                found &+= 1
                fieldStart = end &+ 1
            }
            at &+= 64
        }
        guard quotes.open == 0, found &+ 1 == columnCount else { return nil }
        setField(found, fieldStart, record.content)
        if isQuoted { removeQuotes(isDoubled: doubled != 0) }
        return UInt64(truncatingIfNeeded: innerLines)
    }

    /// Removes the enclosing quotes of every quoted field.
    private func removeQuotes(isDoubled: Bool) {
        for index in 0..<columnCount {
            let field = unsafe fields[index]
            guard field.count > 1, unsafe field[0] == Byte.quote else { continue }
            let content = unsafe UnsafeRawBufferPointer(start: field.baseAddress! + 1, count: field.count &- 2)
            unsafe fields[index] = isDoubled ? Unescape.inPlace(content) : content
        }
    }
}
