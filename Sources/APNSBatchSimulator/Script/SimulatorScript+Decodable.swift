/// The keys that a mapping of the script may have, and those of the mappings inside it. Decoding passes over a key that it
/// does not know; a misspelt one must be an error.
struct ScriptKeys {
    private let names: [String]
    private let inner: [String: ScriptKeys]

    init<Key: CodingKey & CaseIterable & Hashable>(_: Key.Type, _ inner: [Key: ScriptKeys] = [:]) {
        names = Key.allCases.map(\.stringValue)
        self.inner = Dictionary(uniqueKeysWithValues: inner.map { ($0.key.stringValue, $0.value) })
    }

    /// Throws at the first unknown key of a mapping, or of a list of mappings.
    func check(_ decoder: any Decoder) throws {
        if var list = try? decoder.unkeyedContainer() {
            while !list.isAtEnd { try check(list.superDecoder()) }
            return
        }
        let mapping = try decoder.container(keyedBy: AnyKey.self)
        for key in mapping.allKeys {
            guard names.contains(key.stringValue) else {
                let text = "unknown key \"\(key.stringValue)\"; known are \(names.joined(separator: ", "))"
                throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
            }
            guard let keys = inner[key.stringValue], try !mapping.decodeNil(forKey: key) else { continue }
            try keys.check(mapping.superDecoder(forKey: key))
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension SimulatorScript: Decodable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case seed, rules, latency, faults
        case answersPerSecond = "answers_per_second"
        case rateLimit = "rate_limit"
    }

    private static let keys = ScriptKeys(
        CodingKeys.self,
        [
            .rules: ScriptKeys(SimulatorRule.CodingKeys.self), .latency: ScriptKeys(SimulatorLatency.CodingKeys.self),
            .rateLimit: ScriptKeys(RateLimit.CodingKeys.self), .faults: SimulatorFault.keys,
        ])

    /// Every key may be left out; an unknown one, here or further inside, is an error.
    package init(from decoder: any Decoder) throws {
        try Self.keys.check(decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            seed: try values.decodeIfPresent(UInt64.self, forKey: .seed) ?? 0,
            rules: try values.decodeIfPresent([SimulatorRule].self, forKey: .rules) ?? [],
            latency: try values.decodeIfPresent(SimulatorLatency.self, forKey: .latency) ?? .none,
            answersPerSecond: try values.decodeIfPresent(Int.self, forKey: .answersPerSecond) ?? 0,
            rateLimit: try values.decodeIfPresent(RateLimit.self, forKey: .rateLimit),
            faults: try values.decodeIfPresent([SimulatorFault].self, forKey: .faults) ?? [])
    }
}

extension SimulatorLatency: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case distribution
        case median = "median_ms"
        case minimum = "min_ms"
        case maximum = "max_ms"
        case sigma
    }

    private enum Distribution: String, Decodable {
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
    /// `max_ms`) or lognormal (`median_ms`, `sigma`, perhaps `max_ms`). No other key may stand beside it.
    package init(from decoder: any Decoder) throws {
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
}
