/// The grammar, one field at a time and byte by byte: RFC 4180 with the reader's limits.
///
///     record = field *( delimiter field ) end
///     field  = *( any byte but the delimiter, a quote or an end )
///            / quote *( any byte but a quote / quote quote ) quote
///     end    = LF / CR LF / end of the input / CR end of the input
///
/// A CR elsewhere is an ordinary byte. The splitter and the cursor find most of this out in blocks, and both come here
/// for everything unusual, so that there is one place where a record is judged.
struct CSVGrammar {
    let delimiter: UInt8
    let fieldBytesMax: Int
    let recordBytesMax: Int

    init(dialect: CSVDialect, limits: RowLimits) {
        delimiter = dialect.delimiter
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
        /// Where the field begins, with its opening quote.
        let start: Int
        /// What is between the quotes, or the whole field.
        let content: Range<Int>
        /// Where the next field or record begins.
        let next: Int
        let endsRecord: Bool
    }

    struct Fault {
        /// Numbered for `RecordEnd.cut`.
        enum Cause: UInt32 {
            case quoteInUnquotedField = 1
            case textAfterClosingQuote, unclosedQuote, fieldTooLong, recordTooLong
        }

        let cause: Cause
        /// The place to show.
        let position: Int
        /// The byte that gave it away.
        let seenAt: Int
    }

    /// Reads the field at `start` of the record at `record`.
    ///
    /// - Parameters:
    ///   - final: whether the input, or the record, ends with the bytes. Otherwise `needsMore` asks for more, which never
    ///     happens when there are `recordBytesMax + 2` bytes of the record.
    func field(_ bytes: Span<UInt8>, at start: Int, record: Int, final: Bool) -> Step {
        start < bytes.count && bytes[start] == Byte.quote
            ? quoted(bytes, start, record, final) : unquoted(bytes, start, record, final)
    }

    /// What ends a record at some byte.
    private enum LineEnd {
        case none
        /// Where the next record begins.
        case at(next: Int)
        /// A CR is the last byte that there is.
        case undecided
    }

    private func lineEnd(_ bytes: Span<UInt8>, at: Int, _ final: Bool) -> LineEnd {
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
            at += 1
        }
    }

    private func quoted(_ bytes: Span<UInt8>, _ start: Int, _ record: Int, _ final: Bool) -> Step {
        if start - record >= recordBytesMax { return fault(.recordTooLong, record, start) }
        let content = start + 1
        var at = content
        while at < bytes.count {
            let isQuote = bytes[at] == Byte.quote
            let isLast = at + 1 == bytes.count
            if isQuote, isLast, !final { return .needsMore }
            let isDoubled = isQuote && !isLast && bytes[at + 1] == Byte.quote
            let last = isDoubled ? at + 1 : at
            if !isQuote || isDoubled, last - content >= fieldBytesMax { return fault(.fieldTooLong, start, last) }
            if last - record >= recordBytesMax { return fault(.recordTooLong, record, last) }
            if isQuote, !isDoubled { return closed(bytes, start, at: at, record, final) }
            at = last + 1
        }
        return final ? fault(.unclosedQuote, start, bytes.count) : .needsMore
    }

    /// After the closing quote at `quote`.
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
