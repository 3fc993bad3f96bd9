/// Walks the rows of one chunk after the other: a lane's own. Allocates nothing after it is made.
///
/// A row is found in blocks of 64 bytes. Whatever is not a plain good row is handed to the grammar, before anything was
/// unescaped.
package struct CSVRowCursor: ~Copyable {
    let grammar: CSVGrammar
    let columnCount: Int
    let fields: UnsafeMutablePointer<UnsafeRawBufferPointer>

    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private var ends: UnsafePointer<RecordEnd>
    private var rowCount = 0
    private var index = 0
    private var position = 0
    private var line: UInt64 = 0
    private var firstRow: UInt64 = 0
    /// Whether the whole chunk is known to be text.
    private var isText = true

    /// - Parameter columnCount: how many fields a good row has; at least 1.
    package init(columnCount: Int, dialect: CSVDialect = .comma, limits: CSVLimits = .standard) {
        self.init(columnCount: columnCount, grammar: CSVGrammar(dialect: dialect, limits: limits))
    }

    init(columnCount: Int, grammar: CSVGrammar) {
        precondition(columnCount > 0)
        self.grammar = grammar
        self.columnCount = columnCount
        fields = .allocate(capacity: columnCount)
        fields.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: columnCount)
        bytes = UnsafeMutablePointer(bitPattern: 64)!
        ends = UnsafePointer(bitPattern: 64)!
    }

    deinit {
        fields.deallocate()
    }

    /// Goes to the first row of a chunk, which must not be recycled before its last row is done with.
    package mutating func open(_ chunk: CSVChunk) {
        bytes = chunk.bytes
        ends = UnsafePointer(chunk.ends)
        rowCount = chunk.rowCount
        index = 0
        position = 0
        line = chunk.firstLine
        firstRow = chunk.firstRow
        isText = TextCheck.isText(bytes, count: chunk.byteCount)
    }

    /// The next row of the chunk, good or bad. False when there is none, and `row` is left alone.
    package mutating func next(into row: inout CSVRow) -> Bool {
        guard index < rowCount else { return false }
        let end = ends[index]
        let start = Self.recordStart(bytes, from: position)
        line &+= start.lines
        row.row = firstRow &+ UInt64(truncatingIfNeeded: index)
        row.line = line
        row.start = UnsafeRawPointer(bytes + start.offset)
        let record = Record(start: start.offset, content: contentEnd(start.offset, end.offset), end: end)
        index &+= 1
        position = end.offset
        let isUsual = !end.isCut && record.length <= grammar.fieldBytesMax
        if isUsual, isText || TextCheck.isText(bytes + record.start, count: record.length) {
            if let innerLines = parse(record) {
                line &+= 1 &+ innerLines
                row.fields = UnsafeBufferPointer(start: fields, count: columnCount)
                row.error = nil
                return true
            }
        }
        line &+= judge(record, into: &row)
        return true
    }

    /// A record's place in the chunk.
    struct Record {
        let start: Int
        /// Where its line end begins.
        let content: Int
        let end: RecordEnd

        @inline(__always)
        var length: Int {
            content &- start
        }
    }

    /// Skips blank lines in front of a record.
    @inline(__always)
    static func recordStart(_ bytes: UnsafePointer<UInt8>, from position: Int) -> (offset: Int, lines: UInt64) {
        var at = position
        var lines: UInt64 = 0
        while bytes[at] <= Byte.carriageReturn {
            if bytes[at] == Byte.lineFeed {
                at &+= 1
            } else if bytes[at] == Byte.carriageReturn, bytes[at &+ 1] == Byte.lineFeed {
                at &+= 2
            } else {
                break
            }
            lines &+= 1
        }
        return (at, lines)
    }

    /// `end` without LF or CR LF, or without the CR that the input ends with.
    @inline(__always)
    private func contentEnd(_ start: Int, _ end: Int) -> Int {
        var end = end
        if bytes[end &- 1] == Byte.lineFeed { end &-= 1 }
        if end > start, bytes[end &- 1] == Byte.carriageReturn { end &-= 1 }
        return end
    }
}

// The way of a good row.
extension CSVRowCursor {
    /// Fills `fields`, and returns how many line ends are inside its quotes. Nil, with nothing unescaped, if the record
    /// is not a good row or needs a closer look.
    @inline(__always)
    private mutating func parse(_ record: Record) -> UInt64? {
        var quotes = QuoteTracker()
        var found = 0
        var fieldStart = record.start
        var innerLines = 0
        var isQuoted = false
        var doubled: UInt64 = 0
        var at = record.start
        while at < record.content {
            let block = ByteBlock(bytes + at)
            let valid = ByteBlock.mask(first: record.content &- at)
            var delimiters = block.equal(to: grammar.delimiter) & valid
            let quoteBits = block.equal(to: Byte.quote) & valid
            if quoteBits != 0 || !quotes.isQuiet {
                let mayOpen = at == record.start || bytes[at &- 1] == grammar.delimiter
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

    @inline(__always)
    func setField(_ index: Int, _ start: Int, _ end: Int) {
        fields[index] = UnsafeRawBufferPointer(start: bytes + start, count: end &- start)
    }

    /// Takes the enclosing quotes off every quoted field.
    private func removeQuotes(isDoubled: Bool) {
        for index in 0..<columnCount {
            let field = fields[index]
            guard field.count > 1, field[0] == Byte.quote else { continue }
            let content = UnsafeRawBufferPointer(start: field.baseAddress! + 1, count: field.count &- 2)
            fields[index] = isDoubled ? Unescape.inPlace(content) : content
        }
    }
}
