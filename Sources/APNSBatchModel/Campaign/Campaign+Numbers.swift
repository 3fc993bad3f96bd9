import APNSBatchBasics

extension Campaign {
    /// A whole number among the settings of a campaign, with its range: for programs that read settings from elsewhere. Each is a
    /// key of campaign files, too.
    public struct Number: Sendable {
        /// The name in messages: the key of campaign files, with blanks in place of `_`.
        public let name: String
        /// The numbers that are allowed, in the unit.
        public let range: ClosedRange<Int>
        /// The unit that follows a value in messages, such as `ms`; may be empty.
        public let unit: String
        /// The only numbers of the range that are allowed; nil if all are.
        private var choices: [Int]? = nil
        /// Returns nil where the campaign sets no value. A time that is no whole number of units is rounded up, and one
        /// of less than a unit down, so that a time in the range is one afterwards, and others are not.
        private let get: @Sendable (Campaign) -> Int?
        private let put: @Sendable (inout Campaign, Int) -> Void

        /// A unit of time.
        private enum Unit: Int64 {
            case seconds = 1000
            case ms = 1

            /// Returns the number of units, rounded to the outside of a range of positive numbers.
            func count(_ time: Duration) -> Int {
                let milliseconds = time / .milliseconds(1)
                let units = milliseconds / Double(rawValue)
                return units < 1 ? Int(units.rounded(.down)) : Int(min(units, 1e15).rounded(.up))
            }
        }

        private init(
            _ name: String, _ path: WritableKeyPath<Campaign, Duration> & Sendable, _ range: ClosedRange<Int>,
            _ unit: Unit
        ) {
            (self.name, self.range, self.unit) = (name, range, "\(unit)")
            get = { unit.count($0[keyPath: path]) }
            put = { $0[keyPath: path] = .milliseconds(unit.rawValue * Int64($1)) }
        }

        private init(
            _ name: String, _ path: WritableKeyPath<Campaign, Duration?> & Sendable, _ range: ClosedRange<Int>,
            _ unit: Unit
        ) {
            (self.name, self.range, self.unit) = (name, range, "\(unit)")
            get = { $0[keyPath: path].map(unit.count) }
            put = { $0[keyPath: path] = .milliseconds(unit.rawValue * Int64($1)) }
        }

        private init<N: FixedWidthInteger & SendableMetatype>(
            _ name: String, _ path: WritableKeyPath<Campaign, N> & Sendable, _ range: ClosedRange<Int>,
            _ unit: String = ""
        ) {
            (self.name, self.range, self.unit) = (name, range, unit)
            get = { Int(clamping: $0[keyPath: path]) }
            put = { $0[keyPath: path] = N(clamping: $1) }
        }

        private init<N: FixedWidthInteger & SendableMetatype>(
            _ name: String, _ path: WritableKeyPath<Campaign, N?> & Sendable, _ range: ClosedRange<Int>,
            _ unit: String = ""
        ) {
            (self.name, self.range, self.unit) = (name, range, unit)
            get = { $0[keyPath: path].map { Int(clamping: $0) } }
            put = { $0[keyPath: path] = N(clamping: $1) }
        }

        /// - Parameter choices: The only numbers that are allowed; nil for all in the range.
        private init(
            _ name: String, _ range: ClosedRange<Int>, choices: [Int]? = nil,
            get: @escaping @Sendable (Campaign) -> Int?, put: @escaping @Sendable (inout Campaign, Int) -> Void
        ) {
            (self.name, self.range, self.unit, self.choices) = (name, range, "", choices)
            (self.get, self.put) = (get, put)
        }

        /// All numbers of a campaign. Later versions may have more.
        public static let all = [
            Number("min rows", \.minRows, 0...Int.max),
            Number("from row", \.firstRow, 1...Int.max),
            Number("zstd window", \.zstdWindow, 10...31),
            Number("priority", 1...10, choices: [10, 5, 1], get: { $0.headers.priority?.number }) {
                $0.headers.priority = Priority($1)
            },
            Number("canary", 0...Int.max, get: { $0.canary?.rows ?? 0 }) {
                $0.canary = $1 == 0 ? nil : Canary(rows: $1)
            },
            Number("lanes", \.lanes, 1...256),
            Number("connections", \.connections, 1...512),
            Number("streams", \.streams, 1...10_000),
            Number("attempts", \.attempts, 1...1000),
            Number("retry delay", \.retryDelay, 1...86_400_000, .ms),
            Number("unavailable delay", \.unavailableDelay, 1...86_400_000, .ms),
            Number("retry after max", \.retryAfterLimit, 0...2_592_000, .seconds),
            Number("retry rows", \.retryRows, 1...1_000_000),
            Number("stop window", \.circuitBreaker.window, 10...1_000_000_000, "answers"),
            Number("stop minimum", \.circuitBreaker.minimum, 1...1_000_000_000, "answers"),
            Number("request timeout", \.requestTimeout, 1...Int(UInt32.max), .ms),
            Number("answer gathering", \.answerGathering, 0...100, .ms),
            Number("connect patience", \.connectPatience, 1...86_400, .seconds),
            Number("answer patience", \.answerPatience, 1...86_400, .seconds),
            Number("unavailable patience", \.unavailablePatience, 1...86_400, .seconds),
            Number("goaway patience", \.goawayPatience, 1...86_400, .seconds),
            Number("ping after", \.pingAfter, 1...86_400, .seconds),
            Number("ping patience", \.pingPatience, 1...86_400, .seconds),
            Number("token mint after", \.tokenRotation.mintAfter, 1...86_400, .seconds),
            Number("token retire after", \.tokenRotation.retireAfter, 1...86_400, .seconds),
            Number("sync interval", \.syncInterval, 10...60_000, .ms),
        ]

        /// The default value; nil where it depends on other settings or on the machine.
        public var standard: Int? { value(of: Campaign(destination: .production, topic: nil, providers: [])) }

        /// Returns the number that a campaign has; nil if it sets none.
        package func value(of campaign: Campaign) -> Int? { self.get(campaign) }

        /// Sets the number in a campaign.
        ///
        /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if the value is out of range; then nothing changes.
        public func set(_ value: Int, in campaign: inout Campaign) throws(CampaignError) {
            try check(value)
            put(&campaign, value)
        }

        private func check(_ value: Int) throws(CampaignError) {
            guard !(choices?.contains(value) ?? range.contains(value)) else { return }
            throw CampaignError(.configuration, "\(name): expected \(rangeText), found \(value)")
        }

        /// The numbers that are allowed in words, such as `1 to 86400 seconds`.
        public var rangeText: String {
            if let choices { return WordList.text(choices.map { "\($0)" }) }
            let (low, high) = (range.lowerBound, range.upperBound)
            let text = high == .max ? "at least \(low)" : low == 0 ? "at most \(high)" : "\(low) to \(high)"
            return unit.isEmpty ? text : "\(text) \(unit)"
        }

        /// Throws a `configuration` error if a number of the campaign is out of its range.
        package static func check(_ campaign: Campaign) throws(CampaignError) {
            // The rules of the push types decide about priorities.
            for number in all where number.choices == nil {
                if let value = number.get(campaign) { try number.check(value) }
            }
        }
    }
}
