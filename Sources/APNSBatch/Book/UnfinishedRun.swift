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

    enum CodingKeys: String, CodingKey {
        case campaign, left, history, began
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

    /// What there is to say of it, and the command that finishes it: `runs/2026-11-24: 14,945 rows are left: apns-batch resume
    /// runs/2026-11-24`.
    public var sentence: String {
        let rows = left.map { "\($0.grouped) row\($0 == 1 ? " is" : "s are") left" } ?? "rows are left"
        if isAtWork { return "\(runDirectory): \(rows), and a process is working on this run" }
        let state = isLost ? "its ledger or its rows are gone" : rows
        return "\(runDirectory): \(state): \(command)"
    }
}

extension RunHistory {
    /// The runs that have rows without an outcome, the oldest first, whatever their environments and topics are.
    ///
    /// - Parameter name: The name of their campaign; nil for all.
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the history or a ledger cannot be read.
    public func unfinished(of name: String? = nil) throws(CampaignError) -> [UnfinishedRun] {
        let entries = try entries().all
        let campaigns = Set(entries.compactMap { if case .began(let run) = $0 { run.campaign } else { nil } })
        var unfinished: [UnfinishedRun] = []
        for campaign in campaigns where name == nil || campaign.name == name {
            for run in PastRuns(entries, of: campaign).runs where !run.isOver {
                guard let state = try BookFacts.Unfinished(of: run.key) else { continue }
                unfinished.append(UnfinishedRun(state, run.key, of: campaign, history: directory))
            }
        }
        return unfinished.sorted { ($0.began, $0.runDirectory) < ($1.began, $1.runDirectory) }
    }
}
