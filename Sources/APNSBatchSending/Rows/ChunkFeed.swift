import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// Reads the input and enqueues its chunks for the lanes, on the reader's thread. With a ledger, it announces the chunks there
/// first, several at once. It waits only for free buffers and for the disk.
///
/// Ranges of an earlier session with remaining rows come first, each read again from its position. Then reading continues where
/// that session stopped.
package struct ChunkFeed: ~Copyable {
    private let input: InputReader
    private let queue: BoundedQueue<InputChunk>
    private let record: RunRecord?
    private var past: ArraySlice<PastRange>
    private let judge: Judge?
    private var group: [InputChunk] = []
    private var ranges: [LedgerRange] = []

    /// The number of chunks that are announced together. Each takes 256 KiB, and each group waits once for the disk.
    package static let group = 6

    /// Returns why the rows of a group must not be sent: because the input is broken as a whole. The flag is whether the input ends with
    /// the group.
    package typealias Judge = (_ group: [InputChunk], _ isLast: Bool) -> CampaignError?

    package init(
        _ input: InputReader, to queue: BoundedQueue<InputChunk>, record: RunRecord? = nil, past: [PastRange] = [],
        judge: Judge? = nil
    ) {
        self.input = input
        self.queue = queue
        self.record = record
        self.past = past[...]
        self.judge = judge
    }

    /// Feeds chunks to the end of the input, or until the run stops. `wake` notifies the lanes of new chunks.
    package consuming func run(control: RunControl, wake: () -> Void) {
        do throws(CampaignError) {
            while !control.stopping, input.reader.waitForBuffers(buffersWanted), try step() { wake() }
        } catch {
            control.stop(.failure(error))
        }
        queue.close()
        wake()
    }

    /// The maximum number of chunks that are announced together.
    private var groupMost: Int { record == nil ? 1 : min(Self.group, input.reader.bufferCount) }

    /// The number of free buffers to wait for before reading. Rows from a pipe or a program are passed on as they arrive.
    private var buffersWanted: Int { input.reader.isLive ? 1 : groupMost }

    /// Reads a group of chunks, or as many as there are free buffers, announces them and enqueues them. Returns false at
    /// the end of the input, or when the read was cancelled.
    ///
    /// - Precondition: A buffer is free; otherwise the call blocks until one is.
    package mutating func step() throws(CampaignError) -> Bool {
        precondition(group.isEmpty && ranges.isEmpty, "the chunks of the last group were enqueued or given back")
        var isOver = false
        do {
            repeat {
                guard let chunk = try next() else {
                    isOver = true
                    break
                }
                add(chunk)
            } while group.count < groupMost && input.reader.freeBuffers > 0 && input.reader.isFlowing
        } catch .cancelled {
            giveBack()
            return false
        } catch {
            // The rows that were read before the error are sent.
            let explained = input.explain(error)
            try enqueue(isLast: true, before: explained)
            throw explained
        }
        try enqueue(isLast: isOver)
        if isOver { record?.ledger.didReadInput() }
        return !isOver
    }

    /// Returns the next chunk with rows to send, or nil at the end of the input.
    private mutating func next() throws(InputError) -> InputChunk? {
        while let range = past.popFirst() {
            let facts = range.range.facts
            guard let chunk = try input.reader.next(at: facts.start, bytes: facts.bytes) else {
                throw .changedSince(facts)
            }
            guard LedgerRange(chunk) == facts else {
                chunk.recycle()
                throw .changedSince(facts)
            }
            if range.range.remaining > 0 { return InputChunk(chunk: chunk, past: range) }
            chunk.recycle()
        }
        return try input.reader.next().map { InputChunk(chunk: $0) }
    }

    private mutating func add(_ next: InputChunk) {
        let chunk = next.chunk
        group.append(next)
        guard let record else { return input.note(chunk.start, rows: chunk.rowCount, bytes: chunk.byteCount) }
        // The note comes first: a range that is announced without one counts as handed over.
        record.ledger.handOvers.note(slot: chunk.index, firstRow: chunk.start.row, rows: 0)
        let range = LedgerRange(chunk)
        input.note(range)
        ranges.append(range)
    }

    /// - Parameters:
    ///   - isLast: Whether no more rows follow.
    ///   - error: Why there are no more rows. Rows that a failed program has left are not sent if they are broken as a whole, but that
    ///     is no reason to change anything about the input.
    private mutating func enqueue(isLast: Bool, before error: CampaignError? = nil) throws(CampaignError) {
        guard !group.isEmpty else { return }
        if let refusal = judge?(group, isLast) {
            giveBack()
            throw error ?? refusal
        }
        do {
            precondition(record == nil || ranges.count == group.count, "each chunk is announced as a range")
            // A range must not be announced before its rows can be read again.
            try input.reader.sync()
            try record?.announce(ranges, remaining: group.reduce(0) { $0 + $1.rowsRemaining })
        } catch {
            giveBack()
            throw (error as? InputError).map(input.explain) ?? CampaignError(.results, "\(error)", cause: error)
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
    /// What is known of its rows, if an earlier session announced them; otherwise nil.
    var past: PastRange?

    /// The number of rows without an outcome.
    var rowsRemaining: Int { past?.range.remaining ?? chunk.rowCount }
}

extension InputReader {
    package func note(_ range: LedgerRange) { note(range.start, rows: range.rows, bytes: range.bytes, sum: range.sum) }
}
