import APNSBatch
import APNSBatchModel
import APNSBatchRecords
import Testing

@testable import APNSBatchReport

@Suite("Course of a run in parts") struct PartsCourseTests {
    /// Points of a part, one a second, that sends at a steady rate.
    private static func points(
        seconds: Int, from: Double = 0, rate: UInt64 = 100, connections: UInt32 = 2, p50: UInt32 = 20_000,
        limit: Double? = 400, _ change: (inout TimelinePoint) -> Void = { _ in }
    ) -> [TimelinePoint] {
        (0...seconds).map { second in
            var point = TimelinePoint(second == 0 ? .begin : second == seconds ? .end : .second)
            point.session = 1
            point.unixMilliseconds = SampleNights.begin * 1000 + Int64(from * 1000) + Int64(second) * 1000
            point.elapsedMilliseconds = UInt64(second) * 1000
            point.requests = UInt64(second) * rate
            point[.accepted] = UInt64(second) * rate
            (point.connections, point.streams, point.inFlight, point.retrying) = (connections, 100, 50, 7)
            point.answerTimes = .init(p50: p50, p90: 2 * p50, p99: 3 * p50, max: 4 * p50)
            point.rateLimit = limit
            point.heldBackBy = .rate
            change(&point)
            return point
        }
    }

    private static func course(_ parts: [[TimelinePoint]]) -> RunCourse? {
        var span = TimelineSpan()
        for part in parts { part.forEach { span.add($0) } }
        guard var sum = CourseSum(span) else { return nil }
        for (number, part) in parts.enumerated() { sum.add(part: number) { part.forEach($0) } }
        return sum.course
    }

    @Test("Of parts that are sent at the same time, rates are added, and times of answers are those of the worst")
    func together() throws {
        let course = try #require(
            Self.course([Self.points(seconds: 60), Self.points(seconds: 30, from: 30, rate: 300, p50: 50_000)]))
        #expect(course.intervals == 60 && course.intervalSeconds == 1)
        #expect(course.requestsPerSecond.mean[10] == 100 && course.requestsPerSecond.mean[45] == 400)
        #expect(course.requestsPerSecond.greatest[45] == 400)
        #expect(course.rowsPerSecond["accepted"]?[10] == 100 && course.rowsPerSecond["accepted"]?[45] == 400)
        #expect(course.connections[10] == 2 && course.connections[45] == 4 && course.streamsAllowed[45] == 200)
        #expect(course.requestsInFlight.mean[45] == 100 && course.rowsWaiting[45] == 14)
        #expect(course.rateLimitPerSecond[10] == 400 && course.rateLimitPerSecond[45] == 800)
        #expect(
            course.answerTimes.p50[10] == 20 && course.answerTimes.p50[45] == 50 && course.answerTimes.max[45] == 200)
        #expect(course.holds == [.init(cause: "rate limit", from: 0, to: 60)])
    }

    @Test("Points that are taken within a second add no peak and no gap")
    func phases() throws {
        let parts = (0..<10).map { Self.points(seconds: 40, from: Double($0) * 0.097) }
        let course = try #require(Self.course(parts))
        for index in 2..<39 {
            let rate = try #require(course.requestsPerSecond.mean[index])
            #expect(abs(rate - 1_000) < 1, "\(index): \(rate)")
        }
    }

    @Test("Parts that one machine sends one after the other never seem faster than they were")
    func oneAfterTheOther() throws {
        let parts = (0..<5).map { Self.points(seconds: 20, from: Double($0) * 20.4) }
        let course = try #require(Self.course(parts))
        #expect(course.requestsPerSecond.greatest.compactMap(\.self).max() == 100)
        #expect(course.connections.compactMap(\.self).max() == 2)
        let rows = course.rowsPerSecond["accepted"]?.compactMap(\.self).count ?? 0
        #expect(rows > 95)
    }

    @Test(
        "Six hours and a thousand days are at most 360 intervals with all rows", arguments: [6 * 3_600, 1_000 * 86_400])
    func long(seconds: Int) throws {
        let late = Self.points(seconds: 600, from: Double(seconds - 600), rate: 50)
        let course = try #require(Self.course([Self.points(seconds: 600), late]))
        #expect(course.intervals <= 360 && course.seconds >= seconds)
        let means = course.requestsPerSecond.mean.compactMap(\.self)
        #expect(means.first == 100 && means.last == 50 && means.count < 25, "\(means)")
    }

    @Test("Without a rate limit for one part there is none for all")
    func limits() throws {
        let course = try #require(Self.course([Self.points(seconds: 10), Self.points(seconds: 10, limit: nil)]))
        #expect(course.rateLimitPerSecond.allSatisfy { $0 == nil })
    }

    @Test("What happened is marked with the part, in order of time")
    func events() throws {
        func resumed(_ from: Double) -> [TimelinePoint] {
            Self.points(seconds: 5, from: from) + Self.points(seconds: 5, from: from + 8) { $0.session = 2 }
        }
        let course = try #require(Self.course([resumed(10), resumed(0)]))
        #expect(course.events.map(\.text) == ["part 1: session 2 begins", "part 0: session 2 begins"])
        #expect(course.requestsPerSecond.mean[6] == nil && course.requestsPerSecond.mean[9] != nil)
    }

    @Test("A clock that is set wrong does no harm, and parts without points have no course")
    func odd() throws {
        #expect(Self.course([]) == nil && Self.course([[], []]) == nil)
        var points = Self.points(seconds: 10)
        points[5].unixMilliseconds -= 3_600_000
        points[7].elapsedMilliseconds = .max
        let course = try #require(Self.course([points, Self.points(seconds: 10)]))
        #expect(course.intervals <= 360)
        points[5].unixMilliseconds = .min
        #expect(Self.course([points]) == nil)
    }
}
