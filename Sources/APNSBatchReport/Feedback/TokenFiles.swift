import APNSBatch
import APNSBatchBasics
import APNSBatchNotification
import APNSBatchRecords
import APNSBatchRows

/// The files `invalid-tokens.csv` and `doubtful-tokens.csv` of a run, for the owner of the tokens.
///
/// They are made from `results.csv` when the run ends, so that they are complete however many processes worked on it. One pass over
/// it, with some 1 MB of memory; none if no row was rejected for its token.
public struct TokenFiles {
    private var invalid: TokenFile
    private var doubtful: TokenFile

    /// Writes both files into the run directory. Each is replaced as a whole, or stays as it is.
    ///
    /// - Parameter summary: The summary of the run.
    /// - Throws: An error that describes itself, with the path.
    public static func write(_ summary: CampaignSummary, in directory: String) throws {
        var files = TokenFiles(
            invalid: try TokenFile("\(directory)/invalid-tokens.csv", columns: "row,token,reason,timestamp"),
            doubtful: try TokenFile("\(directory)/doubtful-tokens.csv", columns: "row,token,reason,status"))
        if mayHaveFeedback(summary) { try files.takeResults("\(directory)/\(RunDirectory.results)") }
        try files.invalid.finish()
        try files.doubtful.finish()
    }

    /// Whether rows may have been rejected for their tokens.
    static func mayHaveFeedback(_ summary: CampaignSummary) -> Bool {
        let known = summary.reasons.reduce(0 as UInt64) { rows, entry in
            guard case .known = Reason(rawValue: entry.key), TokenFeedback(reason: entry.key) == nil else {
                return rows
            }
            return rows + entry.value
        }
        return known < summary.rejected
    }

    private mutating func takeResults(_ path: String) throws {
        do {
            let reader = try ChunkReader(input: .file(path), buffers: 1)
            var cursor = RowCursor(columnCount: try reader.readColumns().count)
            var row = Row()
            while let chunk = try reader.next() {
                defer { chunk.recycle() }
                cursor.open(chunk)
                while cursor.next(into: &row) { try unsafe take(row.fields) }
            }
        } catch let error as InputError {
            throw CampaignError(.results, error.message(input: path))
        }
    }

    /// The columns of `results.csv` that are read.
    private enum Column {
        static let (row, token, outcome, status, reason, timestamp) = (0, 1, 2, 3, 4, 5)
        static let count = 6
    }

    /// Takes a line of results. A line that the end of a process has cut has too few fields, and is left out.
    private mutating func take(_ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) throws {
        guard fields.count >= Column.count, unsafe fields[Column.outcome].elementsEqual("rejected".utf8) else { return }
        let isDated = unsafe fields[Column.status].elementsEqual("410".utf8) && !fields[Column.timestamp].isEmpty
        switch unsafe TokenFeedback(Reason(bytes: fields[Column.reason]), isDated: isDated) {
        case .delete?: try unsafe invalid.add(fields, [Column.row, Column.token, Column.reason, Column.timestamp])
        case .look?: try unsafe doubtful.add(fields, [Column.row, Column.token, Column.reason, Column.status])
        case nil: break
        }
    }
}
