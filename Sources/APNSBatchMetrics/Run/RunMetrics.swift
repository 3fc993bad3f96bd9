import APNSBatchModel

/// The metrics of a campaign: those of its last run, and those of the run at hand.
package struct RunMetrics: Sendable {
    /// The name of the campaign, which is a label of every metric.
    package var campaign: String
    package var version: String
    package var last: LastRun
    package var state = RunState.idle
    /// What is measured of the run at hand; nil if there is none.
    package var run: RunMeasurements?

    package init(campaign: String, version: String, last: LastRun) {
        (self.campaign, self.version, self.last) = (campaign, version, last)
    }

    /// Leaves nothing in flight and no connection, as it is after the end of a run.
    package mutating func endConnections() {
        guard var progress = run?.progress else { return }
        (progress.connections, progress.streams, progress.inFlight, progress.retrying) = (0, 0, 0, 0)
        (progress.heldBackBy, progress.rateLimit) = (nil, nil)
        run?.progress = progress
    }

    private var label: MetricFamily.Label { .init("campaign", campaign) }

    /// The families for all readers. A process without a run shows zeros.
    package var families: [MetricFamily] {
        let run = run ?? RunMeasurements(CampaignProgress())
        return last.families(label) + [stateFamily, buildFamily] + rows(run) + requests(run) + connections(run)
            + [certificates(run)] + holds(run) + input(run)
    }

    private var stateFamily: MetricFamily {
        MetricFamily("apns_batch_state", .stateSet, "What the run does; idle if no process works on one.")
            .adding(states: RunState.allCases.map(\.rawValue), current: state.rawValue, [label])
    }

    private var buildFamily: MetricFamily {
        MetricFamily("apns_batch_build", .info, "Version of apns-batch.")
            .adding([label, .init("version", version)], 1)
    }

    // MARK: Rows

    private func rows(_ run: RunMeasurements) -> [MetricFamily] {
        let rows = MetricFamily(
            "apns_batch_rows", .counter, "Rows of the run that have ended, of all its processes, by outcome.")
        return [
            Outcome.allCases.reduce(rows) {
                $0.adding([label, .init("outcome", "\($1.name)")], Double(run.progress[$1]))
            },
            gauge("rows_planned", "Rows of the input: estimated until it has been read, 0 while unknown.")
                .adding([label], Double(run.progress.rowsTotal ?? 0)),
            gauge("rows_waiting", "Rows that wait, by what for: retry is another attempt.")
                .adding([label, .init("for", "retry")], Double(run.progress.retrying)),
        ]
    }

    // MARK: Requests and answers

    private func requests(_ run: RunMeasurements) -> [MetricFamily] {
        [
            counter("requests", "Requests of this process, except those that certainly did not arrive.")
                .adding([label], Double(run.progress.requests)),
            gauge("requests_in_flight", "Requests that wait for their answer.")
                .adding([label], Double(run.progress.inFlight)),
            responses(run), retries(run), durations(run),
        ]
    }

    private func responses(_ run: RunMeasurements) -> MetricFamily {
        var family = counter(
            "responses",
            "Answers to this process, by status and reason; other stands for all reasons that Apple does not document."
        ).adding([label, .init("status", "200"), .init("reason", "")], Double(run.accepted))
        run.refusals.forEach { status, reason, count in
            family = family.adding([label, .init("status", status), .init("reason", reason)], Double(count))
        }
        return family
    }

    private func retries(_ run: RunMeasurements) -> MetricFamily {
        let family = counter("retries", "Requests of this process that another one followed, by cause.")
        return (run.progress.account ?? LaneAccount()).retriesByCause.reduce(family) {
            $0.adding([label, .init("cause", $1.cause)], Double($1.count))
        }
    }

    /// The upper bounds of the buckets, in seconds.
    private static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private func durations(_ run: RunMeasurements) -> MetricFamily {
        let (counts, sum) = run.answers.cumulative(upTo: Self.bounds.map { UInt32($0 * 1_000_000) })
        return MetricFamily(
            "apns_batch_response_duration_seconds", .histogram, unit: "seconds",
            "Time from request to answer, with a precision of one percent."
        ).adding([label], bounds: Self.bounds, counts: counts, sum: sum / 1_000_000)
    }

    // MARK: Connections

    private func connections(_ run: RunMeasurements) -> [MetricFamily] {
        let closed = counter(
            "connections_closed", "Of these, those that ended before the work was done, by reason.")
        let ends = (run.progress.account ?? LaneAccount()).connectionEndsByReason
        return [
            gauge("connections", "Connections by state: up is established.")
                .adding([label, .init("state", "up")], Double(run.progress.connections)),
            gauge("streams_allowed", "Requests that these connections may have in flight.")
                .adding([label], Double(run.progress.streams)),
            counter("connections_opened", "Connections of this process that were established.")
                .adding([label], Double(run.progress.connectionsOpened)),
            ends.reduce(closed) { $0.adding([label, .init("reason", $1.cause)], Double($1.count)) },
        ]
    }

    private func certificates(_ run: RunMeasurements) -> MetricFamily {
        let family = MetricFamily(
            "apns_batch_certificate_expiry_timestamp_seconds", .gauge, unit: "seconds",
            "Time at which a client certificate expires; provider is the name of the certificate.")
        return run.certificateEnds.sorted { $0.key < $1.key }.reduce(family) {
            $0.adding([label, .init("provider", $1.key)], Double($1.value))
        }
    }

    // MARK: Rate and input

    private func holds(_ run: RunMeasurements) -> [MetricFamily] {
        [
            gauge("rate_limit_requests_per_second", "Limit of requests per second that is in force; 0 without one.")
                .adding([label], run.progress.rateLimit ?? 0),
            MetricFamily("apns_batch_held_back", .stateSet, "What keeps the run from sending faster.").adding(
                states: CampaignProgress.Hold.allCases.map { "\($0)" },
                current: run.progress.heldBackBy.map { "\($0)" }, [label]),
        ]
    }

    private func input(_ run: RunMeasurements) -> [MetricFamily] {
        [
            MetricFamily("apns_batch_input_bytes", .counter, unit: "bytes", "Bytes of the input that were read.")
                .adding([label], Double(run.progress.bytesRead)),
            MetricFamily(
                "apns_batch_input_size_bytes", .gauge, unit: "bytes", "Size of the input; 0 for a pipe."
            ).adding([label], Double(run.progress.bytesTotal ?? 0)),
        ]
    }

    private func gauge(_ name: String, _ help: String) -> MetricFamily { .init("apns_batch_\(name)", .gauge, help) }
    private func counter(_ name: String, _ help: String) -> MetricFamily { .init("apns_batch_\(name)", .counter, help) }
}

extension RunMetrics {
    /// The families that describe the process, under the names that all programs use. They are for readers that ask the
    /// process itself.
    ///
    /// - Parameter start: When the process began, in seconds since 1970-01-01 00:00 UTC.
    package static func process(_ run: RunMeasurements, start: Double) -> [MetricFamily] {
        [
            MetricFamily(
                "process_cpu_seconds", .counter, unit: "seconds", "Total user and system CPU time spent in seconds."
            ).adding([], run.cpuSeconds),
            MetricFamily("process_resident_memory_bytes", .gauge, unit: "bytes", "Resident memory size in bytes.")
                .adding([], Double(run.rssBytes)),
            MetricFamily(
                "process_start_time_seconds", .gauge, unit: "seconds",
                "Start time of the process since unix epoch in seconds."
            ).adding([], start),
        ]
    }
}
