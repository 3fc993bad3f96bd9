import APNSBatchBasics
import APNSBatchModel

/// Reads the timeline of a run point by point, also while a process appends to it.
public struct TimelineReader: Sendable {
    private let storage: any AppendFile
    /// Where the next point begins: after the last intact record, because damaged ones at the end may be cut and replaced.
    private var offset: UInt64

    private static let length = UInt64(TimelineRecord.length)
    /// The number of records that are read at once.
    private static let recordsAtOnce = 256

    /// Opens the timeline of a run directory.
    ///
    /// - Parameter last: The maximum number of records to begin with; nil for all.
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results``, if there is no timeline or it cannot be read.
    public init(of directory: String, last: Int? = nil) throws(CampaignError) {
        try self.init(try DirectoryFiles(directory).timelineToRead(), name: directory, last: last)
    }

    /// - Parameter name: The name of the run, for messages.
    package init(_ storage: any AppendFile, name: String, last: Int? = nil) throws(CampaignError) {
        self.storage = storage
        offset = 0
        var header = [UInt8](repeating: 0, count: TimelineRecord.length)
        _ = try CampaignError.mapping(.results) {
            try unsafe header.withUnsafeMutableBytes { try unsafe storage.read(at: 0, into: $0) }
        }
        // A header that is damaged, or being written, does not prevent reading the points.
        guard TimelineRecord.isTagged(header[...]) || header.allSatisfy({ $0 == 0 }) else {
            throw CampaignError(.results, "\(name) holds no timeline: its file has another form")
        }
        guard !TimelineRecord.holds(header[...]) || header[1] == TimelineRecord.version else {
            throw CampaignError(.results, "the timeline of \(name) was written by a later version of this program")
        }
        let records = storage.length / Self.length
        offset = (records - min(records, UInt64(clamping: max(0, last ?? .max)))) * Self.length
    }

    /// Returns the points that were appended since the last call, in the order in which they were recorded. Torn and damaged
    /// records are skipped.
    ///
    /// - Parameter enough: The number of points after which reading stops; up to 255 more may be returned. The next call continues.
    /// - Returns: Empty if no further point was appended.
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results``.
    public mutating func read(enough: Int = .max) throws(CampaignError) -> [TimelinePoint] {
        var points: [TimelinePoint] = []
        var at = offset
        var block = [UInt8](repeating: 0, count: Self.recordsAtOnce * TimelineRecord.length)
        while true {
            let count = try CampaignError.mapping(.results) {
                try unsafe block.withUnsafeMutableBytes { try unsafe storage.read(at: at, into: $0) }
            }
            let whole = count / TimelineRecord.length
            for index in 0..<whole {
                let record = block[(index * TimelineRecord.length)..<((index + 1) * TimelineRecord.length)]
                at += Self.length
                guard TimelineRecord.holds(record) else { continue }
                offset = at
                if let point = TimelineRecord.point(record) { points.append(point) }
            }
            guard whole == Self.recordsAtOnce, points.count < enough else { return points }
        }
    }
}
