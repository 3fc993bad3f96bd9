import APNSBatch
import APNSBatchModel
import APNSBatchRecords
import Foundation

@testable import APNSBatchReport

/// Nights as runs record them.
enum SampleNights {
    /// 2026-11-21 02:00 UTC.
    static let begin: Int64 = 1_795_226_400

    /// Returns a summary from the members of its JSON form that differ from those of a clean night.
    static func summary(_ members: [String: Any] = [:]) throws -> CampaignSummary {
        let work: [String: Any] = [
            "rows": 1_000_000, "accepted": 970_000, "requests": 1_020_000, "retries": ["429 TooManyRequests": 20_000],
            "elapsed_seconds": 21_600.0, "accepted_per_second": 44.9, "connections_opened": 12,
            "connections_ended": ["GOAWAY Shutdown": 3],
            "answer_ms": ["p50": 21.5, "p90": 40.0, "p99": 180.0, "max": 2_400.0, "samples": 1_020_000],
            "answer_bins": (10...35).map { ["up_to_ms": pow(10, Double($0) / 10), "answers": 40_000] },
        ]
        var all: [String: Any] = [
            "rows": 1_000_000, "accepted": 970_000, "rejected": 29_000, "unavailable": 0, "invalid": 1_000,
            "unknown": 0, "expired": 0, "suppressed": 0, "left": 0, "left_is_estimated": false, "attempts": 1_000_000,
            "resent": 0, "sessions": 1, "all_sessions": work, "last_session": work,
            "reasons": ["Unregistered": 28_000, "BadDeviceToken": 1_000], "unavailable_reasons": [:],
            "invalid_rules": ["token-hex": ["rows": 1_000, "places": ["rows.csv:2:1", "rows.csv:9:1"]]],
            "changes": [[String: Any]](), "ending": "complete", "exit_code": 2,
            "verdict": "LOOK: expected invalid == 0, found 1,000; correct the rows",
            "expectations": [
                ["text": "accepted > 0", "metric": "accepted", "limit": 0, "found": 970_000, "holds": true],
                ["text": "invalid == 0", "metric": "invalid", "limit": 0, "found": 1_000, "holds": false],
            ],
            "campaign": [
                "id": "0e2a8c9e-2f7f-4a52-9d0c-0f5d5c6d7e8f", "version": "0.1.0",
                "destination": "api.push.apple.com:443",
                "input": "rows.csv", "input_bytes": 90_000_000, "began": "2026-11-21T02:00:00Z",
                "ended": "2026-11-21T08:00:00Z",
            ],
        ]
        all.merge(members) { $1 }
        return try JSONDecoder().decode(CampaignSummary.self, from: JSONSerialization.data(withJSONObject: all))
    }

    /// Returns the points of a session in which figures change all the time, one a second.
    static func points(seconds: Int, session: UInt32 = 1, from: Int64 = begin, rows before: UInt64 = 0)
        -> [TimelinePoint]
    {
        var point = TimelinePoint(.begin)
        point.session = session
        point[.accepted] = before
        return (0...seconds).map { second in
            point.kind = second == 0 ? .begin : second == seconds ? .end : .second
            point.unixMilliseconds = (from + Int64(second)) * 1000 + 17
            point.elapsedMilliseconds = UInt64(second) * 1000
            let wave = 1 + 0.3 * sin(Double(second) / 900) + 0.1 * sin(Double(second) * 1.7)
            let requests = second == 0 ? 0 : UInt64(240 * wave)
            point.requests += requests
            point.answers += requests
            point[.accepted] += requests * 96 / 100
            point[.rejected] += requests * 4 / 100
            point.retries += second % 600 < 60 ? requests / 5 : 0
            point.retrying = second % 600 < 60 ? UInt32(requests) : 0
            point.answerTimes = .init(
                p50: UInt32(20_000 * wave), p90: UInt32(45_000 * wave), p99: UInt32(160_000 * wave * wave),
                max: UInt32(400_000 * wave * wave))
            point.rateLimit = second > 7_200 ? 300 : 400
            (point.connections, point.streams) = (UInt32(2 + second % 3), UInt32(2_000 + 1_000 * (second % 3)))
            point.inFlight = UInt32(90 * wave)
            point.heldBackBy = second % 600 < 60 ? .pushback : second % 1_800 < 900 ? .rate : nil
            return point
        }
    }

    static func report(
        _ summary: CampaignSummary, _ points: [TimelinePoint], earlier: [RunFigures] = [],
        directory: String = "/runs/nightly/2026-11-21"
    ) -> RunReport {
        let context = ReportContext(
            campaign: "nightly", zone: "Europe/Berlin",
            settings: [.init(key: "rate", value: "400/s"), .init(key: "input", value: "/exports/rows.csv")]
        ) { _ in 3600 }
        return RunReport(directory, summary, context, earlier: earlier, course: RunCourse(points))
    }

    /// A night of six hours that was killed once.
    static func sixHours() throws -> RunReport {
        let first = points(seconds: 9_000)
        let rows = first.last?.accepted ?? 0
        let second = points(seconds: 12_300, session: 2, from: begin + 9_300, rows: rows)
        return report(try summary(), Array(first.dropLast()) + second, earlier: try nights())
    }

    /// Fourteen nights that differ a little.
    static func nights() throws -> [RunFigures] {
        try (1...14).map { night in
            let figures: [String: Any] = [
                "rows": 1_000_000, "accepted": 969_000 + night * 100, "rejected": 30_800 - night * 100,
                "unavailable": 0,
                "invalid": 0, "unknown": 0, "expired": 0, "suppressed": 0,
                "reasons": ["Unregistered": 27_000 + night * 150, "BadDeviceToken": 950 + night], "seconds": 21_000.0,
                "accepted_per_second": 45.0,
            ]
            return try JSONDecoder().decode(RunFigures.self, from: JSONSerialization.data(withJSONObject: figures))
        }
    }
}
