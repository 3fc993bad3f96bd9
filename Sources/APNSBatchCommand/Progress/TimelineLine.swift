import APNSBatch
import Foundation

/// A point of a timeline as one JSON object, which `status --follow --json` prints.
struct TimelineLine: Encodable {
    struct AnswerMilliseconds: Encodable {
        var p50: Double
        var p90: Double
        var p99: Double
        var max: Double
    }

    /// RFC 3339, with milliseconds.
    var time: String
    var session: UInt32
    /// `begin`, `second` or `end`.
    var kind: String
    var elapsedSeconds: Double
    var rows: UInt64
    var rowsTotal: UInt64?
    var outcomes: [String: UInt64]
    /// The rows that ended per second, in the last second and in the last minute.
    var perSecond: Double?
    var perSecondInMinute: Double?
    var secondsLeft: Double?
    var requests: UInt64
    var retries: UInt64
    var answers: UInt64
    var answerMs: AnswerMilliseconds?
    var inFlight: UInt32
    var streams: UInt32
    var connections: UInt32
    var connectionsOpened: UInt32
    var retrying: UInt32
    var rateLimit: Double?
    var heldBackBy: String?
    var paused: Bool
    var canary: Bool
    var waiting: Bool
    var bytesRead: UInt64
    var cpuSeconds: Double
    var rssBytes: UInt64

    /// - Parameter window: The points up to this one, which is the latest.
    init(_ point: TimelinePoint, in window: TimelineWindow) {
        let date = Date(timeIntervalSince1970: Double(point.unixMilliseconds) / 1000)
        time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        (session, kind, elapsedSeconds) = (point.session, "\(point.kind)", Double(point.elapsedMilliseconds) / 1000)
        (rows, rowsTotal) = (point.rows, point.rowsTotal)
        outcomes = Dictionary(uniqueKeysWithValues: Outcome.allCases.map { ("\($0.name)", point[$0]) })
        (perSecond, perSecondInMinute) = (window.perSecond(\.rows, over: 1), window.perSecond(\.rows, over: 60))
        secondsLeft = window.secondsLeft
        (requests, retries, answers) = (point.requests, point.retries, point.answers)
        answerMs = point.answerTimes.map { times in
            func milliseconds(_ time: UInt32) -> Double { Double(time) / 1000 }
            return AnswerMilliseconds(
                p50: milliseconds(times.p50), p90: milliseconds(times.p90), p99: milliseconds(times.p99),
                max: milliseconds(times.max))
        }
        (inFlight, streams, retrying) = (point.inFlight, point.streams, point.retrying)
        (connections, connectionsOpened) = (point.connections, point.connectionsOpened)
        (rateLimit, heldBackBy) = (point.rateLimit, point.heldBackBy.map { "\($0)" })
        (paused, canary, waiting) = (point.isPaused, point.isCanary, point.isWaiting)
        (bytesRead, cpuSeconds, rssBytes) = (point.bytesRead, Double(point.cpuMicroseconds) / 1e6, point.rssBytes)
    }
}
