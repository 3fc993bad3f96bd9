import APNSBatchMetrics
import APNSBatchModel
import APNSBatchNotification
import Testing

@Suite struct RunMetricsTests {
    private func metrics(_ run: RunMeasurements? = nil, last: LastRun = LastRun()) -> RunMetrics {
        var metrics = RunMetrics(campaign: "nightly", version: "0.2", last: last)
        metrics.run = run
        return metrics
    }

    /// Returns the value of the sample with these labels besides the campaign's; nil if there is none.
    private func value(_ metrics: RunMetrics, _ sample: String, _ labels: [String: String] = [:]) -> Double? {
        let found = metrics.families.flatMap { family in
            family.samples.filter { found in
                family.name + found.suffix == sample
                    && labels.allSatisfy { label in found.labels.contains(.init(label.key, label.value)) }
            }
        }
        return found.count == 1 ? found[0].value : nil
    }

    @Test func `every series is there before the first run, with 0`() {
        let none = metrics()
        #expect(value(none, "apns_batch_last_success_timestamp_seconds") == 0)
        for outcome in Outcome.allCases.map({ "\($0.name)" }) {
            #expect(value(none, "apns_batch_rows_total", ["outcome": outcome]) == 0, "\(outcome)")
            #expect(value(none, "apns_batch_last_run_rows", ["outcome": outcome]) == 0, "\(outcome)")
        }
        #expect(value(none, "apns_batch_responses_total", ["reason": "ExpiredProviderToken", "status": "403"]) == 0)
        #expect(value(none, "apns_batch_state", ["apns_batch_state": "idle"]) == 1)
    }

    @Test func `no series depends on what a server says`() {
        var run = RunMeasurements(CampaignProgress())
        let before = metrics(run).families.map(\.samples.count)
        for text in ["\"} 1\n", "Evil", "", "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"] {
            let answer = Answer(status: 499, reason: .unknown(text))
            run.refusals.counts[RefusalCounts.index(of: answer)] += 1
        }
        run.refusals.counts[RefusalCounts.index(of: Answer(status: 65_535))] += 1
        run.refusals.counts[RefusalCounts.index(of: Answer(status: 410, reason: .known(.unregistered)))] += 1
        var account = LaneAccount()
        for text in [
            "no answer", "429 TooManyRequests", "503 Evil\"", "418", "closed after the server's GOAWAY", "x\n",
        ] {
            account.noteRetry(after: text)
            account.noteEnd(ofConnection: text)
        }
        run.progress.account = account
        let after = metrics(run)
        #expect(after.families.map(\.samples.count) == before)
        #expect(value(after, "apns_batch_responses_total", ["status": "4xx", "reason": "other"]) == 4)
        #expect(value(after, "apns_batch_responses_total", ["status": "other"]) == 1)
        #expect(value(after, "apns_batch_responses_total", ["status": "410", "reason": "Unregistered"]) == 1)
        #expect(value(after, "apns_batch_retries_total", ["cause": "no_answer"]) == 1)
        #expect(value(after, "apns_batch_retries_total", ["cause": "429"]) == 1)
        #expect(value(after, "apns_batch_retries_total", ["cause": "5xx"]) == 1)
        #expect(value(after, "apns_batch_retries_total", ["cause": "other"]) == 3)
        #expect(value(after, "apns_batch_connections_closed_total", ["reason": "goaway"]) == 1)
        #expect(value(after, "apns_batch_connections_closed_total", ["reason": "other"]) == 5)
        let text = MetricText.prometheus.text(of: after.families)
        #expect(!text.contains("Evil") && !text.contains("00fc13ad"))
    }

    @Test func `answers are counted below the bounds, and their sum is within one percent`() {
        var run = RunMeasurements(CampaignProgress())
        for (time, count) in [(3_000, 10), (80_000, 5), (20_000_000, 1)] as [(UInt32, UInt64)] {
            run.answers.buckets[AnswerBucket.index(of: time)] += count
        }
        let name = "apns_batch_response_duration_seconds"
        let counts = ["0.005", "0.05", "0.1", "10.0", "+Inf"].map { value(metrics(run), "\(name)_bucket", ["le": $0]) }
        #expect(counts == [10, 10, 15, 15, 16])
        #expect(value(metrics(run), "\(name)_count") == 16)
        let sum = 10 * 0.003 + 5 * 0.08 + 20
        #expect(abs((value(metrics(run), "\(name)_sum") ?? 0) - sum) < sum / 100)
    }

    @Test func `each client certificate has its end`() {
        var run = RunMeasurements(CampaignProgress())
        let name = "apns_batch_certificate_expiry_timestamp_seconds"
        #expect(metrics(run).families.first { $0.name == name }?.samples.isEmpty == true)
        run.certificateEnds = ["Push \"A\"": 1_800_000_000, "B": 1_900_000_000]
        #expect(value(metrics(run), name, ["provider": "Push \"A\""]) == 1_800_000_000)
        #expect(value(metrics(run), name, ["provider": "B"]) == 1_900_000_000)
    }

    // MARK: The last run

    private var ended: LastRun {
        var last = LastRun()
        last.start = 1_700_000_000.5
        last.end(at: 1_700_003_600, exitCode: 0, isComplete: true)
        var totals = RunTotals()
        for outcome in Outcome.allCases { totals[outcome] = outcome == .accepted ? 12_345_678 : 7 }
        totals[reasonsOf: .rejected] = ["Unregistered": 5, "Evil\"": 1, "x": 1]
        totals[reasonsOf: .unavailable] = ["TooManyRequests": 7]
        last.note(seconds: 3599.5, totals)
        return last
    }

    @Test func `what is known of the last run is read from the file as it was written`() {
        let text = MetricText.prometheus.text(of: metrics(last: ended).families)
        let read = LastRun(in: text, of: "nightly")
        #expect(MetricText.prometheus.text(of: metrics(last: read).families) == text)
        #expect(value(metrics(last: read), "apns_batch_last_run_rows", ["outcome": "accepted"]) == 12_345_678)
        #expect(
            value(metrics(last: read), "apns_batch_last_run_reasons", ["outcome": "rejected", "reason": "other"]) == 2)
        #expect(LastRun(in: text, of: "weekly") == LastRun())
    }

    @Test func `a failed night keeps the last success`() {
        var last = ended
        last.end(at: 1_700_090_000, exitCode: 69, isComplete: false)
        let metrics = metrics(last: last)
        #expect(value(metrics, "apns_batch_last_success_timestamp_seconds") == 1_700_003_600)
        #expect(value(metrics, "apns_batch_last_completion_timestamp_seconds") == 1_700_090_000)
        #expect(value(metrics, "apns_batch_last_exit_code") == 69)
    }

    @Test(arguments: [
        "", "\0\u{FFFD}", "apns_batch_last_exit_code", "apns_batch_last_exit_code{campaign=\"nightly\"} x",
        "apns_batch_last_exit_code{campaign=\"nightly\"} 1e999", "apns_batch_last_run_rows{campaign=\"nightly\"} 5",
        "apns_batch_last_run_rows{campaign=\"nightly\",outcome} 5", "apns_batch_last_other{campaign=\"nightly\"} 5",
    ])
    func `a damaged file yields nothing`(text: String) { #expect(LastRun(in: text, of: "nightly") == LastRun()) }

    // MARK: Movement

    @Test func `a run whose lanes turn moves, and one in which nothing changes for long does not`() {
        var watch = WorkWatch(now: 100)
        var run = RunMeasurements(CampaignProgress())
        watch.note(run, now: 100)
        #expect(watch.isMoving(now: 100 + WorkWatch.patience / 2))
        watch.note(run, now: 100 + WorkWatch.patience)
        #expect(!watch.isMoving(now: 100 + WorkWatch.patience))
        run.turns += 1
        watch.note(run, now: 200)
        #expect(watch.isMoving(now: 201))
    }
}
