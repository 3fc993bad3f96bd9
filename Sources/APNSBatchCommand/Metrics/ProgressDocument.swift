import APNSBatch
import APNSBatchMetrics

/// The answer to `GET /progress`.
struct ProgressDocument: Encodable {
    let campaign: String
    let state: String
    let elapsedSeconds: Double
    let rows: UInt64
    let rowsTotal: UInt64?
    let outcomes: [String: UInt64]
    let requests: UInt64
    let inFlight: Int
    let retrying: Int
    let connections: Int
    let streams: Int
    let rateLimit: Double?
    let heldBackBy: String?
    let waiting: String?

    enum CodingKeys: String, CodingKey {
        case campaign, state, rows, outcomes, requests, retrying, connections, streams, waiting
        case elapsedSeconds = "elapsed_seconds"
        case rowsTotal = "rows_total"
        case inFlight = "in_flight"
        case rateLimit = "rate_limit"
        case heldBackBy = "held_back_by"
    }

    init(_ progress: CampaignProgress, campaign: String) {
        (self.campaign, state) = (campaign, RunState(progress).rawValue)
        elapsedSeconds = progress.elapsedSeconds
        (rows, rowsTotal) = (progress.rows, progress.rowsTotal)
        outcomes = Dictionary(uniqueKeysWithValues: Outcome.allCases.map { ("\($0.name)", progress[$0]) })
        (requests, inFlight, retrying) = (progress.requests, progress.inFlight, progress.retrying)
        (connections, streams) = (progress.connections, progress.streams)
        (rateLimit, heldBackBy) = (progress.rateLimit, progress.heldBackBy.map { "\($0)" })
        waiting = progress.waiting?.description
    }
}
