/// Parses the rows of one chunk after the other. Each lane has its own cursor. It allocates nothing after its creation.
///
/// Records that are not plain good rows are parsed by the format's grammar, before anything is unescaped.
///
/// It is unsafe for speed: there are no bounds checks, blocks are loaded whole, and fields are unescaped in the chunk. It
/// stays within bounds because the `RecordEnd`s of the splitter do.
@safe package struct RowCursor: ~Copyable {
    let format: RowFormat
    let limits: RowLimits
    let columnCount: Int
    let fields: UnsafeMutablePointer<UnsafeRawBufferPointer>
    /// The columns whose fields follow the others: each is the same as that of the column with this index.
    private let copies: UnsafeMutableBufferPointer<Int>
    private let hasCopies: Bool

    // Of NDJSON.
    var members: JSONMembers
    let states: UnsafeMutablePointer<JSONFieldState>
    /// Whether a string of the current row has escapes.
    var hasEscapes = false

    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private var ends: UnsafePointer<RecordEnd>
    private var rowCount = 0
    private var index = 0
    private var offset = 0
    private var line: UInt64 = 0
    private var firstRow: UInt64 = 0
    /// Whether the whole chunk is known to be text.
    private var isText = true

    /// - Parameters:
    ///   - columnCount: the number of fields in a good row; at least 1.
    ///   - members: the columns by the keys that lead to them, for a format whose rows have these; no path is the beginning of
    ///     another one.
    ///   - copies: for each further field of a row, the index of the column whose field it is.
    package init(
        columnCount: Int, format: RowFormat = .csv(.comma), members: [(index: Int, path: [String])] = [],
        copies: [Int] = [], limits: RowLimits = .standard
    ) {
        precondition(columnCount > 0)
        self.format = format
        self.limits = limits
        self.columnCount = columnCount
        let fieldCount = columnCount + copies.count
        unsafe fields = .allocate(capacity: fieldCount)
        unsafe fields.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: fieldCount)
        unsafe self.copies = .allocate(capacity: copies.count)
        _ = unsafe self.copies.initialize(fromContentsOf: copies)
        hasCopies = !copies.isEmpty
        self.members = JSONMembers(columns: format == .ndjson ? members : [])
        unsafe states = .allocate(capacity: columnCount)
        unsafe states.initialize(repeating: .absent, count: columnCount)
        unsafe bytes = UnsafeMutablePointer(bitPattern: 64)!
        unsafe ends = UnsafePointer(bitPattern: 64)!
    }

    deinit {
        unsafe fields.deallocate()
        unsafe states.deallocate()
        unsafe copies.deallocate()
        members.deallocate()
    }

    /// Moves to the first row of a chunk, which must not be recycled before its rows are processed.
    package mutating func open(_ chunk: RowChunk) {
        unsafe bytes = chunk.bytes
        unsafe ends = UnsafePointer(chunk.ends)
        rowCount = chunk.rowCount
        index = 0
        offset = 0
        line = chunk.start.line
        firstRow = chunk.start.row
        isText = unsafe TextCheck.isText(bytes, count: chunk.byteCount)
    }

    /// Reads the next row of the chunk, good or bad. Returns false, without changing `row`, if there is none.
    package mutating func next(into row: inout Row) -> Bool {
        guard index < rowCount else { return false }
        let end = unsafe ends[index]
        let start = unsafe Self.recordStart(bytes, from: offset)
        line &+= start.lines
        row.row = firstRow &+ UInt64(truncatingIfNeeded: index)
        row.line = line
        unsafe row.start = UnsafeRawPointer(bytes + start.offset)
        row.format = format
        let record = Record(start: start.offset, content: contentEnd(start.offset, end.offset), end: end)
        index &+= 1
        offset = end.offset
        let isUsual = end.cut == 0 && record.length <= limits.fieldBytes
        if isUsual, unsafe isText || TextCheck.isText(bytes + record.start, count: record.length) {
            if let innerLines = parse(record) {
                line &+= 1 &+ innerLines
                unsafe row.fields = UnsafeBufferPointer(start: fields, count: columnCount)
                row.error = nil
                if hasCopies { copyFields(&row) }
                return true
            }
        }
        line &+= judge(record, into: &row)
        if hasCopies, unsafe row.fields.count == columnCount { copyFields(&row) }
        return true
    }

    /// Adds the further fields to a row.
    @inline(never)
    private func copyFields(_ row: inout Row) {
        for index in unsafe 0..<copies.count {
            unsafe fields[columnCount &+ index] = unsafe fields[copies[index]]
        }
        unsafe row.fields = UnsafeBufferPointer(start: fields, count: columnCount &+ copies.count)
    }

    /// The offsets of a record in the chunk.
    struct Record {
        let start: Int
        /// The offset of its line end.
        let content: Int
        let end: RecordEnd

        @inline(__always)
        var length: Int {
            content &- start
        }
    }

    @inline(__always)
    func setField(_ index: Int, _ start: Int, _ end: Int) {
        unsafe fields[index] = UnsafeRawBufferPointer(start: bytes + start, count: end &- start)
    }

    /// Returns the offset of the next record and the number of blank lines before it.
    @inline(__always)
    static func recordStart(_ bytes: UnsafePointer<UInt8>, from start: Int) -> (offset: Int, lines: UInt64) {
        var at = start
        var lines: UInt64 = 0
        while unsafe bytes[at] <= Byte.carriageReturn {
            if unsafe bytes[at] == Byte.lineFeed {
                at &+= 1
            } else if unsafe bytes[at] == Byte.carriageReturn, unsafe bytes[at &+ 1] == Byte.lineFeed {
                at &+= 2
            } else {
                break
            }
            lines &+= 1
        }
        return (at, lines)
    }

    /// Returns `end` without LF or CR LF, or without a CR at the end of the input.
    @inline(__always)
    private func contentEnd(_ start: Int, _ end: Int) -> Int {
        var end = end
        if unsafe bytes[end &- 1] == Byte.lineFeed { end &-= 1 }
        if end > start, unsafe bytes[end &- 1] == Byte.carriageReturn { end &-= 1 }
        return end
    }
}
