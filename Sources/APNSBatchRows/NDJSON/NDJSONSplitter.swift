/// Finds the ends of records that take one line each, in an input in which every LF ends a record.
///
/// It is unsafe for speed: blocks are loaded whole, up to `ByteBlock.slack` past the end of the buffer, which no span allows.
@safe struct NDJSONSplitter {
    let bytes: UnsafePointer<UInt8>
    let count: Int
    let final: Bool
    let ends: UnsafeMutablePointer<RecordEnd>
    let capacity: Int
    let recordBytesMax: Int

    private(set) var result = SplitResult()

    init(
        bytes: UnsafePointer<UInt8>, count: Int, final: Bool, ends: UnsafeMutablePointer<RecordEnd>, capacity: Int,
        recordBytesMax: Int
    ) {
        unsafe (self.bytes, self.ends) = (bytes, ends)
        (self.count, self.final, self.capacity, self.recordBytesMax) = (count, final, capacity, recordBytesMax)
    }

    mutating func run() {
        var at = 0
        while at < count {
            var newlines =
                unsafe ByteBlock(bytes + at).equal(to: Byte.lineFeed) & ByteBlock.mask(first: count &- at)
            while newlines != 0 {
                endLine(at: at &+ newlines.trailingZeroBitCount)
                if result.records == capacity { return }
                newlines &= newlines &- 1
            }
            at &+= 64
        }
        endRest()
    }

    /// Ends the record or blank line at the LF at `position`.
    @inline(__always)
    private mutating func endLine(at position: Int) {
        if isBlank(to: position) {
            result.consumed = position &+ 1
            result.lines &+= 1
        } else {
            add(RecordEnd(offset: position &+ 1), next: position &+ 1)
        }
    }

    @inline(__always)
    private func isBlank(to position: Int) -> Bool {
        let length = position &- result.consumed
        return unsafe length == 0 || (length == 1 && bytes[result.consumed] == Byte.carriageReturn)
    }

    /// Ends the last record of the input, and the beginning of one that does not fit into the buffer.
    private mutating func endRest() {
        let rest = count - result.consumed
        if rest == 0 { return }
        if final {
            if isBlank(to: count) {
                (result.consumed, result.lines) = (count, result.lines + 1)
            } else {
                add(RecordEnd(offset: count), next: count)
            }
        } else if rest >= recordBytesMax + 2 {
            add(RecordEnd(offset: result.consumed + recordBytesMax + 2), next: count)
            result.skipsLine = true
        }
    }

    @inline(__always)
    private mutating func add(_ end: RecordEnd, next: Int) {
        unsafe ends[result.records] = end
        result.records &+= 1
        result.consumed = next
        result.lines &+= 1
    }
}
