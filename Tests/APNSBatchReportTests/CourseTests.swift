import APNSBatch
import APNSBatchModel
import APNSBatchRecords
import Testing

@testable import APNSBatchReport

extension RunCourse {
    /// Divides the timeline that has these points.
    init?(_ points: [TimelinePoint]) { self.init { points.forEach($0) } }
}

@Suite("Course of a run") struct CourseTests {
    @Test("Six hours become at most 360 intervals whose rows are all rows, and no peak is lost")
    func sixHours() throws {
        var points = SampleNights.points(seconds: 21_600)
        // One second in which 50,000 requests more are sent.
        for index in points.indices where index >= 10_000 { points[index].requests += 50_000 }
        let course = try #require(RunCourse(points))
        #expect(course.intervals <= 360 && course.intervalSeconds == 60 && course.seconds == 21_600)
        let most = course.requestsPerSecond.greatest.compactMap(\.self).max() ?? 0
        #expect(50_000...50_400 ~= most, "\(most)")
        let rows = course.rowsPerSecond.values.joined().compactMap(\.self).reduce(0, +) * Double(course.intervalSeconds)
        let all = Double(points.last?.rows ?? 0)
        #expect(abs(rows / all - 1) < 0.01, "\(rows) of \(all)")
        #expect(course.rowsPerSecond.keys.sorted() == ["accepted", "rejected"])
    }

    @Test("While no process works on the run there are no figures, and the next session is an event")
    func gap() throws {
        let first = SampleNights.points(seconds: 60)
        let second = SampleNights.points(seconds: 60, session: 2, from: SampleNights.begin + 120)
        let course = try #require(RunCourse(first + second))
        #expect(course.intervals == 180 && course.intervalSeconds == 1)
        #expect(course.requestsPerSecond.mean[60..<120].allSatisfy { $0 == nil })
        #expect(course.requestsPerSecond.mean[..<60].allSatisfy { $0 != nil })
        #expect(course.events.map(\.text) == ["session 2 begins"])
        #expect(course.events.first?.unixMilliseconds == (SampleNights.begin + 120) * 1000 + 17)
    }

    @Test("What an operator changed is an event, in order of time, and a line in the plots")
    func changes() throws {
        let changes = [
            ["time": SampleNights.begin + 90, "text": "rate 500/s"],
            ["time": SampleNights.begin + 30, "text": "paused"],
        ]
        let summary = try SampleNights.summary(["changes": changes])
        let first = SampleNights.points(seconds: 60)
        let second = SampleNights.points(seconds: 60, session: 2, from: SampleNights.begin + 60)
        let report = SampleNights.report(summary, first + second)
        #expect(report.course?.events.map(\.text) == ["paused", "session 2 begins", "rate 500/s"])
        let page = ReportPage.html(report)
        #expect(page.contains("<li>2026-11-21 03:00:30: <bdi>paused</bdi></li>"))
        #expect(page.contains("<line class=\"moment\" x1=\"75%\" x2=\"75%\""))
    }

    @Test("What holds the run back for most of an interval is named, and equal neighbours are one part")
    func holds() throws {
        var points = SampleNights.points(seconds: 100)
        for index in points.indices {
            points[index].heldBackBy = index <= 40 ? .rate : index <= 70 ? nil : .pushback
            points[index].isPaused = index > 90
        }
        let holds = try #require(RunCourse(points)).holds
        #expect(
            holds == [
                .init(cause: "rate limit", from: 0, to: 40), .init(cause: "pushback", from: 70, to: 90),
                .init(cause: "paused", from: 90, to: 100),
            ])
    }

    @Test("A cause has the same colour in every run, and none has that of an outcome or of a figure")
    func holdColors() throws {
        func spans(_ causes: [CampaignProgress.Hold]) throws -> [PlotSpan] {
            var points = SampleNights.points(seconds: 30)
            for index in points.indices { points[index].heldBackBy = causes[index * causes.count / points.count] }
            let report = SampleNights.report(try SampleNights.summary(), points)
            return try #require(RunPlots(report)).throughput.spans
        }
        let (both, one) = (try spans([.pushback, .rate]), try spans([.rate]))
        #expect(both.map(\.name) == ["pushback", "rate limit"] && one.map(\.name) == ["rate limit"])
        #expect(both[1].color == one[0].color && both[0].color != both[1].color)
        let outcomes = (Outcome.allCases.map { "\($0.name)" } + ["left"]).map { PlotColor(outcome: $0) }
        #expect(
            Set(outcomes).count == Outcome.allCases.count, "only rows that are left share the colour of another outcome"
        )
        for cause in CampaignProgress.Hold.allCases {
            let color = try #require(try spans([cause]).first).color
            #expect(!outcomes.contains(color) && color != .figure && color.number > 0, "\(cause)")
        }
    }

    @Test("A plot has the range of the seconds only if a point stands for several")
    func ranges() throws {
        func ranges(_ seconds: Int) throws -> [String] {
            let report = SampleNights.report(try SampleNights.summary(), SampleNights.points(seconds: seconds))
            let plots = try #require(RunPlots(report)).all
            return plots.filter { $0.layers.contains { $0.shape == .range } }.map(\.title)
        }
        #expect(try ranges(360) == [] && ranges(361) == ["Throughput", "Streams"])
    }

    @Test("A timeline of less than two points has no course, and a clock that is set back does no harm")
    func odd() throws {
        #expect(RunCourse([]) == nil && RunCourse(Array(SampleNights.points(seconds: 1).prefix(1))) == nil)
        var points = SampleNights.points(seconds: 10)
        points[5].unixMilliseconds = points[0].unixMilliseconds - 3_600_000
        #expect((try #require(RunCourse(points))).intervals <= 360)
        points[5].unixMilliseconds = .min
        #expect(RunCourse(points) == nil)
    }

    @Test(
        "A number far from the median of earlier nights is unusual",
        arguments: [
            (100, [100, 100, 100], false), (105, [100, 100, 100], false), (115, [100, 100, 100], true),
            (160, [100, 80, 120, 90, 110], true), (125, [100, 80, 120, 90, 110], false), (0, [5, 5, 5], false),
            (0, [500, 510, 490], true),
        ])
    func deviation(tonight: Double, earlier: [Double], isUnusual: Bool) {
        #expect(NightComparison(tonight, with: earlier).deviates == isUnusual)
    }
}
