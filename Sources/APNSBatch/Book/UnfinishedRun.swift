import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords

/// A run that has rows without an outcome.
public struct UnfinishedRun: Sendable, Codable, Equatable {
    /// The name of the campaign.
    public var campaign: String
    /// The absolute path of the run directory.
    public var runDirectory: String
    /// When the run began, in UTC, such as `2026-11-21T03:00:00Z`.
    public var began: String
    /// The number of rows without an outcome, an estimate if not all were read; nil if it is unknown.
    public var left: UInt64?
    /// Whether a process is working on the run.
    public var isAtWork: Bool
    /// Whether the ledger of the run or its rows are gone, so that it cannot be resumed.
    public var isLost: Bool

    /// The absolute path of the run whose rows it sends again, corrected; nil for a run of an input of its own.
    public var correctionOf: String?

    enum CodingKeys: String, CodingKey {
        case campaign, left, history, began
        case correctionOf = "correction_of"
        case runDirectory = "run_dir"
        case isAtWork = "at_work"
        case isLost = "lost"
    }

    /// The directory of the history, if it is not that which holds the run directory.
    private var history: String?

    /// - Parameter history: The directory of the history.
    init(_ run: BookFacts.Unfinished, _ key: RunKey, of campaign: KnownCampaign, history: String) {
        (self.campaign, began) = (campaign.name, key.began)
        (runDirectory, isAtWork, isLost) = (run.directory, run.isAtWork, run.isLost)
        self.history = RunDirectory.parent(of: run.directory) == history ? nil : history
        guard !run.isLost, var status = try? RunStatus(of: run.directory) else { return }
        if status.left == nil, !run.isAtWork, let copy = status.inputCopy { status.countUnread(in: copy) }
        left = status.left
    }

    /// The command that ends the run: it sends the rows that are left, or gives up a run without a record.
    public var command: String {
        guard isLost else { return "apns-batch resume \(runDirectory.shellQuoted)" }
        // Another run may have the directory by now.
        return "apns-batch abandon \(runDirectory.shellQuoted)"
            + (RunDirectory.exists(runDirectory) ? " --began \(began)" : "")
            + (history.map { " --state-dir \($0.shellQuoted)" } ?? "")
    }

    /// A description, and the command that finishes it: `runs/2026-11-24: 14,945 rows are left: apns-batch resume
    /// runs/2026-11-24`.
    public var sentence: String {
        let rows = left.map { "\($0.grouped) row\($0 == 1 ? " is" : "s are") left" } ?? "rows are left"
        let name = runDirectory + (correctionOf.map { " (a correction of \($0))" } ?? "")
        if isAtWork { return "\(name): \(rows), and a process is working on this run" }
        let state = isLost ? "its ledger or its rows are gone" : rows
        return "\(name): \(state): \(command)"
    }
}

extension RunHistory {
    /// The runs that have rows without an outcome, the oldest first, whatever their environments and topics are.
    ///
    /// - Parameter name: The name of their campaign; nil for all.
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the history or a ledger cannot be read.
    public func unfinished(of name: String? = nil) throws(CampaignError) -> [UnfinishedRun] {
        let entries = try entries().all
        let found = try correctionsFound(beside: entries)
        var campaigns = Set(entries.compactMap { if case .began(let run) = $0 { run.campaign } else { nil } })
        campaigns.formUnion(found.map(\.record.campaign))
        var unfinished: [UnfinishedRun] = []
        for campaign in campaigns where name == nil || campaign.name == name {
            unfinished += try self.unfinished(of: campaign, entries, found)
        }
        return unfinished.sorted { ($0.began, $0.runDirectory) < ($1.began, $1.runDirectory) }
    }

    /// The unfinished runs of one campaign, likewise.
    func unfinished(of campaign: KnownCampaign) throws(CampaignError) -> [UnfinishedRun] {
        let entries = try entries().all
        return try unfinished(of: campaign, entries, correctionsFound(beside: entries))
            .sorted { ($0.began, $0.runDirectory) < ($1.began, $1.runDirectory) }
    }

    private func unfinished(
        of campaign: KnownCampaign, _ entries: [HistoryEntry], _ found: [FoundCorrection]
    ) throws(CampaignError) -> [UnfinishedRun] {
        let past = PastRuns(entries, of: campaign)
        let all = past.runs + past.corrections
        let own = found.filter { $0.record.campaign == campaign }
        var keys = all.filter { !$0.isOver }.map { (key: $0.key, correctionOf: $0.correctionOf) }
        for correction in own where !all.contains(where: { $0.key == correction.key }) {
            keys.append((correction.key, correction.run))
        }
        var unfinished: [UnfinishedRun] = []
        for (key, run) in keys {
            guard let state = try BookFacts.Unfinished(of: key) else { continue }
            var open = UnfinishedRun(state, key, of: campaign, history: directory)
            open.correctionOf = run
            unfinished.append(open)
        }
        return unfinished
    }

    /// A correction whose directory is there.
    private struct FoundCorrection {
        let key: RunKey
        let run: String
        let record: CorrectionRecord
    }

    /// The corrections beside the runs of the history that have begun: their lines may be damaged.
    private func correctionsFound(beside entries: [HistoryEntry]) throws(CampaignError) -> [FoundCorrection] {
        let directories = Set(entries.compactMap(\.key).map { RunDirectory.parent(of: $0.runDirectory) } + [directory])
        var found: [FoundCorrection] = []
        for path in try CorrectionPath.all(in: directories) {
            guard let record = CorrectionRecord(in: path.path),
                let opening = (try? RunOpening(ifBegunIn: path.path)) ?? nil
            else { continue }
            found.append(
                FoundCorrection(
                    key: RunKey(runDirectory: path.path, began: opening.began), run: path.run, record: record))
        }
        return found
    }
}
