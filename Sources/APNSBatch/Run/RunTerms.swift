import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import Glibc

/// What a run is to do, as far as settings, history and earlier sessions say so: the input is not looked at, and nothing
/// that is written is left behind.
struct RunTerms {
    /// The settings. Those of a run that is resumed have its identity.
    private(set) var campaign: Campaign
    let lanes: Int
    /// What earlier sessions did; nil for a new run. Its ledger is locked.
    let past: RunPast?
    /// Nil if no history is kept.
    let history: HistoryPlace?
    let judge: ExpectationJudge
    /// Used in place of the files in the run directory; nil for these.
    let files: (any RunFiles)?

    /// Reads and locks the ledger of a run that is resumed, and reads the history.
    init(_ request: RunRequest) throws(CampaignError) {
        (campaign, files) = (request.campaign, request.files)
        lanes = try Self.lanes(of: campaign)
        guard campaign.note.count <= LedgerHeader.noteLimit else {
            throw CampaignError(.configuration, "note: expected at most \(LedgerHeader.noteLimit) bytes")
        }
        past = try request.isResuming ? Self.past(campaign, files) : nil
        history = try HistoryPlace(campaign)
        if let past, campaign.retryUnavailable, files == nil {
            let began = CampaignSummary.Identity.time(past.header.start)
            try CampaignBook.refuseReopening(of: campaign.runDirectory ?? "", began: began, history: history?.history)
        }
        try history?.history.tryPreparing()
        try RunRate.attempt(campaign)
        judge = try ExpectationJudge(campaign, start: past?.header.start)
        try past?.check(campaign.id)
        campaign.id = past.map { CampaignID($0.header.identity) } ?? campaign.id
    }

    /// Whether the run begins in a directory, and is not one of a simulation.
    var takesDirectory: Bool { files == nil && past == nil }

    private static func past(_ campaign: Campaign, _ files: (any RunFiles)?) throws(CampaignError) -> RunPast {
        guard let directory = campaign.runDirectory else {
            throw CampaignError(.configuration, "no run directory to resume")
        }
        let files = files ?? DirectoryFiles(directory)
        return try RunPast(files, name: directory, reopening: campaign.retryUnavailable)
    }

    /// Returns the number of lanes of a campaign, after checking its numbers.
    ///
    /// - Parameter spare: The number of cores that other threads keep busy.
    static func lanes(of campaign: Campaign, spare: Int = 1) throws(CampaignError) -> Int {
        try Campaign.Number.check(campaign)
        return campaign.lanes ?? min(256, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - spare))
    }

    /// The number of chunks of rows that are announced before any of them has ended.
    static func chunks(of campaign: Campaign) throws(CampaignError) -> Int {
        InputReader.buffers(lanes: try lanes(of: campaign), group: ChunkFeed.group)
    }
}
