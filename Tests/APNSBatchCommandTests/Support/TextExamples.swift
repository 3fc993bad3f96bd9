import APNSBatch

extension Campaign.Text {
    /// Texts that are allowed besides its words.
    var furtherExamples: [String] { Self.examples[name] ?? (isOpen ? ["a", "b"] : []) }

    private static let examples: [String: [String]] = [
        "to": ["localhost:8443", "[::1]:2197", "apns.example:443"], "delimiter": [";", "|", "\\t"],
        "expiration": ["0", "2h", "2026-01-01T08:00:00Z"], "not after": ["6h", "2026-01-01T08:00:00Z"],
        "campaign id": ["0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f10", "0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f11"],
        "name": ["night_1", "a-b"],
        "require fresh": ["20h", "90s"], "rate": ["2000/s", "120000/min", "3000000/h"], "ramp": ["10m"],
        "spread": ["2h"], "canary max rejected": ["5%", "0.5 %", "7"],
        "proxy": ["http://h:1", "http://me@h:1/", "http://a%40b@[::1]:8080"],
        "expect": ["accepted >= 95%", "rows within 30% of median"],
    ]
}
