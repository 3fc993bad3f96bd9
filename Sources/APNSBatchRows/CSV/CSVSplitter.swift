/// Finds the ends of the records in a buffer, according to RFC 4180.
///
/// A record with a quoting fault, or over a limit, is reduced to its first physical line, and reading resumes on the next
/// line, so that a stray quote costs one row and not its neighbours. This does not make scanning quadratic: a line with an
/// odd number of quotes closes whatever an earlier line opened, or is a fault there, and a line with an even number opens
/// nothing itself, so a region is scanned about twice at worst.
///
/// It is unsafe for speed: blocks are loaded whole, up to `ByteBlock.slack` past the end of the buffer, which no span
/// allows.
@safe struct CSVSplitter {
    let grammar: CSVGrammar
    let bytes: UnsafePointer<UInt8>
    let count: Int
    let final: Bool
    let ends: UnsafeMutablePointer<RecordEnd>
    let capacity: Int

    private(set) var result = SplitResult()

    /// The number of LFs inside quotes since the current record began.
    private(set) var innerLines = 0

    /// Why scanning stopped. `result.consumed` is the offset of the current record.
    private enum Stop {
        /// There are no more bytes, or there is no more room for record ends.
        case exhausted
        /// The current record must be examined by the grammar.
        case unusual
    }

    mutating func run() {
        while scan() == .unusual {
            guard examine() else { return }
        }
    }

    /// Scans block by block from the beginning of the current record.
    private mutating func scan() -> Stop {
        let start = result.consumed
        var quotes = QuoteTracker()
        var at = start
        innerLines = 0
        while at < count {
            let block = unsafe ByteBlock(bytes + at)
            let valid = ByteBlock.mask(first: count &- at)
            let newlines = block.equal(to: Byte.lineFeed) & valid
            let quoteBits = block.equal(to: Byte.quote) & valid
            let stop =
                quoteBits == 0 && quotes.isQuiet
                ? endRecords(at: newlines, base: at)
                : endQuoted(block, newlines, quoteBits, valid, base: at, mayOpen: at == start, &quotes)
            if let stop { return stop }
            at &+= 64
        }
        return atEnd(isOpen: quotes.open != 0)
    }

    /// Processes a block that contains quotes or begins inside quotes.
    @inline(__always)
    private mutating func endQuoted(
        _ block: ByteBlock, _ newlines: UInt64, _ quoteBits: UInt64, _ valid: UInt64, base: Int, mayOpen: Bool,
        _ quotes: inout QuoteTracker
    ) -> Stop? {
        let breaks = newlines | block.equal(to: grammar.delimiter)
        let step = quotes.step(
            quotes: quoteBits, breaks: breaks, mayOpen: mayOpen || isBreak(before: base) ? 1 : 0)
        var odd = step.odd & valid
        if odd != 0 {
            // CR LF ends a field as well. A CR at the end of the block is left to the grammar.
            odd &= ~(block.equal(to: Byte.carriageReturn) & newlines &>> 1)
        }
        var sound = newlines
        if odd != 0 { sound &= odd & (0 &- odd) &- 1 }
        let stop =
            sound & step.quoted == 0
            ? endRecords(at: sound, base: base)
            : endRecords(at: sound, quoted: step.quoted, base: base)
        return stop ?? (odd == 0 ? nil : .unusual)
    }

    /// Whether the byte before `position` allows a field to begin at `position`. Only meaningful outside quotes.
    @inline(__always)
    private func isBreak(before position: Int) -> Bool {
        unsafe bytes[position &- 1] == grammar.delimiter || bytes[position &- 1] == Byte.lineFeed
    }

    @inline(__always)
    private mutating func endRecords(at newlines: UInt64, base: Int) -> Stop? {
        var left = newlines
        while left != 0 {
            if let stop = endLine(at: base &+ left.trailingZeroBitCount) { return stop }
            left &= left &- 1
        }
        return nil
    }

    /// Ends records like `endRecords(at:base:)`, where some newlines are inside quotes.
    @inline(never)
    private mutating func endRecords(at newlines: UInt64, quoted: UInt64, base: Int) -> Stop? {
        var left = newlines
        while left != 0 {
            let bit = left & (0 &- left)
            if bit & quoted != 0 {
                innerLines &+= 1
            } else if let stop = endLine(at: base &+ left.trailingZeroBitCount) {
                return stop
            }
            left ^= bit
        }
        return nil
    }

    /// Ends the record or blank line at the LF at `position`.
    @inline(__always)
    private mutating func endLine(at position: Int) -> Stop? {
        let start = result.consumed
        let length = position &- start
        if length <= 1, unsafe length == 0 || bytes[start] == Byte.carriageReturn {
            result.lines &+= 1
            result.consumed = position &+ 1
            return nil
        }
        if innerLines != 0, length > grammar.fieldBytesMax { return .unusual }
        add(RecordEnd(offset: position &+ 1), next: position &+ 1, lines: 1 &+ innerLines)
        innerLines = 0
        return result.records == capacity ? .exhausted : nil
    }

    @inline(__always)
    private mutating func add(_ end: RecordEnd, next: Int, lines: Int) {
        unsafe ends[result.records] = end
        result.records &+= 1
        result.consumed = next
        result.lines &+= lines
    }
}

// The end of the bytes, and records that are examined by the grammar.
extension CSVSplitter {
    private mutating func atEnd(isOpen: Bool) -> Stop {
        let start = result.consumed
        let length = count - start
        if length == 0 { return .exhausted }
        guard final else { return length >= grammar.recordBytesMax + 2 ? .unusual : .exhausted }
        if length == 1, unsafe bytes[start] == Byte.carriageReturn {
            result.consumed = count
            result.lines += 1
            return .exhausted
        }
        if isOpen || innerLines != 0 { return .unusual }
        add(RecordEnd(offset: count), next: count, lines: 1)
        return .exhausted
    }

    /// Examines the current record by the grammar. Returns false if nothing more can be done with these bytes.
    private mutating func examine() -> Bool {
        let record = result.consumed
        var at = record
        let buffer = unsafe UnsafeBufferPointer(start: bytes, count: count)
        while true {
            switch unsafe grammar.field(buffer.span, at: at, record: record, final: final) {
            case .needsMore:
                return false
            case .fault(let fault):
                return endFaulty(fault)
            case .field(let field):
                at = field.next
                guard field.endsRecord else { continue }
                add(RecordEnd(offset: at), next: at, lines: lineCount(from: record, to: at))
                return result.records < capacity && at < count
            }
        }
    }

    /// Reduces the current record to its first line, and ends it.
    private mutating func endFaulty(_ fault: CSVGrammar.Fault) -> Bool {
        let record = result.consumed
        if let line = firstLineFeed(from: record) {
            let next = line + 1
            let end = fault.seenAt > line ? RecordEnd(offset: next, cut: fault.cause.rawValue) : RecordEnd(offset: next)
            add(end, next: next, lines: 1)
        } else if final {
            add(RecordEnd(offset: count), next: count, lines: 1)
        } else if count - record >= grammar.recordBytesMax + 2 {
            add(RecordEnd(offset: record + grammar.recordBytesMax + 2), next: count, lines: 1)
            result.skipsLine = true
            return false
        } else {
            return false
        }
        return result.records < capacity && result.consumed < count
    }

    private func firstLineFeed(from start: Int) -> Int? {
        var at = start
        while at < count {
            let newlines = unsafe ByteBlock(bytes + at).equal(to: Byte.lineFeed) & ByteBlock.mask(first: count - at)
            if newlines != 0 { return at + newlines.trailingZeroBitCount }
            at += 64
        }
        return nil
    }

    private func lineCount(from start: Int, to end: Int) -> Int {
        var lines = 0
        for at in start..<end where unsafe bytes[at] == Byte.lineFeed { lines += 1 }
        return max(lines, 1)
    }
}
