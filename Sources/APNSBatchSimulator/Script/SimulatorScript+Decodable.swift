import APNSBatchBasics

/// The allowed keys of a mapping of the script and of the mappings in it. Decoding ignores unknown keys, but a misspelt
/// key must be an error.
struct ScriptKeys {
    private let names: [String]
    private let inner: [String: ScriptKeys]

    init<Key: CodingKey & CaseIterable & Hashable>(_: Key.Type, _ inner: [Key: ScriptKeys] = [:]) {
        names = Key.allCases.map(\.stringValue)
        self.inner = Dictionary(uniqueKeysWithValues: inner.map { ($0.key.stringValue, $0.value) })
    }

    /// Throws an error for the first unknown key of a mapping, or of a list of mappings.
    func check(_ decoder: any Decoder) throws {
        if var list = try? decoder.unkeyedContainer() {
            while !list.isAtEnd { try check(list.superDecoder()) }
            return
        }
        let mapping = try decoder.container(keyedBy: AnyKey.self)
        for key in mapping.allKeys {
            guard names.contains(key.stringValue) else {
                let text = "unknown key \(key.stringValue.quoted); known are \(names.joined(separator: ", "))"
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

    /// Decodes a script. Every key is optional, and an unknown key at any level is an error.
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

        /// The other keys that are allowed.
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

    /// Decodes `distribution`, which is none, fixed (`median_ms`), uniform (`min_ms`, `max_ms`), exponential
    /// (`median_ms`, optionally `max_ms`) or lognormal (`median_ms`, `sigma`, optionally `max_ms`). No other keys are
    /// allowed.
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
