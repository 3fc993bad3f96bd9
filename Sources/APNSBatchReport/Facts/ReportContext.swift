/// The facts of a report that are not in the directory of the run.
public struct ReportContext: Sendable {
    /// The name of the campaign; nil if it has none.
    public var campaign: String?
    /// The path of the campaign file; nil without one.
    public var campaignFile: String?
    /// The directory of the history with which the run is compared; nil without one.
    public var stateDirectory: String?
    /// The name of the time zone in which times are shown.
    public var zone: String
    /// Returns by how many seconds local time is ahead of UTC at an instant, in seconds since 1970-01-01 00:00 UTC.
    public var offset: @Sendable (_ instant: Int64) -> Int64
    /// The columns by which the rows of a killed run are counted; the summary of another run has the counts.
    public var reportBy: [String] = []
    /// The settings that were given, without secrets.
    public var settings: [RunReport.SettingLine]

    public init(
        campaign: String? = nil, stateDirectory: String? = nil, zone: String = "UTC",
        settings: [RunReport.SettingLine] = [],
        offset: @escaping @Sendable (_ instant: Int64) -> Int64 = { _ in 0 }
    ) {
        (self.campaign, self.stateDirectory, self.zone) = (campaign, stateDirectory, zone)
        (self.settings, self.offset) = (settings, offset)
    }
}
