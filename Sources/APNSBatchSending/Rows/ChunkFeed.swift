import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// Reads the input and hands its chunks to the lanes: the reader's thread. With a record it announces them in the ledger
/// first, some at once. Never waits, but for the disk.
///
/// Ranges of an earlier process that have rows left come first, each read again from its place; then reading goes on where
/// that process stopped.
package struct ChunkFeed: ~Copyable {
    private let input: InputReader
    private let queue: BoundedQueue<InputChunk>
    private let record: RunRecord?
    private var past: ArraySlice<PastRange>
    private var group: [InputChunk] = []
    private var ranges: [LedgerRange] = []

    /// Chunks that are announced together; each costs 256 KiB, and each group a wait for the disk.
    package static let group = 6

    package init(
        _ input: InputReader, to queue: BoundedQueue<InputChunk>, record: RunRecord? = nil, past: [PastRange] = []
    ) {
        self.input = input
        self.queue = queue
        self.record = record
        self.past = past[...]
    }

    /// Feeds to the end, or until the run stops. `wake` tells the lanes that there is something to take.
    package consuming func run(control: RunControl, wake: () -> Void) {
        do throws(CampaignError) {
            while !control.stopping, input.reader.waitForBuffers(buffersWanted), try step() { wake() }
        } catch {
            control.stop(.failure(error))
        }
        queue.close()
        wake()
    }

    /// Free buffers that are worth a group. Rows out of a pipe go on as they come.
    private var buffersWanted: Int {
        record == nil || input.bytesTotal == nil ? 1 : min(Self.group, input.reader.bufferCount)
    }

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
            throw input.explain(error)
        }
        try handOver()
        if isOver { record?.ledger.didReadInput() }
        return !isOver
    }

    /// The next chunk with rows to send; nil at the end.
    private mutating func next() throws(InputError) -> InputChunk? {
        while let range = past.popFirst() {
            let facts = range.range.facts
            try input.reader.seek(to: facts.start)
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

    private mutating func add(_ next: InputChunk) {
        let chunk = next.chunk
        group.append(next)
        guard let record else { return input.note(chunk.start, rows: chunk.rowCount, bytes: chunk.byteCount) }
        // First the note: a range that is announced without one counts as handed over.
        record.ledger.board.note(slot: chunk.index, firstRow: chunk.start.row, rows: 0)
        let range = LedgerRange(chunk)
        input.note(range)
        ranges.append(range)
    }

    private mutating func handOver() throws(CampaignError) {
        guard !group.isEmpty else { return }
        do {
            try record?.announce(ranges, left: group.reduce(0) { $0 + $1.rowsLeft })
        } catch {
            giveBack()
            throw CampaignError(.results, "\(error)")
        }
        for chunk in group where !queue.push(chunk) { chunk.chunk.recycle() }
        group.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
    }

    private mutating func giveBack() {
        for chunk in group { chunk.chunk.recycle() }
        group.removeAll()
        ranges.removeAll()
    }
}

/// A chunk on its way to a lane.
package struct InputChunk: Sendable {
    package let chunk: RowChunk
    /// What is known of its rows, if an earlier process had it.
    let past: PastRange?

    /// Rows without an outcome.
    var rowsLeft: Int { past?.range.remaining ?? chunk.rowCount }

    init(_ chunk: RowChunk, past: PastRange? = nil) {
        self.chunk = chunk
        self.past = past
    }
}

extension LedgerRange {
    init(_ chunk: RowChunk) {
        self.init(
            start: chunk.start, rows: chunk.rowCount, bytes: chunk.byteCount, sum: CRC32C.of(chunk.contents))
    }
}

extension InputReader {
    package func note(_ range: LedgerRange) { note(range.start, rows: range.rows, bytes: range.bytes, sum: range.sum) }
}

extension InputError {
    static func changedSince(_ range: LedgerRange) -> InputError {
        .changedRows(first: range.firstRow, last: range.firstRow + UInt64(range.rows) - 1)
    }
}
