import APNSBatch
import APNSBatchBasics

/// The plots of a run over time, and the distribution of its answer times.
struct RunPlots {
    private let course: RunCourse
    private let time: LocalTime

    /// Nil for a run that is too short for plots.
    init?(_ report: RunReport) {
        guard let course = report.course, course.canBePlotted else { return nil }
        (self.course, time) = (course, report.localTime)
    }

    var all: [Plot] {
        [throughput, outcomes, failures, answerTimes, streams, connections, retries, waiting].compactMap(\.self)
    }

    private func plot(
        _ title: String, _ unit: String, _ summary: String, _ layers: [PlotLayer], scale: PlotScale? = nil
    ) -> Plot {
        let values = layers.flatMap { $0.values.compactMap(\.self) }
        let ticks = TimeTicks.ticks(from: course.beginsUnixMilliseconds, seconds: course.seconds, in: time)
        return Plot(
            title: title, unit: unit, summary: summary, scale: scale ?? .linear(holding: values), ticks: ticks,
            layers: layers, moments: moments)
    }

    static let momentsMax = 100

    /// The moments of what happened, from 0 to 1.
    private var moments: [Double] {
        course.events.prefix(Self.momentsMax).map { event in
            let position =
                Double(event.unixMilliseconds - course.beginsUnixMilliseconds) / Double(course.seconds * 1000)
            return min(1, max(0, position))
        }
    }

    /// The scale of the requests of one or several runs.
    static func scale(ofThroughput runs: [RunPlots]) -> PlotScale {
        .linear(
            holding: runs.flatMap { $0.course.requestsPerSecond.greatest.compactMap(\.self) },
            andOf: runs.flatMap { $0.course.rateLimitPerSecond.compactMap(\.self) })
    }

    var throughput: Plot { throughput(on: Self.scale(ofThroughput: [self])) }

    func throughput(on scale: PlotScale) -> Plot {
        let requests = course.requestsPerSecond
        var layers = spread(requests, "requests")
        if course.rateLimitPerSecond.contains(where: { $0 != nil }) {
            layers.append(.limit("rate limit", course.rateLimitPerSecond, on: scale))
        }
        let most = requests.greatest.compactMap(\.self).max() ?? 0
        var plot = plot(
            "Throughput", "requests per second", "At most \(FigureText.short(most)) requests in a second.", layers,
            scale: scale)
        plot.spans = course.holds.map { hold in
            PlotSpan(name: hold.cause, color: PlotColor(hold: hold.cause), from: hold.from, to: hold.to)
        }
        return plot
    }

    /// The means of a figure as a line, before the range of its seconds if an interval has more than one.
    private func spread(_ spread: RunCourse.Spread, _ name: String) -> [PlotLayer] {
        let line = PlotLayer(name: name, color: .figure, shape: .line, values: spread.mean)
        guard course.intervalSeconds > 1 else { return [line] }
        let range = PlotLayer(
            name: "range of the seconds", color: .figure, shape: .range, values: spread.greatest, lower: spread.least)
        return [range, line]
    }

    /// Areas on top of each other.
    private func stack(_ outcomes: [Outcome]) -> [PlotLayer] {
        var base = [Double?](repeating: nil, count: course.intervals)
        return outcomes.compactMap { outcome in
            let name = "\(outcome.name)"
            guard let values = course.rowsPerSecond[name] else { return nil }
            let top = zip(base, values).map { base, value in value.map { $0 + (base ?? 0) } }
            defer { base = top }
            return PlotLayer(
                name: name, color: .outcome(outcome), shape: .area, values: top, lower: base)
        }
    }

    private var outcomes: Plot {
        plot("Outcomes", "rows per second", "Rows that ended, by outcome.", stack(Outcome.allCases))
    }

    /// What the plot of all outcomes shows only as a thin line; nil if all rows were accepted.
    private var failures: Plot? {
        let layers = stack(Outcome.allCases.filter { $0 != .accepted })
        guard !layers.isEmpty else { return nil }
        return plot(
            "Rows that were not accepted", "rows per second", "Rows that ended otherwise than accepted, by outcome.",
            layers)
    }

    private var answerTimes: Plot? {
        let times = course.answerTimes
        let layers = [
            PlotLayer(name: "max", color: .slowest, shape: .line, values: times.max),
            PlotLayer(name: "p99", color: .late, shape: .line, values: times.p99),
            PlotLayer(name: "p90", color: .mostly, shape: .line, values: times.p90),
            PlotLayer(name: "p50", color: .median, shape: .line, values: times.p50),
        ]
        let values = layers.flatMap { $0.values.compactMap(\.self) }
        guard let most = values.max() else { return nil }
        var plot = plot(
            "Answer times", "from request to answer",
            "The slowest answer took \(FigureText.milliseconds(most)).", layers, scale: .decades(holding: values))
        plot.label = FigureText.milliseconds
        return plot
    }

    private var streams: Plot {
        let scale = PlotScale.linear(
            holding: course.requestsInFlight.greatest.compactMap(\.self),
            andOf: course.streamsAllowed.compactMap(\.self))
        return plot(
            "Streams", "requests in flight",
            "Requests in flight, and the streams that the connections allow.",
            spread(course.requestsInFlight, "in flight") + [.limit("allowed", course.streamsAllowed, on: scale)],
            scale: scale)
    }

    private var connections: Plot {
        plot(
            "Connections", "established connections", "Connections that are established.",
            [PlotLayer(name: "connections", color: .figure, shape: .line, values: course.connections)])
    }

    /// Nil if there is no value above 0.
    private var retries: Plot? {
        guard course.retriesPerSecond.contains(where: { ($0 ?? 0) > 0 }) else { return nil }
        return plot(
            "Retries", "requests sent again per second",
            "Requests that were followed by another one for the same row, for instance after 429 or 503.",
            [PlotLayer(name: "retries", color: .figure, shape: .area, values: course.retriesPerSecond)])
    }

    private var waiting: Plot? {
        guard course.rowsWaiting.contains(where: { ($0 ?? 0) > 0 }) else { return nil }
        return plot(
            "Rows that wait", "rows", "Rows that wait to be sent again.",
            [
                PlotLayer(
                    name: "rows that wait to be sent again", color: .figure, shape: .area, values: course.rowsWaiting)
            ])
    }

    /// The distribution of the answer times; nil without answers.
    static func distribution(_ report: RunReport) -> Plot? {
        guard let bins = report.summary.allSessions.answerBins else { return nil }
        let total = bins.reduce(0.0) { $0 + Double($1.answers) }
        guard total > 0 else { return nil }
        let shares = bins.map { Double($0.answers) / total * 100 }
        let ticks = bins.enumerated().compactMap { index, bin in
            PlotScale.oneTwoFive(bin.upToMilliseconds).map { time, isPower in
                PlotTick(
                    position: Double(index + 1) / Double(bins.count), label: FigureText.milliseconds(time),
                    isMinor: !isPower)
            }
        }
        return Plot(
            title: "Distribution of answer times", unit: "per cent of the answers",
            summary: "\(UInt64(saturating: total).grouped) answers, by the time from request to answer.",
            scale: .linear(holding: shares), label: { FigureText.decimal($0, digits: 1) }, ticks: ticks,
            layers: [PlotLayer(name: "share of the answers", color: .figure, shape: .bars, values: shares)])
    }
}

extension PlotLayer {
    /// A limit as a dashed line. What is beyond the scale is not drawn, and is named in the legend.
    static func limit(_ name: String, _ values: [Double?], on scale: PlotScale) -> PlotLayer {
        let beyond = values.compactMap(\.self).filter { !scale.holds($0) }.max()
        let note = beyond.map { " (up to \(FigureText.short($0)), beyond the plot)" } ?? ""
        return PlotLayer(
            name: name + note, color: .limit, shape: .dashed,
            values: values.map { $0.flatMap { scale.holds($0) ? $0 : nil } })
    }
}
