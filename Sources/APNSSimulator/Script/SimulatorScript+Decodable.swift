/// Any key of a mapping, known or not.
private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        self.stringValue = String(intValue)
    }
}

extension Decoder {
    /// Throws when the mapping has a key that is not one of `Key`: a misspelt one must not be passed over.
    func refuseUnknownKeys<Key: CodingKey & CaseIterable>(_: Key.Type) throws {
        let known = Key.allCases.map(\.stringValue)
        for key in try container(keyedBy: AnyKey.self).allKeys where !known.contains(key.stringValue) {
            let text = "unknown key \"\(key.stringValue)\"; known are \(known.joined(separator: ", "))"
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: text))
        }
    }
}

extension SimulatorScript {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case seed, rules, latency, faults
        case answersPerSecond = "answers_per_second"
        case rateLimit = "rate_limit"
    }

    /// Every key may be left out; an unknown one is an error.
    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        seed = try values.decodeIfPresent(UInt64.self, forKey: .seed) ?? 0
        rules = try values.decodeIfPresent([SimulatorRule].self, forKey: .rules) ?? []
        latency = try values.decodeIfPresent(SimulatorLatency.self, forKey: .latency) ?? .none
        answersPerSecond = try values.decodeIfPresent(Int.self, forKey: .answersPerSecond) ?? 0
        rateLimit = try values.decodeIfPresent(RateLimit.self, forKey: .rateLimit)
        faults = try values.decodeIfPresent([SimulatorFault].self, forKey: .faults) ?? []
    }
}

extension SimulatorRule {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case share, status, reason, timestamp, times
        case retryAfter = "retry_after"
    }

    /// `share` and `status` are required; an unknown key is an error.
    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        share = try values.decode(Double.self, forKey: .share)
        status = try values.decode(Int.self, forKey: .status)
        reason = try values.decodeIfPresent(String.self, forKey: .reason)
        timestamp = try values.decodeIfPresent(Int64.self, forKey: .timestamp)
        times = try values.decodeIfPresent(Int.self, forKey: .times)
        retryAfter = try values.decodeIfPresent(Int.self, forKey: .retryAfter)
    }
}

extension SimulatorLatency: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case distribution
        case median = "median_ms"
        case minimum = "min_ms"
        case maximum = "max_ms"
        case sigma
    }

    private enum Distribution: String, Codable {
        case none, fixed, uniform, exponential, lognormal

        /// What may stand beside it.
        var keys: [CodingKeys] {
            switch self {
            case .none: [.distribution]
            case .fixed: [.distribution, .median]
            case .uniform: [.distribution, .minimum, .maximum]
            case .exponential: [.distribution, .median, .maximum]
            case .lognormal: [.distribution, .median, .sigma, .maximum]
            }
        }
    }

    /// `distribution` is none, fixed (`median_ms`), uniform (`min_ms`, `max_ms`), exponential (`median_ms`, perhaps
    /// `max_ms`) or lognormal (`median_ms`, `sigma`, perhaps `max_ms`). Any other key is an error.
    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let distribution = try values.decode(Distribution.self, forKey: .distribution)
        for key in values.allKeys where !distribution.keys.contains(key) {
            let text = "\(key.stringValue) does not belong to the distribution \(distribution.rawValue)"
            throw DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: text)
        }
        let maximum = try values.decodeIfPresent(Double.self, forKey: .maximum)
        switch distribution {
        case .none: self = .none
        case .fixed: self = .fixed(try values.decode(Double.self, forKey: .median))
        case .uniform:
            self = .uniform(
                minimum: try values.decode(Double.self, forKey: .minimum),
                maximum: try values.decode(Double.self, forKey: .maximum))
        case .exponential:
            self = .exponential(median: try values.decode(Double.self, forKey: .median), maximum: maximum)
        case .lognormal:
            self = .lognormal(
                median: try values.decode(Double.self, forKey: .median),
                sigma: try values.decode(Double.self, forKey: .sigma), maximum: maximum)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .none: try values.encode(Distribution.none, forKey: .distribution)
        case .fixed(let time):
            try values.encode(Distribution.fixed, forKey: .distribution)
            try values.encode(time, forKey: .median)
        case .uniform(let minimum, let maximum):
            try values.encode(Distribution.uniform, forKey: .distribution)
            try values.encode(minimum, forKey: .minimum)
            try values.encode(maximum, forKey: .maximum)
        case .exponential(let median, let maximum):
            try values.encode(Distribution.exponential, forKey: .distribution)
            try values.encode(median, forKey: .median)
            try values.encodeIfPresent(maximum, forKey: .maximum)
        case .lognormal(let median, let sigma, let maximum):
            try values.encode(Distribution.lognormal, forKey: .distribution)
            try values.encode(median, forKey: .median)
            try values.encode(sigma, forKey: .sigma)
            try values.encodeIfPresent(maximum, forKey: .maximum)
        }
    }
}
