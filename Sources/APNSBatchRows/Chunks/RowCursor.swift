/// Walks the rows of one chunk after the other: a lane's own. Allocates nothing after it is made.
///
/// Whatever is not a plain good row is judged by the format's grammar, before anything was unescaped.
///
/// Unsafe for speed: no bounds are checked, blocks are loaded whole, and fields are written where the chunk has them. What
/// keeps it in bounds is the splitter's `RecordEnd`s, which lie in the chunk.
@safe package struct RowCursor: ~Copyable {
    let format: RowFormat
    let limits: RowLimits
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
    package init(columnCount: Int, format: RowFormat = .csv(.comma), limits: RowLimits = .standard) {
        precondition(columnCount > 0)
        self.format = format
        self.limits = limits
        self.columnCount = columnCount
        unsafe fields = .allocate(capacity: columnCount)
        unsafe fields.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: columnCount)
        unsafe bytes = UnsafeMutablePointer(bitPattern: 64)!
        unsafe ends = UnsafePointer(bitPattern: 64)!
    }

    deinit {
        unsafe fields.deallocate()
    }

    /// Goes to the first row of a chunk, which must not be recycled before its last row is done with.
    package mutating func open(_ chunk: RowChunk) {
        unsafe bytes = chunk.bytes
        unsafe ends = UnsafePointer(chunk.ends)
        rowCount = chunk.rowCount
        index = 0
        position = 0
        line = chunk.start.line
        firstRow = chunk.start.row
        isText = unsafe TextCheck.isText(bytes, count: chunk.byteCount)
    }

    /// The next row of the chunk, good or bad. False when there is none, and `row` is left alone.
    package mutating func next(into row: inout Row) -> Bool {
        guard index < rowCount else { return false }
        let end = unsafe ends[index]
        let start = unsafe Self.recordStart(bytes, from: position)
        line &+= start.lines
        row.row = firstRow &+ UInt64(truncatingIfNeeded: index)
        row.line = line
        unsafe row.start = UnsafeRawPointer(bytes + start.offset)
        let record = Record(start: start.offset, content: contentEnd(start.offset, end.offset), end: end)
        index &+= 1
        position = end.offset
        let isUsual = end.cut == 0 && record.length <= limits.fieldBytes
        if isUsual, unsafe isText || TextCheck.isText(bytes + record.start, count: record.length) {
            if let innerLines = parse(record) {
                line &+= 1 &+ innerLines
                unsafe row.fields = UnsafeBufferPointer(start: fields, count: columnCount)
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

    @inline(__always)
    func setField(_ index: Int, _ start: Int, _ end: Int) {
        unsafe fields[index] = UnsafeRawBufferPointer(start: bytes + start, count: end &- start)
    }

    /// Skips blank lines in front of a record.
    @inline(__always)
    static func recordStart(_ bytes: UnsafePointer<UInt8>, from position: Int) -> (offset: Int, lines: UInt64) {
        var at = position
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

    /// `end` without LF or CR LF, or without the CR that the input ends with.
    @inline(__always)
    private func contentEnd(_ start: Int, _ end: Int) -> Int {
        var end = end
        if unsafe bytes[end &- 1] == Byte.lineFeed { end &-= 1 }
        if end > start, unsafe bytes[end &- 1] == Byte.carriageReturn { end &-= 1 }
        return end
    }
}
