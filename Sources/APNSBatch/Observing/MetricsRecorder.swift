import APNSBatchBasics
import APNSBatchModel

#if Metrics
    import CoreMetrics

    /// Passes what is measured of a run or a sender on to the metrics of the program: each time, what has been added since the
    /// last time. The handlers are made once, so that every series exists from the beginning.
    ///
    /// Names and labels are those that the command exports (docs/integrate/monitoring.md) where they mean the same.
    final class MetricsRecorder: Sendable {
        /// A count that only grows, and the handlers that show it.
        private struct Counts {
            let counters: [Counter]
            var recorded: [UInt64]
        }

        private struct State {
            var counts: Counts
            var answers = AnswerTimeCounts()
        }

        private let state: Guarded<State>
        private let meters: [Meter]
        private let times: Timer

        /// The number of times of answers that are recorded at once, at most.
        static let sampleSize = 64

        /// - Parameters:
        ///   - name: The value of the label `campaign`.
        ///   - start: What is measured before the first record, which is not recorded.
        /// - Returns: Nil if the metrics are discarded.
        init?(_ receiver: MetricsReceiver, name: String, start: Figures) {
            let factory = receiver.factory
            if factory is NOOPMetricsHandler { return nil }
            func labels(_ own: [(String, String)]) -> [(String, String)] { [("campaign", name)] + own }
            let counters = start.counts.map {
                Counter(label: Self.prefix + $0.name, dimensions: labels($0.labels), factory: factory)
            }
            state = Guarded(State(counts: Counts(counters: counters, recorded: start.counts.map(\.value))))
            meters = start.levels.map {
                Meter(label: Self.prefix + $0.name, dimensions: labels($0.labels), factory: factory)
            }
            times = Timer(
                label: Self.prefix + "response_duration_seconds", dimensions: labels([]), factory: factory)
        }

        private static let prefix = "apns_batch_"

        /// Records what has been added, and the present levels. Calls the handlers of the program, which may block.
        func record(_ figures: Figures) {
            for (meter, level) in zip(meters, figures.levels) { meter.set(level.value) }
            // No other thread waits for this lock for long: only the end of a sender may come beside a tick.
            state.withLock { state in
                for (index, count) in figures.counts.enumerated() where count.value > state.counts.recorded[index] {
                    state.counts.counters[index].increment(by: count.value - state.counts.recorded[index])
                    state.counts.recorded[index] = count.value
                }
                for time in figures.run.answers.since(state.answers).sample(of: Self.sampleSize) {
                    times.recordMicroseconds(time)
                }
                state.answers = figures.run.answers
            }
        }
    }
#else
    /// Records nothing, without the trait `Metrics`.
    final class MetricsRecorder: Sendable {
        init?(_ receiver: MetricsReceiver, name: String, start: Figures) { return nil }
        func record(_ figures: Figures) {}
    }
#endif

/// What is recorded of a run or a sender, always in the same order.
struct Figures {
    /// A figure, and the name and the labels of its metric.
    typealias Named<Value> = (name: String, labels: [(String, String)], value: Value)

    var run: RunMeasurements
    /// Whether the lanes have ended, so that nothing is in flight and there is no connection.
    var isFinal = false
    /// The number of notifications without an outcome; 0 if it is not known.
    var pending = 0
    /// For a sender, the errors by their code.
    var errors: [(code: String, count: UInt64)] = []

    /// What only grows.
    var counts: [Named<UInt64>] {
        let account = run.progress.account ?? LaneAccount()
        var counts: [Named<UInt64>] = Outcome.allCases.map {
            ("notifications_total", [("outcome", "\($0.name)")], run.progress[$0])
        }
        counts += errors.map { ("send_errors_total", [("code", $0.code)], $0.count) }
        counts.append(("requests_total", [], run.progress.requests))
        counts.append(("responses_total", [("status", "200"), ("reason", "")], run.accepted))
        run.refusals.forEach { counts.append(("responses_total", [("status", $0), ("reason", $1)], $2)) }
        counts += account.retriesByCause.map { ("retries_total", [("cause", $0.cause)], $0.count) }
        counts.append(("connections_opened_total", [], UInt64(run.progress.connectionsOpened)))
        counts.append(("goaways_total", [], UInt64(run.progress.goaways)))
        counts += account.connectionEndsByReason.map {
            ("connections_closed_total", [("reason", $0.cause)], $0.count)
        }
        return counts
    }

    /// What rises and falls.
    var levels: [Named<Int>] {
        let progress = isFinal ? CampaignProgress() : run.progress
        return [
            ("notifications_pending", [], pending), ("notifications_retrying", [], progress.retrying),
            ("requests_in_flight", [], progress.inFlight), ("connections", [("state", "up")], progress.connections),
            ("streams_allowed", [], progress.streams),
        ]
    }
}
