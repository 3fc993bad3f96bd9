import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// Reads chunks and announces them in the ledger, some at once, before a lane gets them. Never waits, but for the disk.
///
/// Ranges of an earlier process that have rows left come first, each read again from its place; then reading goes on where
/// that process stopped.
package struct RangeAnnouncer: ~Copyable {
    private let input: InputReader
    private let record: RunRecord
    private var past: ArraySlice<PastRange>
    private var group: [InputChunk] = []
    private var ranges: [LedgerRange] = []

    /// Chunks that are announced together; each costs 256 KiB, and each group a wait for the disk.
    package static let group = 6

    package init(_ input: InputReader, record: RunRecord, past: [PastRange] = []) {
        self.input = input
        self.record = record
        self.past = past[...]
    }

    /// Free buffers that are worth a group. Rows out of a pipe go on as they come.
    var buffersWanted: Int { input.reader.bytesTotal == nil ? 1 : min(Self.group, input.reader.bufferCount) }

    /// Reads as many chunks as there are buffers, announces them and hands them over. False at the end of the input.
    ///
    /// - Precondition: there is a free buffer, or it waits for one.
    package mutating func step() throws(CampaignError) -> Bool {
        var isOver = false
        do {
            repeat {
                guard let chunk = try next() else {
                    isOver = true
                    break
                }
                add(chunk)
            } while group.count < buffersWanted && input.reader.freeBuffers > 0
        } catch .cancelled {
            giveBack()
            return false
        } catch {
            // What was read before the fault is sent.
            try handOver()
            throw InputReader.explain(error, name: input.name)
        }
        try handOver()
        if isOver { record.ledger.didReadInput() }
        return !isOver
    }

    /// The next chunk with rows to send; nil at the end.
    private mutating func next() throws(CSVError) -> InputChunk? {
        while let range = past.popFirst() {
            let facts = range.range.facts
            try input.reader.seek(to: facts.offset, firstRow: facts.firstRow, firstLine: facts.firstLine)
            guard let chunk = try input.reader.next() else { throw .changedSince(facts) }
            guard LedgerRange(chunk) == facts else {
                chunk.recycle()
                throw .changedSince(facts)
            }
            if range.range.remaining > 0 { return InputChunk(chunk, past: range) }
            chunk.recycle()
        }
        return try input.reader.next().map { InputChunk($0) }
    }

    private mutating func add(_ chunk: InputChunk) {
        // First the note: a range that is announced without one counts as handed over.
        record.ledger.board.note(slot: chunk.chunk.index, firstRow: chunk.chunk.firstRow, rows: 0)
        input.note(chunk.chunk)
        group.append(chunk)
        ranges.append(LedgerRange(chunk.chunk))
    }

    private mutating func handOver() throws(CampaignError) {
        guard !group.isEmpty else { return }
        do {
            try record.announce(ranges, left: group.reduce(0) { $0 + $1.rowsLeft })
        } catch {
            giveBack()
            throw CampaignError(.results, "\(error)")
        }
        input.note(ranges)
        for chunk in group where !input.chunks.push(chunk) { chunk.chunk.recycle() }
        group.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
    }

    private mutating func giveBack() {
        for chunk in group { chunk.chunk.recycle() }
        group.removeAll()
        ranges.removeAll()
    }
}

extension LedgerRange {
    init(_ chunk: CSVChunk) {
        self.init(
            firstRow: chunk.firstRow, rows: chunk.rowCount, offset: chunk.byteOffset, bytes: chunk.byteCount,
            firstLine: chunk.firstLine, sum: CRC32C.of(chunk.contents))
    }
}

extension CSVError {
    static func changedSince(_ range: LedgerRange) -> CSVError {
        .changedRows(first: range.firstRow, last: range.firstRow + UInt64(range.rows) - 1)
    }
}
