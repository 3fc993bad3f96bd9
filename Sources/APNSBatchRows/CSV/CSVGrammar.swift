/// The grammar of CSV, applied one field at a time and byte by byte: RFC 4180 with the reader's limits.
///
///     record = field *( delimiter field ) end
///     field  = *( any byte but the delimiter, a quote or an end )
///            / quote *( any byte but a quote / quote quote ) quote
///     end    = LF / CR LF / end of the input / CR end of the input
///
/// With backslashes as escapes, a quoted field also has these pairs of bytes, and no other backslash:
///
///     pair   = backslash ( quote / backslash / LF / CR LF )
///
/// and an unquoted field may be `\N`, which is NULL, or have backslash and quote. That is what Spark, MySQL and pandas write and all
/// read alike. Outside of quotes they do not agree about other backslashes: Spark means text, and the others escape.
///
/// A CR elsewhere is an ordinary byte. The splitter and the cursor process most bytes in blocks, and use the grammar for
/// everything unusual, so that only this code decides what is wrong with a record.
struct CSVGrammar {
    let delimiter: UInt8
    let fieldBytesMax: Int
    let recordBytesMax: Int
    let escape: CSVDialect.Escape
    /// Whether only the ends of records are needed: a backslash that programs read differently is no fault then, if they agree where the
    /// record ends.
    let findsEndsOnly: Bool

    init(dialect: CSVDialect, limits: RowLimits, findsEndsOnly: Bool = false) {
        (delimiter, escape) = (dialect.delimiter, dialect.escape)
        self.findsEndsOnly = findsEndsOnly
        fieldBytesMax = limits.fieldBytes
        recordBytesMax = limits.recordBytes
    }

    enum Step {
        case field(Field)
        /// The bytes end before the field does.
        case needsMore
        case fault(Fault)
    }

    struct Field {
        /// The offset of the field, including its opening quote.
        let start: Int
        /// The bytes between the quotes, or the whole field if it is not quoted.
        let content: Range<Int>
        var isQuoted: Bool { content.lowerBound > start }
        /// The offset of the next field or record.
        let next: Int
        let endsRecord: Bool
    }

    struct Fault {
        /// Raw values are those of `RecordEnd.cut`.
        enum Cause: UInt32 {
            case quoteInUnquotedField = 1
            case textAfterClosingQuote, unclosedQuote, fieldTooLong, recordTooLong, unknownEscape, escapedNUL
            case backslashOutsideQuotes
        }

        let cause: Cause
        /// The offset to report.
        let position: Int
        /// The offset of the byte at which the fault was found.
        let seenAt: Int
    }

    /// Reads the field at `start` of the record that begins at `record`.
    ///
    /// - Parameters:
    ///   - final: whether the input, or the record, ends with the bytes. Otherwise the result may be `needsMore`, but not
    ///     if the bytes contain at least `recordBytesMax + 2` bytes of the record.
    func field(_ bytes: Span<UInt8>, at start: Int, record: Int, final: Bool) -> Step {
        start < bytes.count && bytes[start] == Byte.quote
            ? quoted(bytes, start, record, final) : unquoted(bytes, start, record, final)
    }

    /// The line end, if any, at a byte.
    enum LineEnd {
        case none
        /// A line end, and the offset of the next record.
        case at(next: Int)
        /// The last byte available is a CR.
        case undecided
    }

    func lineEnd(_ bytes: Span<UInt8>, at: Int, _ final: Bool) -> LineEnd {
        guard at < bytes.count else { return final ? .at(next: at) : .undecided }
        if bytes[at] == Byte.lineFeed { return .at(next: at + 1) }
        guard bytes[at] == Byte.carriageReturn else { return .none }
        guard at + 1 < bytes.count else { return final ? .at(next: at + 1) : .undecided }
        return bytes[at + 1] == Byte.lineFeed ? .at(next: at + 2) : .none
    }

    private func unquoted(_ bytes: Span<UInt8>, _ start: Int, _ record: Int, _ final: Bool) -> Step {
        var at = start
        while true {
            switch lineEnd(bytes, at: at, final) {
            case .at(let next): return end(start, content: start..<at, next: next, endsRecord: true)
            case .undecided: return .needsMore
            case .none: break
            }
            let byte = bytes[at]
            if byte == Byte.quote { return fault(.quoteInUnquotedField, at) }
            if byte != delimiter, at - start >= fieldBytesMax { return fault(.fieldTooLong, start, at) }
            if at - record >= recordBytesMax { return fault(.recordTooLong, record, at) }
            if byte == delimiter { return end(start, content: start..<at, next: at + 1, endsRecord: false) }
            guard byte == Byte.backslash, escape == .backslash else {
                at += 1
                continue
            }
            if isNull(bytes, at: at, start), at + 1 - record >= recordBytesMax {
                return fault(.recordTooLong, record, at + 1)
            }
            switch unquotedPair(bytes, at: at, start, final) {
            case .pair(let width): at += width
            case .needsMore: return .needsMore
            case .fault(let cause): return fault(cause, at)
            }
            if at - 1 - start >= fieldBytesMax { return fault(.fieldTooLong, start, at - 1) }
            if at - 1 - record >= recordBytesMax { return fault(.recordTooLong, record, at - 1) }
        }
    }

    private func quoted(_ bytes: Span<UInt8>, _ start: Int, _ record: Int, _ final: Bool) -> Step {
        if start - record >= recordBytesMax { return fault(.recordTooLong, record, start) }
        let content = start + 1
        var at = content
        while at < bytes.count {
            let isQuote = bytes[at] == Byte.quote
            var isPair = false
            if bytes[at] == Byte.backslash, escape == .backslash, at - record < recordBytesMax {
                switch quotedPair(bytes, at: at, final) {
                case .pair: isPair = true
                case .needsMore: return .needsMore
                // A field that is too long is that before anything else.
                case .fault(let cause) where at - content < fieldBytesMax:
                    return fault(cause, cause == .unclosedQuote ? start : at, at)
                case .fault: break
                }
            }
            let isLast = at + 1 == bytes.count
            if isQuote, isLast, !final { return .needsMore }
            let isDoubled = isQuote && !isLast && bytes[at + 1] == Byte.quote
            let last = isDoubled || isPair ? at + 1 : at
            if !isQuote || isDoubled, last - content >= fieldBytesMax { return fault(.fieldTooLong, start, last) }
            if last - record >= recordBytesMax { return fault(.recordTooLong, record, last) }
            if isQuote, !isDoubled { return closed(bytes, start, at: at, record, final) }
            at = last + 1
        }
        return final ? fault(.unclosedQuote, start, bytes.count) : .needsMore
    }

    /// Reads what follows the closing quote at `quote`.
    private func closed(_ bytes: Span<UInt8>, _ start: Int, at quote: Int, _ record: Int, _ final: Bool) -> Step {
        let content = (start + 1)..<quote
        let at = quote + 1
        switch lineEnd(bytes, at: at, final) {
        case .at(let next): return end(start, content: content, next: next, endsRecord: true)
        case .undecided: return .needsMore
        case .none: break
        }
        guard bytes[at] == delimiter else { return fault(.textAfterClosingQuote, at) }
        if at - record >= recordBytesMax { return fault(.recordTooLong, record, at) }
        return end(start, content: content, next: at + 1, endsRecord: false)
    }

    private func end(_ start: Int, content: Range<Int>, next: Int, endsRecord: Bool) -> Step {
        .field(Field(start: start, content: content, next: next, endsRecord: endsRecord))
    }

    private func fault(_ cause: Fault.Cause, _ position: Int, _ seenAt: Int? = nil) -> Step {
        .fault(Fault(cause: cause, position: position, seenAt: seenAt ?? position))
    }
}
