/// What is measured of a run at one moment, for monitoring. The counts were taken at different moments, some milliseconds apart.
public struct RunMeasurements: Sendable {
    /// A snapshot of the run, with its account.
    public var progress: CampaignProgress
    /// The answers of this session by their time.
    package var answers = AnswerTimeCounts()
    /// The number of rows that were accepted in this session, which is that of answers 200.
    public var accepted: UInt64 = 0
    /// The answers of this session other than 200.
    package var refusals = RefusalCounts()
    /// The number of times that the lanes have published their figures, which each does every few milliseconds for as long as it
    /// turns.
    public var turns: UInt64 = 0
    /// The last moment at which each client certificate is valid, in seconds since 1970-01-01 00:00 UTC, by its name.
    public var certificateEnds: [String: Int64] = [:]
    /// The user and system time of the process, in seconds.
    public var cpuSeconds = 0.0
    /// The resident set size of the process, in bytes.
    public var rssBytes: UInt64 = 0

    package init(_ progress: CampaignProgress) { self.progress = progress }
}
