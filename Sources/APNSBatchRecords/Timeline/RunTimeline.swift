import APNSBatchModel

/// The timeline of a run: its figures at each second in which a process worked on it, in the order in which they were recorded.
/// A session has a point at its beginning, one a second, and one at its end unless it was killed.
public struct RunTimeline: Sendable, Equatable, RandomAccessCollection {
    private let points: [TimelinePoint]

    /// Reads the timeline of a run directory, also while a process works on the run. A point takes some 250 bytes of memory,
    /// so that a night of six hours takes 5 MB; ``TimelineReader`` reads a timeline bit by bit.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results``, if there is no timeline or it cannot be read.
    public init(of directory: String) throws(CampaignError) {
        var reader = try TimelineReader(of: directory)
        points = try reader.read()
    }

    init(_ points: [TimelinePoint]) { self.points = points }

    /// The index of the first point.
    public var startIndex: Int { points.startIndex }
    /// The index after the last point.
    public var endIndex: Int { points.endIndex }
    /// The point at this index. Complexity: O(1).
    public subscript(index: Int) -> TimelinePoint { points[index] }
}
