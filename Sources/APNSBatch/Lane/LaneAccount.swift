import APNSProtocol

/// What a lane counts besides outcomes: off the way of a row that goes well.
struct LaneAccount: Sendable, Equatable {
    /// Rows that break a rule, and the first places where one does.
    struct Invalid: Sendable, Equatable {
        var count: UInt64 = 0
        private(set) var places: [Place] = []

        struct Place: Sendable, Equatable {
            var line: UInt64
            var text: String
        }

        static let placesMax = 3

        mutating func add(_ place: Place) {
            count += 1
            keep(place)
        }

        mutating func add(_ other: Invalid) {
            count += other.count
            for place in other.places { keep(place) }
        }

        private mutating func keep(_ place: Place) {
            guard places.count < Self.placesMax || place.line < places[places.count - 1].line else { return }
            let index = places.firstIndex { place.line < $0.line } ?? places.count
            places.insert(place, at: index)
            if places.count > Self.placesMax { places.removeLast() }
        }
    }

    /// By rule.
    private(set) var invalid: [String: Invalid] = [:]
    /// Requests that were followed by another one for the same row, by what became of them.
    private(set) var retries: [String: UInt64] = [:]
    /// Connections that came up, by why they ended.
    private(set) var connectionEnds: [String: UInt64] = [:]
    var answerTimes = AnswerTimes()

    /// Different texts that are counted; a peer may make up any number of them.
    private static let textsMax = 256

    mutating func note(_ finding: RowFinding) {
        invalid[finding.rule.rawValue, default: Invalid()].add(
            .init(line: finding.line, text: "\(finding.file):\(finding.line):\(finding.column)"))
    }

    mutating func noteRetry(after cause: String) { Self.count(cause, in: &retries) }

    mutating func noteEnd(ofConnection cause: String) { Self.count(cause, in: &connectionEnds) }

    private static func count(_ text: String, in counts: inout [String: UInt64]) {
        let isKept = counts[text] != nil || counts.count < textsMax
        counts[isKept ? text : "other", default: 0] += 1
    }

    mutating func add(_ other: LaneAccount) {
        for (rule, rows) in other.invalid { invalid[rule, default: Invalid()].add(rows) }
        retries.merge(other.retries, uniquingKeysWith: +)
        connectionEnds.merge(other.connectionEnds, uniquingKeysWith: +)
        answerTimes.add(other.answerTimes)
    }
}
