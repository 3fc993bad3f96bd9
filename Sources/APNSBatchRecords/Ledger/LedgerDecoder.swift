import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// Decodes records of a ledger. The bytes are untrusted: functions return nil if they are malformed. A fixed part may be
/// longer than expected, because later versions may add fields.
enum LedgerDecoder {
    static func header(_ fixed: UnsafeRawBufferPointer, texts: UnsafeRawBufferPointer) -> LedgerHeader? {
        var numbers = unsafe Numbers(fixed)
        guard fixed.count >= 72, let high = numbers.next(UInt64.self), let low = numbers.next(UInt64.self),
            let start = numbers.next(UInt64.self), let inputBytes = numbers.next(UInt64.self),
            let columnsSum = numbers.next(UInt32.self), let nameLength = numbers.next(UInt32.self),
            nameLength <= texts.count, start < 1 << 40
        else { return nil }
        numbers.skip(LedgerHeader.digestLength)
        let columnsLength = numbers.next(UInt32.self) ?? 0
        guard let flags = LedgerHeader.Flags(numbers.next(UInt32.self) ?? 0) else { return nil }
        guard UInt64(nameLength) + UInt64(columnsLength) <= texts.count else { return nil }
        // Runs without a plan do not have it.
        let plan = numbers.next(UInt64.self).flatMap { bytes in
            numbers.next(UInt32.self).map { PlanSeal(bytes: bytes, sum: $0) }
        }
        let (columns, note) = (Int(nameLength), Int(nameLength) + Int(columnsLength))
        return unsafe LedgerHeader(
            identity: (high, low), start: start, digest: Array(fixed[40..<72]),
            inputBytes: inputBytes == .max ? nil : inputBytes, packing: flags.packing, isSpooled: flags.isSpooled,
            isCopied: flags.isCopied,
            columnsSum: columnsSum,
            inputName: String(decoding: texts[..<Int(nameLength)], as: UTF8.self),
            resultColumns: texts[columns..<note].split(separator: 0).map { unsafe String(decoding: $0, as: UTF8.self) },
            note: unsafe Array(texts[note...]), plan: plan)
    }

    static func session(_ fixed: UnsafeRawBufferPointer) -> LedgerSession? {
        var numbers = unsafe Numbers(fixed)
        guard fixed.count >= 40, let number = numbers.next(UInt32.self), let process = numbers.next(UInt32.self),
            let time = numbers.next(UInt64.self), let high = numbers.next(UInt64.self),
            let low = numbers.next(UInt64.self), let code = numbers.next(UInt64.self),
            let policy = UInt8(exactly: code).flatMap(UnknownPolicy.init(rawValue:))
        else { return nil }
        // Earlier versions do not have it, and bits that are unknown here take no request back.
        let flags = numbers.next(UInt64.self) ?? 0
        return LedgerSession(
            number: number, process: process, time: time, boot: (high, low), policy: policy, sendsNothing: flags == 1)
    }

    static func range(_ fixed: UnsafeRawBufferPointer) -> LedgerRange? {
        var numbers = unsafe Numbers(fixed)
        guard fixed.count >= 40, let firstRow = numbers.next(UInt64.self), let rows = numbers.next(UInt32.self),
            let bytes = numbers.next(UInt32.self), let offset = numbers.next(UInt64.self),
            let firstLine = numbers.next(UInt64.self), let sum = numbers.next(UInt32.self)
        else { return nil }
        let range = LedgerRange(
            start: RowPosition(row: firstRow, line: firstLine, offset: offset), rows: Int(rows), bytes: Int(bytes),
            sum: sum)
        return range.isPossible ? range : nil
    }

    static func mark(_ fixed: UnsafeRawBufferPointer) -> LedgerMark? {
        var numbers = unsafe Numbers(fixed)
        guard let position = numbers.next(UInt64.self), let covered = numbers.next(UInt64.self),
            let resultsLength = numbers.next(UInt64.self), covered <= position
        else { return nil }
        return LedgerMark(
            position: position, covered: covered, resultsLength: resultsLength,
            resultsSum: numbers.next(UInt32.self))
    }

    /// Whether the input had been read to its end.
    static func end(_ fixed: UnsafeRawBufferPointer) -> Bool? {
        var numbers = unsafe Numbers(fixed)
        guard fixed.count >= 8, let value = numbers.next(UInt64.self), value <= 1 else { return nil }
        return value == 1
    }

    /// Returns the first row of a range and how many of its rows may have been handed over.
    static func handed(_ fixed: UnsafeRawBufferPointer) -> (firstRow: UInt64, rows: UInt64)? {
        var numbers = unsafe Numbers(fixed)
        guard let first = numbers.next(UInt64.self), let second = numbers.next(UInt64.self) else { return nil }
        return (first, second)
    }

    /// Returns the requests for rows of a range, from the texts of its record. Those that cannot be meant are left out.
    static func attempts(_ texts: UnsafeRawBufferPointer, rows: Int) -> [RowAttempts] {
        var numbers = unsafe Numbers(texts)
        var found: [RowAttempts] = []
        while let index = numbers.next(UInt32.self), let attempts = numbers.next(UInt16.self),
            let counted = numbers.next(UInt16.self)
        {
            let isNext = found.last.map { $0.index < index } ?? true
            if isNext, index < rows { found.append(RowAttempts(index: index, attempts: attempts, counted: counted)) }
        }
        return found
    }

    static func figures(_ fixed: UnsafeRawBufferPointer) -> SessionFigures? {
        var numbers = unsafe Numbers(fixed)
        guard fixed.count == 24, let milliseconds = numbers.next(UInt64.self),
            let requests = numbers.next(UInt64.self), let connections = numbers.next(UInt64.self)
        else { return nil }
        return SessionFigures(milliseconds: milliseconds, requests: requests, connections: connections)
    }

    /// Returns the time of a change, in seconds since the epoch.
    static func changeTime(_ fixed: UnsafeRawBufferPointer) -> UInt64? {
        var numbers = unsafe Numbers(fixed)
        return numbers.next(UInt64.self)
    }

    /// Returns the outcome that was taken back.
    static func reopened(_ fixed: UnsafeRawBufferPointer) -> Outcome? {
        var numbers = unsafe Numbers(fixed)
        guard fixed.count == 8, let code = numbers.next(UInt64.self),
            let outcome = UInt8(exactly: code).flatMap(Outcome.init(rawValue:)), outcome.canBeReopened
        else { return nil }
        return outcome
    }

    /// The number of outcomes in a record. `outcome(_:of:)` may be called for each of them.
    static func outcomeCount(_ fixed: UnsafeRawBufferPointer) -> Int? {
        var numbers = unsafe Numbers(fixed)
        guard let count = numbers.next(UInt64.self), count <= OutcomeBatch.entryCapacity,
            fixed.count == 8 + 16 * Int(count)
        else { return nil }
        return Int(count)
    }

    static func outcome(_ number: Int, of fixed: UnsafeRawBufferPointer) -> LedgerEntry? {
        let at = 8 + 16 * number
        return unsafe LedgerEntry(
            UInt64(littleEndian: fixed.loadUnaligned(fromByteOffset: at, as: UInt64.self)),
            UInt64(littleEndian: fixed.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self)))
    }

    /// Appends the outcomes of a record to a batch; returns false if they are malformed.
    static func batch(
        _ fixed: UnsafeRawBufferPointer, texts: UnsafeRawBufferPointer, into batch: OutcomeBatch
    ) -> Bool {
        guard let count = unsafe outcomeCount(fixed) else { return false }
        var at = 0
        for number in 0..<count {
            guard let entry = unsafe outcome(number, of: fixed), at + entry.textLength <= texts.count, batch.hasRoom,
                entry.tokenLength <= OutcomeBatch.textLimit / (entry.isPacked ? 2 : 1),
                entry.reasonLength <= OutcomeBatch.textLimit, entry.carriedLength <= CarriedFields.bytesMax
            else { return false }
            unsafe append(entry, UnsafeRawBufferPointer(rebasing: texts[at..<(at + entry.textLength)]), to: batch)
            at += entry.textLength
        }
        return at == texts.count
    }

    private static func append(_ entry: LedgerEntry, _ texts: UnsafeRawBufferPointer, to batch: OutcomeBatch) {
        var at = 0
        func take(_ count: Int) -> UnsafeRawBufferPointer {
            defer { at += count }
            return unsafe UnsafeRawBufferPointer(rebasing: texts[at..<(at + count)])
        }
        let timestamp =
            unsafe entry.hasTimestamp
            ? UInt64(littleEndian: take(8).loadUnaligned(as: UInt64.self)) : OutcomeEntry.noTimestamp
        let ownID = unsafe entry.hasOwnID ? take(MessageID.length).baseAddress : nil
        let token = unsafe take(entry.tokenLength)
        let text = unsafe take(entry.reasonLength)
        let carried = unsafe take(entry.carriedLength)
        unsafe withReason(entry.reason, else: text) { reason in
            unsafe withDigits(token, isPacked: entry.isPacked) { token in
                unsafe batch.append(
                    row: entry.row, outcome: entry.outcome, code: entry.code, attempts: entry.attempts,
                    timestamp: timestamp, token: token, reason: reason, ownID: ownID)
            }
        }
        if unsafe !carried.isEmpty { unsafe batch.carry(carried) }
    }

    private static func withReason(
        _ known: KnownReason?, else text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        guard let known else { return unsafe body(text) }
        var name = Reason.known(known).rawValue
        name.withUTF8 { unsafe body(UnsafeRawBufferPointer($0)) }
    }

    private static func withDigits(
        _ token: UnsafeRawBufferPointer, isPacked: Bool, _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        guard isPacked else { return unsafe body(token) }
        unsafe withUnsafeTemporaryAllocation(byteCount: 2 * token.count, alignment: 8) { digits in
            guard let base = digits.baseAddress else { return unsafe body(token) }
            unsafe Hex.unpack(token, to: base)
            unsafe body(UnsafeRawBufferPointer(digits))
        }
    }

    /// Reads consecutive little-endian integers.
    @safe private struct Numbers {
        private let bytes: UnsafeRawBufferPointer
        private var at = 0

        init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = unsafe bytes }

        mutating func skip(_ count: Int) { at += count }

        mutating func next<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type) -> Number? {
            let size = MemoryLayout<Number>.size
            guard unsafe at + size <= bytes.count else { return nil }
            defer { at += size }
            return unsafe Number(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Number.self))
        }
    }
}
