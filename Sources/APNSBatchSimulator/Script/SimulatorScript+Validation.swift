extension SimulatorScript {
    /// Returns the first error of the script, as `rules[2].share: …`, or nil.
    package func fault() -> String? {
        var sum = 0.0
        for (index, rule) in rules.enumerated() {
            if let fault = rule.fault() {
                return "rules[\(index)].\(fault)"
            }
            sum += rule.share
        }
        guard sum <= 1 + 1e-9 else { return "rules: the shares add up to \(sum), more than 1" }
        guard (0...1_000_000_000).contains(answersPerSecond) else {
            return "answers_per_second: expected 0 to 1000000000, found \(answersPerSecond)"
        }
        if let text = rateLimit?.fault() { return "rate_limit.\(text)" }
        for (index, fault) in faults.enumerated() {
            if let text = fault.fault() { return "faults[\(index)].\(text)" }
        }
        return latency.fault().map { "latency.\($0)" }
    }
}

extension SimulatorRule {
    /// Returns the first error, as `status: …`, or nil.
    package func fault() -> String? {
        guard share >= 0, share <= 1 else { return "share: expected 0 to 1, found \(share)" }
        guard (200...599).contains(status) else { return "status: expected 200 to 599, found \(status)" }
        if let reason {
            guard status != 200 else { return "reason: status 200 has no body" }
            let isPlain = reason.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
            guard !reason.isEmpty, reason.utf8.count <= 128, isPlain else {
                return "reason: expected 1 to 128 printable ASCII characters without quotation marks and backslashes"
            }
        }
        if let timestamp {
            guard status == 410 else { return "timestamp: only status 410 has one" }
            guard reason != nil else { return "timestamp: requires a reason" }
            guard timestamp >= 0 else { return "timestamp: expected milliseconds since 1970, found \(timestamp)" }
        }
        if let times, times < 1 || times > Int(UInt32.max) {
            return "times: expected at least 1, found \(times)"
        }
        if let retryAfter, retryAfter < 0 || retryAfter > 86_400 {
            return "retry_after: expected 0 to 86400 seconds, found \(retryAfter)"
        }
        return nil
    }
}

extension SimulatorLatency {
    /// The maximum delay of an answer, in milliseconds.
    package static let longest = 3_600_000.0

    fileprivate func fault() -> String? {
        func check(_ name: String, _ time: Double?) -> String? {
            guard let time, !(time >= 0 && time <= Self.longest) else { return nil }
            return "\(name): expected 0 to 3600000 milliseconds, found \(time)"
        }
        switch self {
        case .none: return nil
        case .fixed(let time): return check("median_ms", time)
        case .uniform(let minimum, let maximum):
            if let fault = check("min_ms", minimum) ?? check("max_ms", maximum) {
                return fault
            }
            return minimum <= maximum ? nil : "min_ms: \(minimum) is more than max_ms, \(maximum)"
        case .exponential(let median, let maximum): return check("median_ms", median) ?? check("max_ms", maximum)
        case .lognormal(let median, let sigma, let maximum):
            guard sigma >= 0, sigma <= 10 else { return "sigma: expected 0 to 10, found \(sigma)" }
            return check("median_ms", median) ?? check("max_ms", maximum)
        }
    }
}
