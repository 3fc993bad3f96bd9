// Unusual rows: all bad rows, and good ones that are long. This code is slow and exact, and does not allocate either.
extension RowCursor {
    /// See `judge`.
    @inline(never)
    mutating func judgeCSV(_ record: Record, _ dialect: CSVDialect, into row: inout Row) -> UInt64 {
        let grammar = CSVGrammar(dialect: dialect, limits: limits)
        let walk = walk(record, grammar)
        let finding = notText(record, grammar) ?? faulty(record, walk) ?? ragged(record, walk)
        row.error = finding.map { error($0, record, line: row.line) }
        let lines = lineFeeds(record.start, record.end.offset).count
        // Unescaping comes after this, because lines and columns are counted in the original bytes.
        let complete = min(finding?.field ?? walk.found, walk.found, columnCount)
        for index in 0..<complete {
            unsafe fields[index] =
                dialect.escape == .backslash
                ? Unescape.backslashesInPlace(fields[index]) : Unescape.inPlace(fields[index])
        }
        unsafe row.fields = UnsafeBufferPointer(start: fields, count: complete)
        return lines
    }

    /// A fault whose offset is not yet converted to line and column.
    private struct Finding {
        let position: Int
        let field: Int
        let cause: RowError.Cause
    }

    /// The result of reading a record by the grammar.
    private struct Walk {
        /// The number of complete fields before the fault. Those that belong to a column are in `fields`, still escaped.
        var found = 0
        /// The offset of the field after the last column, if there is one.
        var surplus = 0
        var fault: CSVGrammar.Fault?
    }

    private func walk(_ record: Record, _ grammar: CSVGrammar) -> Walk {
        var walk = Walk()
        var at = record.start
        let bytes = unsafe UnsafeBufferPointer(start: bytes, count: record.end.offset)
        while true {
            switch unsafe grammar.field(bytes.span, at: at, record: record.start, final: true) {
            case .field(let field):
                if walk.found < columnCount { setField(walk.found, field.content.lowerBound, field.content.upperBound) }
                if walk.found == columnCount { walk.surplus = at }
                walk.found += 1
                if field.endsRecord { return walk }
                at = field.next
            case .fault(let fault):
                walk.fault = fault
                return walk
            case .needsMore:
                return walk
            }
        }
    }

    private func notText(_ record: Record, _ grammar: CSVGrammar) -> Finding? {
        guard record.length <= limits.recordBytes else { return nil }
        let content = unsafe UnsafeBufferPointer(start: bytes, count: record.content)
        guard let fault = unsafe TextCheck.firstFault(content.span, from: record.start, to: record.content) else {
            return nil
        }
        let cause = fault.isNUL ? RowError.Cause.nulByte : .invalidUTF8
        return Finding(position: fault.at, field: fieldIndex(of: fault.at, record, grammar), cause: cause)
    }

    /// Returns the index of the field that contains a byte.
    private func fieldIndex(of position: Int, _ record: Record, _ grammar: CSVGrammar) -> Int {
        var index = 0
        var at = record.start
        let bytes = unsafe UnsafeBufferPointer(start: bytes, count: record.end.offset)
        while case .field(let field) = unsafe grammar.field(bytes.span, at: at, record: record.start, final: true),
            field.next <= position
        {
            index += 1
            at = field.next
        }
        return min(index, columnCount)
    }

    private func faulty(_ record: Record, _ walk: Walk) -> Finding? {
        guard let fault = walk.fault else { return nil }
        // A record that was cut is open at its end, unless another fault of its own comes first.
        let isOpen = fault.cause == .unclosedQuote
        let cause = cause(of: isOpen ? .init(rawValue: record.end.cut) ?? fault.cause : fault.cause)
        return Finding(position: fault.position, field: min(walk.found, columnCount), cause: cause)
    }

    private func cause(of fault: CSVGrammar.Fault.Cause) -> RowError.Cause {
        switch fault {
        case .quoteInUnquotedField: .quoteInUnquotedField
        case .textAfterClosingQuote: .textAfterClosingQuote
        case .unclosedQuote: .unclosedQuote
        case .fieldTooLong: .fieldTooLong(limit: limits.fieldBytes)
        case .recordTooLong: .recordTooLong(limit: limits.recordBytes)
        case .unknownEscape: .unknownEscape
        case .escapedNUL: .nulByte
        case .backslashOutsideQuotes: .backslashOutsideQuotes
        }
    }

    private func ragged(_ record: Record, _ walk: Walk) -> Finding? {
        let (found, expected) = (walk.found, columnCount)
        if found < expected {
            let cause = RowError.Cause.tooFewFields(found: found, expected: expected)
            return Finding(position: record.content, field: found, cause: cause)
        }
        if found > expected {
            let cause = RowError.Cause.tooManyFields(found: found, expected: expected)
            return Finding(position: walk.surplus, field: expected, cause: cause)
        }
        return nil
    }

    private func error(_ finding: Finding, _ record: Record, line: UInt64) -> RowError {
        let before = lineFeeds(record.start, finding.position)
        let lineStart = before.last.map { $0 + 1 } ?? record.start
        return RowError(
            line: line &+ before.count, column: finding.position - lineStart + 1, field: finding.field,
            cause: finding.cause)
    }

    private func lineFeeds(_ start: Int, _ end: Int) -> (count: UInt64, last: Int?) {
        var (count, last) = (UInt64(0), Int?.none)
        for at in start..<end where unsafe bytes[at] == Byte.lineFeed {
            count &+= 1
            last = at
        }
        return (count, last)
    }
}
