import APNSBatch
import APNSBatchRecords

/// The timelines of parts, which are added up one after the other.
///
/// Parts are sent at the same time on several machines, so that their rates are added for each second: the time of the campaign is
/// divided into slots of a second, or into longer ones if it took more than a day. Memory depends on neither the parts nor their rows.
struct CourseSum {
    private static let slotsMax = 100_000
    private static let eventsMax = 1_000

    private let begin: Int64
    private let secondsPerSlot: Int64
    private let slotsPerInterval: Int
    private var slots: [CourseSlot]
    private var intervals: [CourseInterval]
    private var events: [RunCourse.Event] = []

    /// Nil without points, or if a clock is wrong by centuries.
    init?(_ span: TimelineSpan) {
        guard let seconds = span.seconds else { return nil }
        begin = span.begin
        secondsPerSlot = (seconds + Int64(Self.slotsMax) - 1) / Int64(Self.slotsMax)
        let count = Int((seconds + secondsPerSlot - 1) / secondsPerSlot)
        slotsPerInterval = (count + RunCourse.intervalsMax - 1) / RunCourse.intervalsMax
        slots = [CourseSlot](repeating: CourseSlot(), count: count)
        let intervalCount = (count + slotsPerInterval - 1) / slotsPerInterval
        intervals = [CourseInterval](repeating: CourseInterval(), count: intervalCount)
    }

    /// Adds the timeline of a part.
    ///
    /// - Parameter forEach: Calls its argument with each point, in the order in which they were recorded.
    mutating func add(part: Int, _ forEach: ((TimelinePoint) -> Void) -> Void) {
        var last: TimelinePoint?
        forEach { point in
            defer { last = point }
            guard let earlier = last else { return }
            guard earlier.session == point.session else {
                let text = "part \(part): \(RunCourse.Event.text(ofSession: point, after: earlier))"
                return add(RunCourse.Event(unixMilliseconds: point.unixMilliseconds, text: text))
            }
            add(point, since: earlier)
        }
    }

    private mutating func add(_ event: RunCourse.Event) {
        events.append(event)
        if events.count >= 2 * Self.eventsMax { events = firstEvents }
    }

    private var firstEvents: [RunCourse.Event] {
        Array(events.sorted { $0.unixMilliseconds < $1.unixMilliseconds }.prefix(Self.eventsMax))
    }

    /// Divides the time between two points of a session among the slots that it touches.
    private mutating func add(_ point: TimelinePoint, since earlier: TimelinePoint) {
        guard point.perSecond(\.requests, since: earlier) != nil, point.perSecond(\.retries, since: earlier) != nil
        else { return }
        let elapsed = Double(point.elapsedMilliseconds - earlier.elapsedMilliseconds) / 1000
        let length = Double(secondsPerSlot)
        let whole = Double(slots.count) * length
        let to = min(whole, max(0, Double(point.unixMilliseconds - begin) / 1000))
        // A time by a clock that is never set.
        let from = max(0, to - elapsed)
        guard to > from else { return }
        let last = slots.count - 1
        for index in min(last, Int(from / length))...min(last, Int(to / length)) {
            let start = Double(index) * length
            let seconds = min(to, start + length) - max(from, start)
            if seconds > 0 { slots[index].add(point, since: earlier, seconds: seconds) }
        }
        let middle = min(last, Int((from + to) / 2 / length))
        intervals[middle / slotsPerInterval].addRows(of: point, since: earlier, for: elapsed)
    }

    /// Nil if there are no figures.
    var course: RunCourse? {
        var intervals = intervals
        for (index, slot) in slots.enumerated() {
            intervals[index / slotsPerInterval].add(slot, length: Double(secondsPerSlot))
        }
        guard intervals.contains(where: { $0.seconds > 0 }) else { return nil }
        var course = RunCourse(intervals, begin: begin, length: secondsPerSlot * Int64(slotsPerInterval))
        course.events = firstEvents
        return course
    }
}

extension RunCourse {
    /// Adds up the timelines of parts. Each is read bit by bit, twice.
    ///
    /// - Parameter directories: The parts that were begun, with their run directories.
    /// - Returns: Nil without a timeline, or if no interval has figures.
    init?(ofParts directories: some Collection<(part: Int, path: String)>) {
        var span = TimelineSpan()
        for (_, path) in directories { Self.forEachPoint(of: path) { span.add($0) } }
        guard var sum = CourseSum(span) else { return nil }
        for (part, path) in directories { sum.add(part: part) { Self.forEachPoint(of: path, $0) } }
        guard let course = sum.course else { return nil }
        self = course
    }
}
