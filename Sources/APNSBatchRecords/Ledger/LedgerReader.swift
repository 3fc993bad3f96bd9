import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// Reads a ledger from its beginning. Texts are read only where they are needed.
///
/// The first invalid record ends the ledger: it was being written when the process was killed or the power failed, and it
/// was never acknowledged. There are two exceptions: according to a later mark the record was durable, or other records
/// follow it and the system has not been restarted since. Then the ledger is damaged, and the state of its rows cannot be
/// known.
///
/// Sendable, because nothing else has its memory, and it cannot be copied.
@safe package struct LedgerReader: ~Copyable, @unchecked Sendable {
    /// The result of reading a ledger.
    package struct Reading: Sendable {
        package var history = LedgerHistory()
        /// The end of the last valid record. Bytes after it are a torn record.
        package var length: UInt64 = 0
        /// The offsets of the records of outcomes that the last mark does not cover.
        var afterMark: [UInt64] = []
        /// The offset of the last reopening. Outcomes before it that were reopened do not count any more.
        var reopenedAt: UInt64 = 0

        /// Takes the outcomes of unavailable rows back, by a record at an offset.
        mutating func reopen(at offset: UInt64) throws(LedgerHistory.Fault) {
            try history.takeReopened()
            reopenedAt = offset
        }
    }

    /// Why a ledger cannot be read.
    package enum Failure: Error, Equatable {
        case storage(StorageError)
        /// The file has no header: it is not a ledger, or its process was killed before it had written anything else.
        case notOne
        case damaged(at: UInt64)
        /// A record is whole, but contains a code that is unknown to this version.
        case newer(at: UInt64)

        var isDamage: Bool { if case .damaged = self { true } else { false } }
    }

    private let storage: any AppendFile
    private let window: UnsafeMutableRawBufferPointer
    private var windowStart: UInt64 = 0
    private var windowCount = 0

    /// At least a frame and the longest fixed part.
    private static let windowBytes = 40 * 1024

    package init(_ storage: any AppendFile) {
        self.storage = storage
        unsafe window = .allocate(byteCount: Self.windowBytes, alignment: 16)
    }

    deinit { unsafe window.deallocate() }

    /// Reads all records.
    ///
    /// - Parameters:
    ///   - limit: the offset to stop at, for a ledger whose texts are invalid from there on.
    ///   - boot: the boot id of the system; nil if it is unknown.
    package mutating func read(upTo limit: UInt64 = .max, boot: (UInt64, UInt64)? = nil) throws(Failure) -> Reading {
        var reading = Reading()
        while reading.length < limit, let frame = try frame(at: reading.length) {
            do {
                try take(frame, at: reading.length, into: &reading)
            } catch let failure as Failure where !failure.isDamage {
                throw failure
            } catch {
                throw .damaged(at: reading.length)
            }
            reading.length += UInt64(frame.recordLength)
        }
        guard reading.history.header != nil else {
            // Ranges are announced only after header and session are durable.
            throw try unsafe follows(0, { frame, _, _ in frame.kind == .range }) ? .damaged(at: 0) : .notOne
        }
        guard limit == .max else { return reading }
        let isSameBoot = boot.map { $0 != (0, 0) && reading.history.session?.boot ?? (0, 0) == $0 } ?? false
        if try isDamage(reading.length, isSameBoot) { throw .damaged(at: reading.length) }
        for offset in reading.afterMark where try !textsHold(at: offset) {
            if isSameBoot, try isDamage(offset, true) { throw .damaged(at: offset) }
            return try read(upTo: offset)
        }
        return reading
    }

    /// Whether an invalid record was complete once. Written data survives the process: unless the power failed, only the
    /// last record can be torn.
    private mutating func isDamage(_ offset: UInt64, _ isSameBoot: Bool) throws(Failure) -> Bool {
        try unsafe follows(offset) { frame, fixed, at in
            if isSameBoot { return true }
            guard frame.kind == .mark, let mark = unsafe LedgerDecoder.mark(fixed) else { return false }
            return mark.position == at && mark.covered > offset
        }
    }

    /// Returns the header and the last session. Only the lengths of the records between them are read.
    mutating func opening() throws(Failure) -> (header: LedgerHeader, session: LedgerSession?) {
        guard let first = try frame(at: 0), first.kind == .header,
            let header = unsafe LedgerDecoder.header(fixedPart(first, at: 0), texts: try texts(first, at: 0))
        else {
            _ = try read()
            throw .damaged(at: 0)
        }
        var session: LedgerSession?
        var offset = UInt64(first.recordLength)
        while offset + UInt64(LedgerFrame.length) <= storage.length,
            let frame = try unsafe read(at: offset, count: LedgerFrame.length).withUnsafeBytes({
                unsafe LedgerFrame($0)
            })
        {
            if frame.kind == .session, try self.frame(at: offset) != nil {
                session = unsafe LedgerDecoder.session(fixedPart(frame, at: offset)) ?? session
                if frame.textLength > 0, try textsHold(at: offset) { session?.note = try texts(frame, at: offset) }
            }
            offset += UInt64(frame.recordLength)
        }
        return (header, session)
    }

    /// Returns the frame of the record at an offset, if the record is complete and valid. Its fixed part is then in the
    /// window.
    private mutating func frame(at offset: UInt64) throws(Failure) -> LedgerFrame? {
        guard let frame = unsafe LedgerFrame(try bytes(at: offset, count: LedgerFrame.length)),
            offset + UInt64(frame.recordLength) <= storage.length,
            unsafe frame.holds(try bytes(at: offset, count: LedgerFrame.length + frame.fixedLength))
        else { return nil }
        // There is only one header, and it is small, so its texts are checked here.
        if frame.kind == .header, try !textsHold(at: offset) { return nil }
        return frame
    }

    private func take(_ frame: LedgerFrame, at offset: UInt64, into reading: inout Reading) throws {
        let fixed = unsafe fixedPart(frame, at: offset)
        switch frame.kind {
        case .header:
            try unsafe reading.history.take(try found(LedgerDecoder.header(fixed, texts: texts(frame, at: offset))))
        case .session: try unsafe reading.history.take(try found(LedgerDecoder.session(fixed)))
        case .range: try unsafe reading.history.take(try found(LedgerDecoder.range(fixed)))
        case .outcomes:
            reading.afterMark.append(offset)
            try unsafe takeOutcomes(fixed, frame, at: offset, into: &reading.history)
        case .mark:
            let mark = try unsafe found(LedgerDecoder.mark(fixed))
            guard mark.position == offset else { throw LedgerHistory.Fault.misplaced }
            reading.history.takeMark(resultsLength: mark.resultsLength, resultsSum: mark.resultsSum)
            reading.afterMark.removeAll { $0 < mark.covered }
        case .handed:
            let (firstRow, rows) = try unsafe found(LedgerDecoder.handed(fixed))
            try reading.history.takeHanded(firstRow: firstRow, rows: rows)
            if frame.textLength > 0, try textsHold(at: offset) {
                reading.history.takeAttempts(firstRow: firstRow, try texts(frame, at: offset))
            }
        case .figures:
            var figures = try unsafe found(LedgerDecoder.figures(fixed))
            if frame.textLength > 0, try textsHold(at: offset) {
                figures.lanes = try unsafe texts(frame, at: offset).withUnsafeBytes { unsafe LaneAccount(text: $0) }
            }
            try reading.history.take(figures)
        case .change:
            let time = try unsafe found(LedgerDecoder.changeTime(fixed))
            let text = try textsHold(at: offset) ? try texts(frame, at: offset) : []
            try reading.history.take(RunChange(time: time, text: String(decoding: text, as: UTF8.self)))
        case .reopened:
            _ = try unsafe found(LedgerDecoder.reopened(fixed))
            try reading.reopen(at: offset)
        case .end: try unsafe reading.history.takeEnd(isInputRead: try found(LedgerDecoder.end(fixed)))
        }
    }

    private func found<T>(_ value: T?) throws(LedgerHistory.Fault) -> T {
        guard let value else { throw .misplaced }
        return value
    }

    private func takeOutcomes(
        _ fixed: UnsafeRawBufferPointer, _ frame: LedgerFrame, at offset: UInt64, into history: inout LedgerHistory
    ) throws {
        let count = try unsafe found(LedgerDecoder.outcomeCount(fixed))
        var textOffset = 0
        for number in 0..<count {
            guard let entry = unsafe LedgerDecoder.outcome(number, of: fixed) else { throw Failure.newer(at: offset) }
            let end = textOffset + entry.textLength
            guard end <= frame.textLength else { throw LedgerHistory.Fault.misplaced }
            try history.take(entry) {
                guard entry.reasonLength > 0 else { return nil }
                let behind = entry.reasonLength + entry.carriedLength
                let start = UInt64(LedgerFrame.length + frame.fixedLength + end - behind)
                return try read(at: offset + start, count: entry.reasonLength)
            }
            textOffset = end
        }
    }

    /// Reads a record of outcomes into a batch, which is emptied first.
    mutating func outcomes(at offset: UInt64, into batch: OutcomeBatch) throws(Failure) -> LedgerFrame {
        batch.removeAll()
        guard let frame = try frame(at: offset), frame.kind == .outcomes, try textsHold(at: offset) else {
            throw .damaged(at: offset)
        }
        let texts = try texts(frame, at: offset)
        let fixed = unsafe fixedPart(frame, at: offset)
        let isOne = unsafe texts.withUnsafeBytes { unsafe LedgerDecoder.batch(fixed, texts: $0, into: batch) }
        guard isOne else { throw .damaged(at: offset) }
        return frame
    }

    /// Returns the frame of the record at an offset, for callers that walk through the records.
    mutating func record(at offset: UInt64) throws(Failure) -> LedgerFrame? { try frame(at: offset) }

    /// Returns the mark at an offset; nil if there is another record.
    mutating func mark(at offset: UInt64) throws(Failure) -> LedgerMark? {
        guard let frame = try frame(at: offset), frame.kind == .mark else { return nil }
        return unsafe LedgerDecoder.mark(fixedPart(frame, at: offset))
    }

    /// Returns the number of outcomes in the record at an offset; 0 if there is another record.
    mutating func outcomeCount(at offset: UInt64) throws(Failure) -> Int {
        guard let frame = try frame(at: offset), frame.kind == .outcomes else { return 0 }
        return unsafe LedgerDecoder.outcomeCount(fixedPart(frame, at: offset)) ?? 0
    }

    /// Forgets what was read, for a caller that walks through a ledger which grows.
    mutating func forget() { windowCount = 0 }

    // MARK: Bytes

    /// Returns bytes of the ledger, fewer only at its end. They are valid until the next call.
    private mutating func bytes(at offset: UInt64, count: Int) throws(Failure) -> UnsafeRawBufferPointer {
        let isThere = offset >= windowStart && offset + UInt64(count) <= windowStart + UInt64(windowCount)
        if !isThere {
            (windowStart, windowCount) = (offset, 0)
            do throws(StorageError) {
                windowCount = try unsafe storage.read(at: offset, into: window)
            } catch {
                throw .storage(error)
            }
        }
        let start = Int(offset - windowStart)
        return unsafe UnsafeRawBufferPointer(rebasing: window[start..<min(windowCount, start + count)])
    }

    private func fixedPart(_ frame: LedgerFrame, at offset: UInt64) -> UnsafeRawBufferPointer {
        let start = Int(offset - windowStart) + LedgerFrame.length
        return unsafe UnsafeRawBufferPointer(rebasing: window[start..<(start + frame.fixedLength)])
    }

    private func read(at offset: UInt64, count: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var got = 0
        do throws(StorageError) {
            got = try unsafe bytes.withUnsafeMutableBufferPointer { (bytes) throws(StorageError) in
                try unsafe storage.read(at: offset, into: UnsafeMutableRawBufferPointer(bytes))
            }
        } catch {
            throw .storage(error)
        }
        guard got == count else { throw .damaged(at: offset) }
        return bytes
    }

    private func texts(_ frame: LedgerFrame, at offset: UInt64) throws(Failure) -> [UInt8] {
        try read(at: offset + UInt64(LedgerFrame.length + frame.fixedLength), count: frame.textLength)
    }

    /// Whether the texts of the record at an offset are as they were written.
    func textsHold(at offset: UInt64) throws(Failure) -> Bool {
        let head = try read(at: offset, count: LedgerFrame.length)
        guard let frame = unsafe head.withUnsafeBytes({ unsafe LedgerFrame($0) }) else { return false }
        return try unsafe texts(frame, at: offset).withUnsafeBytes { unsafe CRC32C.of($0) } == frame.textSum
    }

    /// Whether a valid record that satisfies a predicate begins anywhere after an offset.
    private mutating func follows(
        _ offset: UInt64, _ isWanted: (LedgerFrame, _ fixed: UnsafeRawBufferPointer, _ at: UInt64) -> Bool
    ) throws(Failure) -> Bool {
        var at = (offset + 15) & ~7
        while at + UInt64(LedgerFrame.length) <= storage.length {
            if let frame = unsafe LedgerFrame(try bytes(at: at, count: LedgerFrame.length)),
                at + UInt64(frame.recordLength) <= storage.length,
                unsafe frame.holds(try bytes(at: at, count: LedgerFrame.length + frame.fixedLength)),
                unsafe isWanted(frame, fixedPart(frame, at: at), at)
            {
                return true
            }
            at += 8
        }
        return false
    }
}

extension LedgerDecoder {
    static func header(_ fixed: UnsafeRawBufferPointer, texts: [UInt8]) -> LedgerHeader? {
        unsafe texts.withUnsafeBytes { unsafe header(fixed, texts: $0) }
    }
}
