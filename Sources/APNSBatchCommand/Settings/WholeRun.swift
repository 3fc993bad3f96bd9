import APNSBatch
import APNSBatchBasics
import Foundation

/// What holds for all parts of a run together. The program that divides the rows sets it once, keeps it, and gives each part its share.
struct WholeRun: Encodable {
    /// The absolute path of the run directory, without placeholders; nil if the campaign has none.
    let runDirectory: String?
    /// The date on which the night began that it is now, such as `2026-11-29`.
    let night: String
    /// The last moment for requests, such as `2026-11-29T22:00:00Z`; nil for none. A duration counts from now.
    let notAfter: String?
    let minRows: UInt64?
    /// The number of rows that are sent first; nil for none.
    let canary: UInt64?
    /// The share of these rows that may be rejected, in percent.
    let canaryMaxRejected: Double?
    /// The largest number of requests per second; nil for no limit.
    let rate: Double?
    /// The seconds over which the rows are spread; nil for none.
    let spreadSeconds: Double?
    /// The number of sending threads, and of connections of each; nil for the default.
    let lanes: Int?
    let connections: Int?
    /// `files` or `none`; nil for the default.
    let report: String?

    enum CodingKeys: String, CodingKey {
        case night, canary, rate, lanes, connections, report
        case runDirectory = "run_dir"
        case notAfter = "not_after"
        case minRows = "min_rows"
        case canaryMaxRejected = "canary_max_rejected"
        case spreadSeconds = "spread_seconds"
    }

    /// - Parameter campaign: The campaign of the call.
    init(of call: CampaignCall, _ campaign: Campaign) throws {
        let settings = call.settings
        let now = Date.now.timeIntervalSince1970
        runDirectory = settings.runDir.map { CampaignSettings.path($0, from: FileManager.default.currentDirectoryPath) }
        night = try settings.night(at: Int64(now))
        notAfter = campaign.notAfter.map { Timestamp.text(Self.seconds($0, from: now)) }
        minRows = campaign.minRows
        canary = campaign.canary.map { UInt64($0.rows) }
        canaryMaxRejected = campaign.canary.map { Double($0.maxRejectedPercent) }
        rate = campaign.rateLimit.rate?.perSecond
        spreadSeconds = campaign.rateLimit.spread.map { $0 / .seconds(1) }
        report = settings.values["report"]?.text
        (lanes, connections) = (settings.values["lanes"]?.number, settings.values["connections"]?.number)
    }

    private static func seconds(_ deadline: Campaign.Expiration, from now: Double) -> Int64 {
        let seconds =
            switch deadline {
            case .at(let time): Double(time)
            case .after(let time): now + time / .seconds(1)
            }
        return Int64(exactly: min(seconds, 253_402_300_799).rounded(.down)) ?? 0
    }
}
