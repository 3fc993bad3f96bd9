/// Finds the ends of the records in a buffer, according to RFC 4180. It stops where the record may have been written otherwise.
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

    var result = SplitResult()

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
        if grammar.escape == .backslash { return runByGrammar() }
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
        if grammar.escape == .recognised {
            let backslashes = block.equal(to: Byte.backslash) &<< 1 | (mayOpen ? 0 : backslash(before: base))
            if quoteBits & backslashes != 0 {
                odd |= telling(quoteBits & backslashes & ~step.quoted, base: base)
            }
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

    /// 1 if the byte before `position`, which is not that of a record's start, is a backslash, else 0.
    @inline(__always)
    private func backslash(before position: Int) -> UInt64 {
        unsafe bytes[position &- 1] == Byte.backslash ? 1 : 0
    }

    /// Returns those of the closing quotes after backslashes whose record may have been written with backslashes as escapes: a quote
    /// that closes its field, or one that is doubled where the second one would close it.
    @inline(never)
    private func telling(_ closing: UInt64, base: Int) -> UInt64 {
        var (left, found) = (closing, UInt64(0))
        while left != 0 {
            let at = base &+ left.trailingZeroBitCount
            let isDoubled = unsafe at &+ 1 < count && bytes[at &+ 1] == Byte.quote
            if !isDoubled || mayEnd(at: at &+ 2) { found |= left & (0 &- left) }
            left &= left &- 1
        }
        return found
    }

    /// Whether a field may end before a byte.
    private func mayEnd(at position: Int) -> Bool {
        guard position < count else { return true }
        let byte = unsafe bytes[position]
        return byte == grammar.delimiter || byte == Byte.lineFeed || byte == Byte.carriageReturn
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
            let position = base &+ left.trailingZeroBitCount
            if bit & quoted != 0 {
                if grammar.escape == .recognised, isBehindBackslash(position) { return .unusual }
                innerLines &+= 1
            } else if let stop = endLine(at: position) {
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
        if grammar.escape == .recognised, isBehindBackslash(position) { return .unusual }
        add(RecordEnd(offset: position &+ 1), next: position &+ 1, lines: 1 &+ innerLines)
        innerLines = 0
        return result.records == capacity ? .exhausted : nil
    }

    /// Whether the line end whose LF is at `position` is after a backslash of the record, so that it may be part of a text.
    @inline(__always)
    private func isBehindBackslash(_ position: Int) -> Bool {
        let start = result.consumed
        guard position > start else { return false }
        let last = unsafe bytes[position &- 1]
        if last == Byte.carriageReturn, position &- 1 > start { return unsafe bytes[position &- 2] == Byte.backslash }
        return last == Byte.backslash
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
    mutating func examine() -> Bool {
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
                if let found = dispute(field) { return stop(found) }
                at = field.next
                guard field.endsRecord else { continue }
                if let found = dispute(record: record, end: at) { return stop(found) }
                add(RecordEnd(offset: at), next: at, lines: lineCount(from: record, to: at))
                return result.records < capacity && at < count
            }
        }
    }

    /// Reduces the current record to its first line, and ends it.
    private mutating func endFaulty(_ fault: CSVGrammar.Fault) -> Bool {
        let record = result.consumed
        let line = firstLineFeed(from: record)
        if let found = dispute(faulty: record, fault, line: line) { return stop(found) }
        if let line {
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
