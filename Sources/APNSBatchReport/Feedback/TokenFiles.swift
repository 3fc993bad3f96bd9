import APNSBatch
import APNSBatchBasics
import APNSBatchNotification
import APNSBatchRecords
import APNSBatchRows

/// The files `invalid-tokens.csv` and `doubtful-tokens.csv` of a run, for the owner of the tokens.
///
/// They are made from `results.csv` when the run ends, so that they are complete however many processes worked on it. One pass over
/// it, with some 1 MB of memory; none if no row was rejected for its token. Those of a run in parts have the number of the part before
/// that of the row, and are made from the results of one part after the other.
public struct TokenFiles {
    private var invalid: TokenFile
    private var doubtful: TokenFile
    /// The beginning of each line: the part, if there are parts.
    private var prefix: [UInt8] = []

    /// - Parameter first: The columns before the row, with a comma at the end.
    private init(in directory: String, first: String = "") throws {
        invalid = try TokenFile("\(directory)/invalid-tokens.csv", columns: "\(first)row,token,reason,timestamp")
        doubtful = try TokenFile("\(directory)/doubtful-tokens.csv", columns: "\(first)row,token,reason,status")
    }

    /// Writes both files into the run directory. Each is replaced as a whole, or stays as it is.
    ///
    /// - Parameter summary: The summary of the run.
    /// - Throws: An error that describes itself, with the path.
    public static func write(_ summary: CampaignSummary, in directory: String) throws {
        var files = try TokenFiles(in: directory)
        try files.take(summary, in: directory)
        try files.finish()
    }

    /// Writes both files into the directory of a report: for a run, or for all parts that the report counts.
    ///
    /// - Throws: An error that describes itself, with the path.
    public static func write(of report: RunReport) throws {
        guard let parts = report.parts else { return try write(report.summary, in: report.runDirectory) }
        var files = try TokenFiles(in: report.runDirectory, first: "part,")
        for part in parts where part.isCounted && part.rejected > 0 {
            let directory = RunReport.PartLine.directory(of: part.part, in: report.runDirectory)
            guard let summary = RunDirectory.readSummary(directory) else {
                throw CampaignError(.results, "\(directory): its summary.json was removed while the report was made")
            }
            files.prefix = Array("\(part.part),".utf8)
            try files.take(summary, in: directory)
        }
        try files.finish()
    }

    private mutating func take(_ summary: CampaignSummary, in directory: String) throws {
        if Self.mayHaveFeedback(summary) { try takeResults("\(directory)/\(RunDirectory.results)") }
    }

    private mutating func finish() throws {
        try invalid.finish()
        try doubtful.finish()
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
            let reader = try ChunkReader(input: .kept(path), buffers: 1)
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
        case .delete?:
            let columns = [Column.row, Column.token, Column.reason, Column.timestamp]
            try unsafe invalid.add(fields, columns, keyColumn: Column.token, prefix: prefix)
        case .look?:
            let columns = [Column.row, Column.token, Column.reason, Column.status]
            try unsafe doubtful.add(fields, columns, keyColumn: Column.token, prefix: prefix)
        case nil: break
        }
    }
}
