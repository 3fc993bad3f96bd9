import APNSBatch
import APNSBatchBasics
import APNSBatchMetrics
import Foundation
import Synchronization

/// Publishes the metrics of a campaign: in the file of `metrics_textfile` and at the address of `metrics_listen`, or in
/// neither.
final class MetricsPublisher: Sendable {
    private let call: CampaignCall
    private let campaign: String
    private let file: MetricsFile?
    private let address: ListeningAddress?
    private let interval: Double
    private let state: Mutex<State>

    private struct State {
        /// Nil until a run begins or is refused. Another process may write the file until then.
        var metrics: RunMetrics?
        var watch = WorkWatch(now: SystemClock.monotonicSeconds())
        var hasWarned = false
    }

    /// Writes nothing yet.
    ///
    /// - Throws: ``UsageError`` if the file cannot be written.
    init(_ call: CampaignCall) throws {
        self.call = call
        campaign = call.name ?? "campaign"
        file = try call.settings.metricsTextfile.map { [campaign] in try MetricsFile($0, campaign: campaign) }
        address = call.settings.metricsListen.flatMap(ListeningAddress.init)
        // The table of settings refuses a number out of range.
        interval = Double(call.settings.values["metricsInterval"]?.number ?? 15)
        state = Mutex(State())
    }

    // MARK: During a run

    /// Publishes the metrics of a run from now on.
    ///
    /// - Throws: An exit code if the address cannot be used.
    /// - Returns: What to end when the run has ended.
    func begin(_ run: CampaignRun, say: (String) -> Void) throws -> Publication {
        guard file != nil || address != nil else { return Publication() }
        change {
            $0.last.start = Date.now.timeIntervalSince1970
            $0.state = .sending
        }
        let endpoint = try listen(to: run)
        if let endpoint { say("metrics: \(endpoint.url)/metrics") }
        return Publication(endpoint: endpoint, following: Task { await follow(run) })
    }

    /// The publishing of a run.
    struct Publication {
        fileprivate var endpoint: MetricsEndpoint?
        fileprivate var following: Task<Void, Never>?

        func end() async {
            following?.cancel()
            await following?.value
            endpoint?.stop()
        }
    }

    private func listen(to run: CampaignRun) throws -> MetricsEndpoint? {
        guard let address else { return nil }
        let started = Date.now.timeIntervalSince1970
        return try APNSBatchCommand.reporting(call.located) {
            try MetricsEndpoint(address) { self.answer($0, run, started) }
        }
    }

    /// Returns the answer to a request.
    ///
    /// - Parameter started: When the process began, in seconds since 1970-01-01 00:00 UTC.
    private func answer(_ question: HTTPQuestion, _ run: CampaignRun, _ started: Double) -> HTTPReply {
        switch question.path {
        case "/metrics":
            let format = MetricText(accept: question.accept)
            note(run)
            let families = families + RunMetrics.process(run.measurements, start: started)
            return HTTPReply(200, format.contentType, format.text(of: families))
        case "/progress":
            let document = ProgressDocument(run.progress, campaign: campaign)
            return HTTPReply(200, "application/json", ((try? JSONLine.text(document)) ?? "{}") + "\n")
        case "/healthz":
            let isMoving = state.withLock { $0.watch.isMoving(now: SystemClock.monotonicSeconds()) }
            return isMoving ? HTTPReply(200, "ok\n") : HTTPReply(503, "nothing moves\n")
        default: return HTTPReply(404, "there are /metrics, /progress and /healthz\n")
        }
    }

    /// Looks at the run each second, and writes the file when the state has changed or the interval is over.
    private func follow(_ run: CampaignRun) async {
        var (written, due) = (RunState.idle, 0.0)
        repeat {
            let now = SystemClock.monotonicSeconds()
            let state = note(run)
            if state != written || now >= due {
                write()
                (written, due) = (state, now + interval)
            }
        } while (try? await Task.sleep(for: .seconds(1))) != nil
        note(run)
    }

    @discardableResult
    private func note(_ run: CampaignRun) -> RunState {
        let measurements = run.measurements
        return state.withLock { state in
            state.watch.note(measurements, now: SystemClock.monotonicSeconds())
            state.metrics?.run = measurements
            state.metrics?.state = RunState(measurements.progress)
            return state.metrics?.state ?? .idle
        }
    }

    // MARK: The end

    /// Publishes how a run ended, or that it did not begin.
    func end(_ end: RunEnd) {
        change { metrics in
            let now = Date.now.timeIntervalSince1970
            metrics.state = .idle
            metrics.endConnections()
            metrics.last.end(at: now, exitCode: end.exitCode.rawValue, isComplete: end.summary?.ending == .complete)
            guard let summary = end.summary else { return }
            let others = (summary.unfinished ?? []).compactMap(\.left).reduce(0, +)
            let own = summary.ending == .complete ? 0 : summary.left ?? 0
            metrics.last.unfinishedRuns = Double(
                (summary.unfinished ?? []).count + (summary.ending == .complete ? 0 : 1))
            metrics.last.unfinishedRows = Double(others + own)
            metrics.last.note(seconds: summary.allSessions.elapsedSeconds, summary.totals)
        }
        write()
    }

    private var families: [MetricFamily] { state.withLock { $0.metrics?.families ?? [] } }

    private func change(_ body: (inout RunMetrics) -> Void) {
        state.withLock { state in
            var metrics =
                state.metrics
                ?? RunMetrics(
                    campaign: campaign, version: ProductVersion.current,
                    last: LastRun(in: file?.text ?? "", of: campaign))
            body(&metrics)
            state.metrics = metrics
        }
    }

    /// Writes the file. Only the first failure is reported, because the run does not depend on it.
    private func write() {
        guard let file else { return }
        do {
            try file.write(MetricText.prometheus.text(of: families))
        } catch {
            let isFirst = state.withLock { state in
                defer { state.hasWarned = true }
                return !state.hasWarned
            }
            if isFirst { complain("warning: metrics_textfile: \(error)") }
        }
    }
}
