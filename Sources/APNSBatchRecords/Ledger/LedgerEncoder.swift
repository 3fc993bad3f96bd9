import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// Encodes records of the ledger into its own buffer.
@safe struct LedgerEncoder: ~Copyable {
    private let buffer: UnsafeMutableRawPointer
    private let capacity: Int
    private var used = 0

    /// The capacity of the buffer: one of the largest records, or many small ones.
    private static let recordMax =
        LedgerFrame.length + LedgerFrame.fixedMax
        + max(LedgerHeader.noteLimit + 64 * 1024, OutcomeBatch.byteCapacity + 8 * OutcomeBatch.entryCapacity) + 64

    init() {
        capacity = Self.recordMax
        unsafe buffer = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { unsafe buffer.deallocate() }

    /// The records added since `removeAll`.
    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: buffer, count: used) }

    mutating func removeAll() { used = 0 }

    /// Whether another small record fits: any record but a header, a session with a note, figures of lanes, or outcomes.
    var hasRoom: Bool { used + 128 <= capacity }

    mutating func add(_ header: LedgerHeader) {
        let name = Array(header.inputName.utf8.prefix(32 * 1024))
        let columns = Array(header.resultColumns.joined(separator: "\0").utf8)
        let texts = name + columns + header.note.prefix(LedgerHeader.noteLimit)
        var fixed = unsafe Fixed(at: body, count: 0)
        fixed.add(header.identity.0)
        fixed.add(header.identity.1)
        fixed.add(header.start)
        fixed.add(header.inputBytes ?? .max)
        fixed.add(header.columnsSum)
        fixed.add(UInt32(name.count))
        for byte in header.digest.prefix(LedgerHeader.digestLength) { fixed.add(byte) }
        for _ in header.digest.count..<max(LedgerHeader.digestLength, header.digest.count) { fixed.add(UInt8(0)) }
        fixed.add(UInt32(columns.count))
        fixed.add(
            LedgerHeader.Flags(isSpooled: header.isSpooled, packing: header.packing, isCopied: header.isCopied).number)
        if let plan = header.plan {
            fixed.add(plan.bytes)
            fixed.add(plan.sum)
            fixed.add(UInt32(0))
        }
        unsafe (body + fixed.count).copyMemory(from: texts, byteCount: texts.count)
        finish(.header, fixed: fixed.count, texts: texts.count)
    }

    mutating func add(_ session: LedgerSession) {
        var fixed = unsafe Fixed(at: body, count: 0)
        fixed.add(session.number)
        fixed.add(session.process)
        fixed.add(session.time)
        fixed.add(session.boot.0)
        fixed.add(session.boot.1)
        fixed.add(UInt64(session.policy.rawValue))
        fixed.add(UInt64(session.sendsNothing ? 1 : 0))
        let note = Array(session.note.prefix(LedgerHeader.noteLimit))
        unsafe (body + fixed.count).copyMemory(from: note, byteCount: note.count)
        finish(.session, fixed: fixed.count, texts: note.count)
    }

    mutating func add(_ range: LedgerRange) {
        assert(hasRoom, "a small record fits")
        var fixed = unsafe Fixed(at: body, count: 0)
        fixed.add(range.firstRow)
        fixed.add(UInt32(range.rows))
        fixed.add(UInt32(range.bytes))
        fixed.add(range.start.offset)
        fixed.add(range.start.line)
        fixed.add(range.sum)
        fixed.add(UInt32(0))
        finish(.range, fixed: fixed.count)
    }

    /// - Parameters:
    ///   - position: the offset of this record in the ledger. It identifies a mark when records before it are damaged.
    ///   - covered: the length of the ledger that is durable. Records between it and the mark may not be.
    ///   - resultsSum: the checksum of the first `resultsLength` bytes of `results.csv`.
    mutating func addMark(position: UInt64, covered: UInt64, resultsLength: UInt64, resultsSum: UInt32 = 0) {
        assert(covered <= position, "a mark covers only what is before it")
        var fixed = unsafe Fixed(at: body, count: 0)
        fixed.add(position)
        fixed.add(covered)
        fixed.add(resultsLength)
        fixed.add(resultsSum)
        fixed.add(UInt32(0))
        finish(.mark, fixed: fixed.count)
    }

    /// - Parameter attempts: The requests for rows of the range, ordered by index, at most ``RowAttempts/mostInRecord``; the encoder
    ///   may contain only small records then.
    mutating func addHanded(firstRow: UInt64, rows: Int, attempts: ArraySlice<RowAttempts> = []) {
        assert(hasRoom && attempts.count <= RowAttempts.mostInRecord, "a record fits")
        assert(
            zip(attempts, attempts.dropFirst()).allSatisfy { $0.index < $1.index },
            "a row is left once to a resumed run, and the rows are in order")
        var fixed = unsafe Fixed(at: body, count: 0)
        fixed.add(firstRow)
        fixed.add(UInt64(rows))
        var texts = unsafe Fixed(at: body + fixed.count, count: 0)
        for row in attempts {
            texts.add(row.index)
            texts.add(row.attempts)
            texts.add(row.counted)
        }
        finish(.handed, fixed: fixed.count, texts: texts.count)
    }

    /// Says that rows with this outcome are to be sent again, and have no outcome from here on.
    mutating func addReopened(_ outcome: Outcome) {
        var fixed = unsafe Fixed(at: body, count: 0)
        fixed.add(UInt64(outcome.rawValue))
        finish(.reopened, fixed: fixed.count)
    }

    /// Adds the figures of the session so far. The encoder may contain only small records.
    mutating func add(_ figures: SessionFigures) {
        var fixed = unsafe Fixed(at: body, count: 0)
        fixed.add(figures.milliseconds)
        fixed.add(figures.requests)
        fixed.add(figures.connections)
        unsafe finish(.figures, fixed: fixed.count, texts: figures.lanes?.write(to: body + fixed.count) ?? 0)
    }

    /// Adds a change. Its text is cut after ``changeTextLimit`` bytes. The encoder may contain only small records.
    mutating func add(_ change: RunChange) {
        var fixed = unsafe Fixed(at: body, count: 0)
        fixed.add(change.time)
        let text = Array(change.text.utf8.prefix(Self.changeTextLimit))
        unsafe (body + fixed.count).copyMemory(from: text, byteCount: text.count)
        finish(.change, fixed: fixed.count, texts: text.count)
    }

    static let changeTextLimit = 1024

    /// - Parameter isInputRead: whether all rows of the input have been announced.
    mutating func addEnd(isInputRead: Bool) {
        var fixed = unsafe Fixed(at: body, count: 0)
        fixed.add(UInt64(isInputRead ? 1 : 0))
        finish(.end, fixed: fixed.count)
    }

    /// Adds a batch of up to some thousand outcomes. The encoder must be empty.
    mutating func add(_ batch: OutcomeBatch) {
        precondition(used == 0, "a batch is as large as the encoder")
        let fixedLength = 8 + 16 * batch.count
        unsafe body.storeBytes(of: UInt64(batch.count).littleEndian, as: UInt64.self)
        var words = unsafe body + 8
        let texts = unsafe body + fixedLength
        var text = 0
        for index in unsafe batch.entries.indices {
            let (first, second) = unsafe Self.write(batch.entries[index], of: batch, to: texts, &text)
            unsafe words.storeBytes(of: first.littleEndian, as: UInt64.self)
            unsafe words.storeBytes(of: second.littleEndian, toByteOffset: 8, as: UInt64.self)
            unsafe words += 16
        }
        finish(.outcomes, fixed: fixedLength, texts: text)
    }

    /// Writes the texts of an entry, and returns its fixed part.
    private static func write(
        _ entry: OutcomeEntry, of batch: OutcomeBatch, to texts: UnsafeMutableRawPointer, _ used: inout Int
    ) -> (UInt64, UInt64) {
        var word = LedgerEntry(
            row: entry.row, attempts: entry.attempts, outcome: entry.outcome, code: entry.code)
        if entry.timestamp != OutcomeEntry.noTimestamp {
            unsafe texts.storeBytes(of: entry.timestamp.littleEndian, toByteOffset: used, as: UInt64.self)
            used += 8
            word.hasTimestamp = true
        }
        if entry.hasOwnID {
            unsafe (texts + used).copyMemory(from: batch.ownID(of: entry).baseAddress!, byteCount: MessageID.length)
            used += MessageID.length
            word.hasOwnID = true
        }
        let token = unsafe batch.token(of: entry)
        word.isPacked = unsafe entry.isHex || Hex.isDigits(token)
        if word.isPacked { unsafe Hex.pack(token, to: texts + used) }
        word.tokenLength = word.isPacked ? token.count / 2 : token.count
        if !word.isPacked, token.count > 0 {
            unsafe (texts + used).copyMemory(from: token.baseAddress!, byteCount: token.count)
        }
        used += word.tokenLength
        if entry.reasonLength > 0 { unsafe write(reasonOf: entry, batch, to: texts, &used, &word) }
        if entry.carriedLength > 0 {
            let carried = unsafe batch.carried(of: entry)
            unsafe (texts + used).copyMemory(from: carried.baseAddress!, byteCount: carried.count)
            used += carried.count
            word.carriedLength = carried.count
        }
        return word.words
    }

    private static func write(
        reasonOf entry: OutcomeEntry, _ batch: OutcomeBatch, to texts: UnsafeMutableRawPointer, _ used: inout Int,
        _ word: inout LedgerEntry
    ) {
        let reason = unsafe batch.reason(of: entry)
        if entry.outcome.isAnswered, case .known(let known) = unsafe Reason(bytes: reason) {
            word.reason = known
        } else {
            word.reasonLength = reason.count
            unsafe (texts + used).copyMemory(from: reason.baseAddress!, byteCount: reason.count)
            used += reason.count
        }
    }

    /// The address of the next record's fixed part.
    private var body: UnsafeMutableRawPointer { unsafe buffer + used + LedgerFrame.length }

    private mutating func finish(_ kind: LedgerKind, fixed: Int, texts: Int = 0) {
        let sum = unsafe CRC32C.of(UnsafeRawBufferPointer(start: body + fixed, count: texts))
        let frame = LedgerFrame(kind, fixedLength: fixed, textLength: texts, textSum: sum)
        let length = LedgerFrame.length + fixed + texts
        precondition(used + frame.recordLength <= capacity, "the records fit into the encoder")
        assert(used.isMultiple(of: 8), "a record begins at a multiple of eight bytes")
        for offset in length..<frame.recordLength {
            unsafe buffer.storeBytes(of: 0, toByteOffset: used + offset, as: UInt8.self)
        }
        unsafe frame.write(to: buffer + used)
        used += frame.recordLength
        assert(frame.recordLength - length < 8, "a record is padded by less than eight bytes")
    }

    /// Writes consecutive little-endian integers.
    @safe private struct Fixed {
        let at: UnsafeMutableRawPointer
        var count: Int

        mutating func add<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
            unsafe (at + count).storeBytes(of: number.littleEndian, as: Number.self)
            count += MemoryLayout<Number>.size
        }
    }
}
