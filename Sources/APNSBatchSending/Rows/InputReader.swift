import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows

/// The input of a campaign: its chunks, the names of its columns, how far it was read, and its errors as those of the
/// campaign.
package final class InputReader: Sendable {
    package let facts: InputFacts
    package var name: String { facts.name }
    /// The names of the columns as the input has them.
    package let columns: [String]
    package var format: RowFormat { reader.format }
    package let reader: ChunkReader
    /// Whether a later process can read the same bytes, so that the run can be resumed. Standard input cannot be read by
    /// another process, even if it is redirected from a file.
    package let isRepeatable: Bool
    private let estimate = Guarded(RowEstimate())
    private let checksums = Guarded(InputChecksum())

    /// Whether the input is the copy that an earlier session has made.
    private let isCopy: Bool

    /// Opens the input and reads the names of its columns. Blocks until a pipe has delivered them.
    ///
    /// - Parameters:
    ///   - lanes: The number of lanes, as for ``OpenedInput``.
    ///   - looks: Whether rows that name their fields are judged by the first ones.
    package convenience init(
        _ campaign: Campaign, input: RunInput, lanes: Int, limits: RowLimits = .standard, looks: Bool = true
    ) throws(CampaignError) {
        try self.init(
            campaign, try OpenedInput(campaign, input: input, lanes: lanes, limits: limits), looks: looks)
    }

    /// Reads the names of the columns of an input that is open. Blocks until a pipe has delivered them.
    ///
    /// - Parameter looks: Whether rows that name their fields are judged by the first ones.
    package init(_ campaign: Campaign, _ opened: OpenedInput, looks: Bool = true) throws(CampaignError) {
        let input = opened.input
        (reader, isCopy) = (opened.reader, opened.isEarlierCopy)
        do {
            columns = try reader.readColumns()
        } catch {
            throw Self.explain(error, name: input.name, isCopy: isCopy, parts: input.parts)
        }
        isRepeatable = input.isFile && reader.canReadAgain
        let judges = looks && !opened.isEarlier && !campaign.isPart
        facts = try Self.facts(of: reader, columns, input, campaign, looks: judges)
    }

    private static func facts(
        of reader: ChunkReader, _ columns: [String], _ input: RunInput, _ campaign: Campaign, looks: Bool
    ) throws(CampaignError) -> InputFacts {
        let (name, isFile, parts) = (input.name, input.isFile, input.parts)
        guard reader.format == .ndjson else {
            let named = try NamedColumns(header: columns, campaign.columns, file: name)
            return InputFacts(name: name, isFile: isFile, named: named, parts: parts)
        }
        let wanted = WantedColumns.of(campaign)
        try ColumnSource.check(paths: wanted)
        let first: FirstRows?
        do {
            first = looks ? try reader.lookAtFirstRows() : nil
        } catch {
            throw explain(error, name: name, isCopy: false)
        }
        let found = try first.flatMap { (rows) throws(CampaignError) in
            try FirstColumns(rows, wanted: wanted, campaign.columns, file: name)
        }
        return InputFacts(name: name, isFile: isFile, named: NamedColumns(wanted), first: found, parts: parts)
    }

    /// The number of chunks that are in memory at the same time.
    package static func buffers(lanes: Int, group: Int) -> Int { lanes * 2 + 2 + group }

    /// Returns the next chunk, or nil at the end of the input.
    package func nextChunk() throws(CampaignError) -> RowChunk? {
        do {
            return try reader.next()
        } catch {
            throw explain(error)
        }
    }

    /// Moves back to the first row. See `ChunkReader.rewind`.
    package func rewind() throws(CampaignError) {
        do throws(InputError) { try reader.rewind() } catch { throw explain(error) }
    }

    /// Returns a cursor over the chunks, for use by one thread.
    package func makeCursor() -> RowCursor { reader.makeCursor(copies: facts.named.copies) }

    /// Ends a read that waits for bytes, for instance of a pipe. May be called from any thread.
    package func cancel() { reader.cancel() }

    package func explain(_ error: InputError) -> CampaignError {
        Self.explain(error, name: name, isCopy: isCopy, parts: facts.parts)
    }

    static func explain(
        _ error: InputError, name: String, isCopy: Bool, parts: InputParts? = nil
    ) -> CampaignError {
        let text = message(error, name, parts)
        if case .quoting = error { return CampaignError(.input, text, cause: error) }
        // Only this program writes the copy, and nothing of it is missing when it is opened.
        if isCopy, error.systemCode == nil, error != .cancelled {
            return CampaignError(.configuration, text + RunPast.damagedCopy, cause: error)
        }
        let kind: CampaignError.Code =
            switch error {
            // To resume with changed rows would not help.
            case .changedRows, .changedRow, .changedBytes: .configuration
            case .cannotSpool: .results
            default: .input
            }
        return CampaignError(kind, text, cause: error)
    }

    private static func message(_ error: InputError, _ name: String, _ parts: InputParts?) -> String {
        guard case .quoting(_, let line, _) = error, let place = parts?.place(ofLine: line) else {
            return error.message(input: name)
        }
        return error.moved(toLine: place.line).message(input: place.file)
    }

    /// Notes that rows were read, by this session or an earlier one.
    ///
    /// - Parameter sum: The CRC-32C of their bytes, for ``checksum``.
    func note(_ start: RowPosition, rows: Int, bytes: Int, sum: UInt32? = nil) {
        estimate.withLock { $0.note(rows: start.row - 1 + UInt64(rows), bytes: start.offset + UInt64(bytes)) }
        if let sum { checksums.withLock { $0.add(offset: start.offset, bytes: bytes, sum: sum) } }
    }

    /// The number of rows of the input: exact once it was read to its end, an estimate before, and nil if none can be made.
    package var rowsTotal: UInt64? { estimate.withLock { $0 }.rowsTotal(of: reader.estimatedSize) }
    /// How much of the input was read, as it is stored.
    package var bytesRead: UInt64 { reader.storedBytesRead }
    package var bytesTotal: UInt64? { reader.storedBytes }

    /// The CRC-32C of the input, unpacked, once all of its rows were noted. Nil for a pipe, or if the file cannot be read any more.
    package var checksum: UInt32? {
        guard isRepeatable, let size = reader.size else { return nil }
        return checksums.withLock { $0 }.value(bytes: size) { try? reader.checksum(of: $0) }
    }

    /// The CRC-32C of the names of the columns.
    package var columnsSum: UInt32 {
        unsafe Array(columns.joined(separator: "\0").utf8).withUnsafeBytes { unsafe CRC32C.of($0) }
    }

    /// A warning about a file that has grown since it was first read, or nil if it has not.
    package var additionWarning: String? {
        guard let added = reader.addition, let bytes = reader.storedBytes else { return nil }
        let line = added.lineCut.map { "; line \($0) was incomplete when the campaign began, and is left out too" }
        return
            "\(name): \(added.bytes) bytes were appended after the first \(bytes); they are not part of this campaign"
            + (line ?? "")
    }
}

/// An estimate of the number of rows, from the furthest point that was read: its row, and its offset in bytes.
struct RowEstimate: Sendable, Equatable {
    private var rows: UInt64 = 0
    private var bytes: UInt64 = 0

    mutating func note(rows: UInt64, bytes: UInt64) {
        self.rows = max(self.rows, rows)
        self.bytes = max(self.bytes, bytes)
    }

    /// Returns the number of rows in `bytesTotal` unpacked bytes, estimated from the length of the rows that were read.
    func rowsTotal(of bytesTotal: UInt64?) -> UInt64? {
        UnreadRows.estimate(rowsRead: rows, bytesRead: bytes, bytesTotal: bytesTotal).rows.map { rows + $0 }
    }
}

extension FormatChoice {
    /// The format of an input of the campaign.
    package init(of input: RunInput, _ campaign: Campaign) throws(CampaignError) {
        let escape = input.escape ?? campaign.escape
        let dialect = try Self.dialect(delimiter: campaign.delimiter, escape)
        switch campaign.inputFormat {
        case _ where input.isMadeByProgram, .csv: self = .csv(dialect)
        case .ndjson: self.init(.ndjson, wanted: JSONColumn.unique(WantedColumns.of(campaign)).columns)
        case .automatic:
            self.init(
                of: input.firstName, orCSV: dialect, wanted: JSONColumn.unique(WantedColumns.of(campaign)).columns)
        }
    }

    /// The format of an input whose rows are counted and not read.
    package init(ofFile path: String, delimiter: UInt8, _ escape: Campaign.Escape) throws(CampaignError) {
        self.init(of: path, orCSV: try Self.dialect(delimiter: delimiter, escape), columns: [])
    }

    private static func dialect(delimiter: UInt8, _ escape: Campaign.Escape) throws(CampaignError) -> CSVDialect {
        let escape: CSVDialect.Escape =
            switch escape {
            case .automatic: .recognised
            case .none: .none
            case .backslash: .backslash
            }
        do {
            return try CSVDialect(delimiter: delimiter, escape: escape)
        } catch {
            throw CampaignError(.configuration, "\(error)", cause: error)
        }
    }
}
