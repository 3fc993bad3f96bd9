import APNSBatchBasics
import APNSBatchRows
import APNSBatchTransport

/// The reader's thread: reads the input chunk by chunk and hands chunks to the lanes.
final class InputReader: Sendable {
    /// The names of the header row.
    let columns: [String]
    let chunks: BoundedQueue<InputChunk>
    let reader: CSVChunkReader
    let name: String
    private let extent = Guarded(InputExtent())
    /// All that were announced, by this process and those before it.
    let ranges = Guarded(InputChecksum())

    /// Opens the input and reads its header row; blocks for a pipe until that is there.
    ///
    /// - Parameters:
    ///   - lanes: each lane may have a chunk in hand and one waiting; two more are being filled.
    ///   - group: more of them, for chunks that are announced together.
    ///   - extent: what an earlier process took for the whole input; nil for all that is there.
    init(
        _ campaign: Campaign, lanes: Int, group: Int = 0, limits: CSVLimits = .standard, extent: CSVExtent? = nil
    ) throws(CampaignError) {
        name = campaign.input.name
        do {
            let dialect = try CSVDialect(delimiter: campaign.delimiter)
            let input: CSVInput =
                switch campaign.input {
                case .file(let path): .file(path)
                case .standardInput: .standardInput
                }
            reader = try CSVChunkReader(
                input: input, dialect: dialect, limits: limits, buffers: lanes * 2 + 2 + group, extent: extent)
            columns = try reader.readHeader()
        } catch {
            throw Self.explain(error, name: campaign.input.name)
        }
        chunks = BoundedQueue(capacity: reader.bufferCount)
    }

    /// Rows of the input: exact once it was read to its end, until then about so many; nil where nobody can say.
    var rowsTotal: UInt64? { extent.withLock { $0 }.rowsTotal(of: bytesTotal) }

    /// A chunk was read.
    func note(rows: UInt64, bytes: UInt64) { extent.withLock { $0.note(rows: rows, bytes: bytes) } }

    /// Ranges were announced.
    func note(_ announced: [LedgerRange]) {
        ranges.withLock { ranges in for range in announced { ranges.add(range) } }
    }

    func note(_ chunk: CSVChunk) {
        note(
            rows: chunk.firstRow - 1 + UInt64(chunk.rowCount), bytes: chunk.byteOffset + UInt64(chunk.byteCount))
    }

    /// Refuses an input with fewer rows than the campaign asks for. Reads a file as far as it takes to tell.
    static func refuseShort(_ campaign: Campaign) throws(CampaignError) {
        guard let wanted = campaign.minRows else { return }
        let name = campaign.input.name
        let uncountable = CampaignError(
            .configuration,
            "min-rows: \(name) is not a file, and only the rows of a file can be counted before any is sent")
        guard campaign.input.isFile else { throw uncountable }
        let counter = try InputReader(campaign, lanes: 1)
        guard counter.bytesTotal != nil else { throw uncountable }
        var rows: UInt64 = 0
        while rows < wanted, let chunk = try counter.nextChunk() {
            rows += UInt64(chunk.rowCount)
            chunk.recycle()
        }
        guard rows < wanted else { return }
        throw CampaignError(
            .configuration, "\(name): expected at least \(wanted) rows, found \(rows); nothing was sent")
    }

    var bytesRead: UInt64 { reader.bytesRead }
    var bytesTotal: UInt64? { reader.bytesTotal }

    /// What to tell the operator of a file that grew while it was read, or since it was read first; nil if it did not.
    var additionWarning: String? {
        guard let added = reader.addition, let bytes = reader.bytesTotal else { return nil }
        let line = added.lineCut.map { "; line \($0) was incomplete when the campaign began, and is left out too" }
        return
            "\(name): \(added.bytes) bytes were appended after the first \(bytes); they are not part of this campaign"
            + (line ?? "")
    }

    /// Of the names of the columns.
    var columnsSum: UInt32 {
        Array(columns.joined(separator: "\0").utf8).withUnsafeBytes { LedgerFrame.sum(of: $0) }
    }

    /// A lane's cursor over the chunks.
    func makeCursor() -> CSVRowCursor { reader.makeCursor() }

    /// Reads to the end, or until the run stops, and announces each chunk before a lane gets it.
    func run(_ announcer: consuming RangeAnnouncer, control: RunControl, wake: () -> Void) {
        var announcer = announcer
        do throws(CampaignError) {
            while !control.stopping, reader.waitForBuffers(announcer.buffersWanted), try announcer.step() { wake() }
        } catch {
            control.stop(.failure(error))
        }
        chunks.close()
        wake()
    }

    /// Reads to the end, or until the run stops, without a ledger. `wake` tells the lanes that there is something to take.
    func run(control: RunControl, wake: () -> Void) {
        do {
            while let chunk = try reader.next() {
                note(chunk)
                if control.stopping || !chunks.push(InputChunk(chunk)) {
                    chunk.recycle()
                    break
                }
                wake()
            }
        } catch {
            if error != .cancelled { control.stop(.failure(Self.explain(error, name: name))) }
        }
        chunks.close()
        wake()
    }

    /// Ends a read that waits for bytes, for instance of a pipe. From any thread.
    func cancel() {
        reader.cancel()
        chunks.close()
    }

    /// The next chunk, for whoever reads without a thread; nil at the end.
    func nextChunk() throws(CampaignError) -> CSVChunk? {
        do {
            return try reader.next()
        } catch {
            throw Self.explain(error, name: name)
        }
    }

    static func explain(_ error: CSVError, name: String) -> CampaignError {
        switch error {
        case .badDelimiter: CampaignError(.configuration, "\(error)")
        // Going on would not help.
        case .changedRows: CampaignError(.configuration, error.message(input: name))
        default: CampaignError(.input, error.message(input: name))
        }
    }
}

/// How far the input was read at most: rows, and bytes from its beginning.
struct InputExtent: Sendable, Equatable {
    private var rows: UInt64 = 0
    private var bytes: UInt64 = 0

    mutating func note(rows: UInt64, bytes: UInt64) {
        self.rows = max(self.rows, rows)
        self.bytes = max(self.bytes, bytes)
    }

    /// By the length of the rows that were read.
    func rowsTotal(of bytesTotal: UInt64?) -> UInt64? {
        UnreadRows.estimate(rowsRead: rows, bytesRead: bytes, bytesTotal: bytesTotal).rows.map { rows + $0 }
    }
}

/// A chunk on its way to a lane.
struct InputChunk: Sendable {
    let chunk: CSVChunk
    /// What is known of its rows, if an earlier process had it.
    let past: PastRange?

    /// Rows without an outcome.
    var rowsLeft: Int { past?.range.remaining ?? chunk.rowCount }

    init(_ chunk: CSVChunk, past: PastRange? = nil) {
        self.chunk = chunk
        self.past = past
    }
}

extension Campaign.Input {
    /// Whether it can be found again: standard input cannot, even where it is a file.
    var isFile: Bool { if case .file = self { true } else { false } }

    /// What errors call the input.
    var name: String {
        switch self {
        case .file(let path): path
        case .standardInput: "<stdin>"
        }
    }
}
