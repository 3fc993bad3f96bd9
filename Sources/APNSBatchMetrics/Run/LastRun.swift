import APNSBatchModel
import APNSBatchNotification

/// What is known of the last run of a campaign that ended: the metrics that outlive a process. Times are in seconds since
/// 1970-01-01 00:00 UTC, and 0 if there was none.
package struct LastRun: Sendable, Equatable {
    /// When the last process began to work on a run.
    package var start = 0.0
    /// When a process last ended, in whatever way.
    package var completion = 0.0
    /// When a run was last complete: exit code 0 or 2.
    package var success = 0.0
    /// The exit code of the last process that ended.
    package var exitCode = 0.0
    /// The time that the processes of the last run worked on it, in seconds.
    package var duration = 0.0
    /// The number of runs with rows left when the last process ended, and of those rows.
    package var unfinishedRuns = 0.0
    package var unfinishedRows = 0.0
    package var rows: [String: Double] = [:]
    package var reasons: [Refusal: Double] = [:]

    /// A reason for which rows have an outcome.
    package struct Refusal: Hashable, Sendable {
        package var outcome: String
        package var reason: String

        package init(outcome: String, reason: String) { (self.outcome, self.reason) = (outcome, reason) }
    }

    package init() {}

    /// Notes the end of a process.
    ///
    /// - Parameters:
    ///   - time: In seconds since 1970-01-01 00:00 UTC.
    ///   - isComplete: Whether every row of the run has an outcome.
    package mutating func end(at time: Double, exitCode: Int32, isComplete: Bool) {
        (completion, self.exitCode) = (time, Double(exitCode))
        if isComplete { success = time }
    }

    /// Notes the result of the run.
    ///
    /// - Parameters:
    ///   - seconds: The time that processes worked on it.
    ///   - totals: Its rows by outcome and reason.
    package mutating func note(seconds: Double, _ totals: RunTotals) {
        duration = seconds
        (rows, reasons) = ([:], [:])
        for outcome in Outcome.allCases {
            rows["\(outcome.name)"] = Double(totals[outcome])
            for (reason, count) in totals[reasonsOf: outcome] {
                let known = Refusal(outcome: "\(outcome.name)", reason: Self.bounded(reason))
                reasons[known, default: 0] += Double(count)
            }
        }
    }

    /// Returns a reason that APNs documents, or `other`: a server may send any text.
    static func bounded(_ reason: String) -> String {
        if case .known = Reason(rawValue: reason) { reason } else { "other" }
    }
}

extension LastRun {
    /// The families, each with a sample for every outcome and every reason.
    ///
    /// - Parameter campaign: The label of the campaign.
    func families(_ campaign: MetricFamily.Label) -> [MetricFamily] {
        var rows = Self.rowsFamily
        for outcome in Outcome.allCases {
            rows = rows.adding([campaign, .init("outcome", "\(outcome.name)")], self.rows["\(outcome.name)"] ?? 0)
        }
        var reasons = Self.reasonsFamily
        for refusal in Self.usual + self.reasons.keys.filter({ !Self.usual.contains($0) }).sorted(by: Self.precedes) {
            let labels = [campaign, .init("outcome", refusal.outcome), .init("reason", refusal.reason)]
            reasons = reasons.adding(labels, self.reasons[refusal] ?? 0)
        }
        return Self.numbers.map { $0.family.adding([campaign], self[keyPath: $0.path]) } + [rows, reasons]
    }

    private static func precedes(_ one: Refusal, _ other: Refusal) -> Bool {
        (one.outcome, one.reason) < (other.outcome, other.reason)
    }

    /// Every known reason with its usual outcome, and `other` with both.
    private static let usual: [Refusal] =
        KnownReason.allCases.map {
            Refusal(
                outcome: "\(($0.rule.status == 429 || $0.rule.status >= 500 ? Outcome.unavailable : .rejected).name)",
                reason: $0.text)
        } + Outcome.allCases.filter(\.isAnswered).map { Refusal(outcome: "\($0.name)", reason: "other") }

    private static let prefix = "apns_batch_last_"

    /// The families with one sample each.
    private static var numbers: [(family: MetricFamily, path: WritableKeyPath<LastRun, Double>)] {
        [
            (
                MetricFamily(
                    prefix + "start_timestamp_seconds", .gauge, unit: "seconds",
                    "Time at which the last process began to work on a run."), \.start
            ),
            (
                MetricFamily(
                    prefix + "completion_timestamp_seconds", .gauge, unit: "seconds",
                    "Time at which the last process ended, in whatever way; 0 if there was none."), \.completion
            ),
            (
                MetricFamily(
                    prefix + "success_timestamp_seconds", .gauge, unit: "seconds",
                    "Time at which a run was last complete, with exit code 0 or 2; 0 if there was none."), \.success
            ),
            (
                MetricFamily(prefix + "exit_code", .gauge, "Exit code of the last process that ended."), \.exitCode
            ),
            (
                MetricFamily(
                    prefix + "run_duration_seconds", .gauge, unit: "seconds",
                    "Time that processes worked on the last run that ended."), \.duration
            ),
            (
                MetricFamily(
                    prefix + "unfinished_runs", .gauge,
                    "Runs of the campaign with rows left, when the last process ended that had a run."),
                \.unfinishedRuns
            ),
            (
                MetricFamily(
                    prefix + "unfinished_rows", .gauge,
                    "Rows of these runs without an outcome, as far as their number is known."), \.unfinishedRows
            ),
        ]
    }

    private static let rowsFamily = MetricFamily(
        prefix + "run_rows", .gauge, "Rows of the last run that ended, by outcome.")
    private static let reasonsFamily = MetricFamily(
        prefix + "run_reasons", .gauge,
        "Rows of the last run that ended, by the reason of APNs; other stands for all that Apple does not document.")
}

extension LastRun {
    /// Reads what a file of metrics in the Prometheus text format holds of a campaign's last run. Lines of another form are
    /// ignored, so that a damaged file yields less.
    package init(in text: String, of campaign: String) {
        let numbers = Dictionary(uniqueKeysWithValues: Self.numbers.map { ($0.family.name, $0.path) })
        let label = MetricFamily.Label("campaign", campaign)
        for line in text.split(separator: "\n") where line.hasPrefix(Self.prefix) {
            guard let line = Line(line), line.labels["campaign"] == label.value else { continue }
            let outcome = line.labels["outcome"].flatMap { Self.outcomes.contains($0) ? $0 : nil }
            let reason = line.labels["reason"]
            if let path = numbers[line.name] {
                self[keyPath: path] = line.value
            } else if line.name == Self.rowsFamily.name, let outcome {
                rows[outcome] = line.value
            } else if line.name == Self.reasonsFamily.name, let outcome, let reason, line.value > 0 {
                reasons[Refusal(outcome: outcome, reason: Self.bounded(reason))] = line.value
            }
        }
    }

    private static let outcomes = Set(Outcome.allCases.map { "\($0.name)" })

    /// A sample as `MetricText` writes it, if the values of its labels have no commas and need no escapes.
    private struct Line {
        let name: String
        let labels: [String: String]
        let value: Double

        init?(_ text: Substring) {
            guard let start = text.firstIndex(of: "{"), let end = text.lastIndex(of: "}"), start < end,
                text[end...].hasPrefix("} "), let value = Double(text[end...].dropFirst(2)), value.isFinite
            else { return nil }
            let pairs = text[start..<end].dropFirst().split(separator: ",").map {
                $0.split(separator: "=", maxSplits: 1).map(String.init)
            }
            guard pairs.allSatisfy({ $0.count == 2 && $0[1].count >= 2 }) else { return nil }
            name = String(text[..<start])
            labels = Dictionary(pairs.map { ($0[0], String($0[1].dropFirst().dropLast())) }) { first, _ in first }
            self.value = value
        }
    }
}
