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
    ///   - end: the end of the bytes.
    ///   - final: whether the input, or the record, ends there. Otherwise `needsMore` asks for more, which never
    ///     happens when there are `recordBytesMax + 2` bytes of the record.
    func field(_ bytes: UnsafePointer<UInt8>, at start: Int, record: Int, end: Int, final: Bool) -> Step {
        let view = View(bytes: bytes, start: start, record: record, end: end, final: final)
        return start < end && bytes[start] == Byte.quote ? quoted(view) : unquoted(view)
    }

    private struct View {
        let bytes: UnsafePointer<UInt8>
        let start: Int
        let record: Int
        let end: Int
        let final: Bool
    }

    /// What ends a record at some byte.
    private enum LineEnd {
        case none
        /// Where the next record begins.
        case at(next: Int)
        /// A CR is the last byte that there is.
        case undecided
    }

    private func lineEnd(_ view: View, at: Int) -> LineEnd {
        guard at < view.end else { return view.final ? .at(next: view.end) : .undecided }
        if view.bytes[at] == Byte.lineFeed { return .at(next: at + 1) }
        guard view.bytes[at] == Byte.carriageReturn else { return .none }
        guard at + 1 < view.end else { return view.final ? .at(next: view.end) : .undecided }
        return view.bytes[at + 1] == Byte.lineFeed ? .at(next: at + 2) : .none
    }

    private func unquoted(_ view: View) -> Step {
        var at = view.start
        while true {
            switch lineEnd(view, at: at) {
            case .at(let next): return end(view, content: view.start..<at, next: next, endsRecord: true)
            case .undecided: return .needsMore
            case .none: break
            }
            let byte = view.bytes[at]
            if byte == Byte.quote { return fault(.quoteInUnquotedField, at) }
            if byte != delimiter, at - view.start >= fieldBytesMax { return fault(.fieldTooLong, view.start, at) }
            if at - view.record >= recordBytesMax { return fault(.recordTooLong, view.record, at) }
            if byte == delimiter { return end(view, content: view.start..<at, next: at + 1, endsRecord: false) }
            at += 1
        }
    }

    private func quoted(_ view: View) -> Step {
        if view.start - view.record >= recordBytesMax { return fault(.recordTooLong, view.record, view.start) }
        let content = view.start + 1
        var at = content
        while at < view.end {
            let isQuote = view.bytes[at] == Byte.quote
            let isLast = at + 1 == view.end
            if isQuote, isLast, !view.final { return .needsMore }
            let isDoubled = isQuote && !isLast && view.bytes[at + 1] == Byte.quote
            let last = isDoubled ? at + 1 : at
            if !isQuote || isDoubled, last - content >= fieldBytesMax {
                return fault(.fieldTooLong, view.start, last)
            }
            if last - view.record >= recordBytesMax { return fault(.recordTooLong, view.record, last) }
            if isQuote, !isDoubled { return closed(view, at: at) }
            at = last + 1
        }
        return view.final ? fault(.unclosedQuote, view.start, view.end) : .needsMore
    }

    /// After the closing quote at `quote`.
    private func closed(_ view: View, at quote: Int) -> Step {
        let content = (view.start + 1)..<quote
        let at = quote + 1
        switch lineEnd(view, at: at) {
        case .at(let next): return end(view, content: content, next: next, endsRecord: true)
        case .undecided: return .needsMore
        case .none: break
        }
        guard view.bytes[at] == delimiter else { return fault(.textAfterClosingQuote, at) }
        if at - view.record >= recordBytesMax { return fault(.recordTooLong, view.record, at) }
        return end(view, content: content, next: at + 1, endsRecord: false)
    }

    private func end(_ view: View, content: Range<Int>, next: Int, endsRecord: Bool) -> Step {
        .field(Field(start: view.start, content: content, next: next, endsRecord: endsRecord))
    }

    private func fault(_ cause: Fault.Cause, _ position: Int, _ seenAt: Int? = nil) -> Step {
        .fault(Fault(cause: cause, position: position, seenAt: seenAt ?? position))
    }
}
