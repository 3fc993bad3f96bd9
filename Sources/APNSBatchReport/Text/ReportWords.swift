import APNSBatch
import APNSBatchBasics

/// The sentences that text and page of a report share.
extension RunReport {
    var title: String { campaign.map { "Campaign \($0)" } ?? "Campaign" }

    /// When the run began and ended, in local time.
    var timeText: String {
        guard let began, let ended else { return "\(summary.campaign.began) to \(summary.campaign.ended)" }
        let (from, to) = (localTime.text(began), localTime.text(ended))
        let end = from.prefix(10) == to.prefix(10) ? String(to.dropFirst(11)) : to
        return "\(from) to \(end) \(localTime.zone)"
    }

    /// How long processes worked on the run.
    var workText: String {
        let isPlain = summary.sessions <= max(1, parts?.count ?? 1)
        let sessions = isPlain ? "" : " in \(summary.sessions) sessions"
        return ElapsedTime.text(summary.allSessions.elapsedSeconds) + " of work" + sessions
    }

    /// Where the rows went to; nil if no part was begun.
    var destination: String? {
        summary.campaign.destination.isEmpty ? nil : summary.campaign.destination
    }

    var medianTitle: String? { nights > 0 ? "median of \(nights) nights" : nil }

    /// What an expectation came to: `met`, `NOT MET` or `not judged`.
    static func result(_ expectation: JudgedExpectation) -> String {
        switch expectation.holds {
        case true?: "met"
        case false?: "NOT MET"
        case nil: "not judged"
        }
    }

    /// Whether some figures are lost, because a session was killed.
    var isPartial: Bool { (summary.killedSessions ?? 0) > 0 }

    /// The number of requests, or the least number if some figures are lost: there was one for each attempt.
    var requests: UInt64 {
        isPartial ? max(summary.allSessions.requests, summary.attempts) : summary.allSessions.requests
    }

    /// The requests that followed another one for the same row. The figures of the processes lack those that followed a process:
    /// the rows that were sent again are known from the ledger.
    var repeats: UInt64 { max(summary.allSessions.retries.values.reduce(0, &+), summary.resent) }

    /// Whether there may be more of them.
    var isLeastOfRepeats: Bool { isPartial || repeats > summary.allSessions.retries.values.reduce(0, &+) }

    /// The slowest answer in milliseconds. The timeline has those of killed sessions, too.
    func longestAnswer(_ times: CampaignSummary.AnswerMilliseconds) -> Double {
        max(times.max, course?.longestAnswer ?? 0)
    }

    /// Figures with their names, for the section about speed.
    var speed: [(name: String, value: String)] {
        let work = summary.allSessions
        let least = isPartial ? "at least " : ""
        var lines = [
            ("accepted per second", FigureText.short(work.acceptedPerSecond)),
            ("requests", least + requests.grouped),
            ("requests sent again", (isLeastOfRepeats ? "at least " : "") + Self.counts(work.retries, least: repeats)),
            ("rows that may have arrived twice", summary.resent.grouped),
            ("connections opened", least + work.connectionsOpened.grouped),
            ("connections ended early", least + Self.counts(work.connectionsEnded)),
        ]
        if let times = work.answerTimes {
            let quantiles = [
                ("p50", times.p50), ("p90", times.p90), ("p99", times.p99), ("max", longestAnswer(times)),
            ]
            let texts = quantiles.map { "\($0.0) \(FigureText.milliseconds($0.1))" }
            lines.append(("answer times", texts.joined(separator: ", ")))
        }
        return lines
    }

    /// `1,234 (TooManyRequests 1,200, Shutdown 34)`, or `0`.
    ///
    /// - Parameter least: the number, if more are known than have a cause.
    private static func counts(_ counts: [String: UInt64], least: UInt64 = 0) -> String {
        let all = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let causes = all.map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")
        return max(least, counts.values.reduce(0, &+)).grouped + (all.isEmpty ? "" : " (\(causes))")
    }

    /// The rules that rows break, the most frequent first.
    var invalidRules: [(rule: String, rows: UInt64, places: [String])] {
        summary.invalidRules.sorted { ($1.value.rows, $0.key) < ($0.value.rows, $1.key) }
            .map { ($0.key, $0.value.rows, $0.value.places) }
    }
}
