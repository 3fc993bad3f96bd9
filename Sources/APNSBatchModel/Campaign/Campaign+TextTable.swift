import APNSBatchBasics

extension Campaign.Text {
    /// All texts of a campaign. Later versions may have more.
    public static let all = headers + run + input + limits + connections

    private static let headers: [Self] = [
        Self("topic", any: \.headers.topic),
        Self("push type", \.headers.pushType, of: Campaign.PushType.known) { $0.name },
        Self(
            "expiration", \.headers.expiration, none: nil,
            "seconds since 1970, a time such as 2026-01-01T08:00:00Z, a duration such as 2h, or 0",
            parse: { Campaign.Expiration($0) }, text: { $0.text }),
        Self("collapse id", any: \.headers.collapseID),
        Self("campaign id", \.id, none: nil, "a UUID", parse: { CampaignID($0) }, text: { $0.description }),
    ]

    private static let run: [Self] = [
        Self("name", \.name, ShortName.form, parse: { ShortName.isOne($0) ? $0 : nil }, text: { $0 }),
        Self("run dir", any: \.runDirectory),
        Self("state dir", any: \.stateDirectory),
        Self("result columns", list: \.resultColumns, parse: { $0 }, text: { $0 }),
        Self("report by", list: \.reportBy, parse: { $0 }, text: { $0 }),
        Self("on unknown", \.onUnknown, of: UnknownPolicy.allCases) { $0.name },
        Self(
            "expect", list: \.expectations, parse: { try CampaignExpectation($0) }, text: { $0.description }),
    ]

    private static let input: [Self] = [
        Self("format", \.inputFormat, of: Campaign.InputFormat.allCases) { $0.rawValue },
        Self(
            "delimiter", \.delimiter, "one byte or \"tab\"", words: ["tab"], parse: delimiter,
            text: { $0 == UInt8(ascii: "\t") ? "tab" : String(decoding: [$0], as: UTF8.self) }),
        Self("escape", \.escape, of: Campaign.Escape.allCases) { $0.rawValue },
        Self(
            "require fresh", \.inputAgeLimit, none: nil, "a duration such as 20h", parse: duration, text: text),
    ]

    private static let limits: [Self] = [
        Self(
            "not after", \.notAfter, none: "never", "a time such as 2026-01-01T08:00:00Z, or a duration such as 6h",
            parse: { text in Campaign.Expiration(text).flatMap { $0 == .at(0) ? nil : $0 } }, text: { $0.text }),
        Self(
            "rate", \.rateLimit.rate, none: "none", "a rate such as 2000/s, 120000/min or 3000000/h",
            parse: { Campaign.Rate($0) }, text: { $0.description }),
        Self(
            "ramp", \.rateLimit.ramp, durations, words: ["none"],
            parse: { $0 == "none" ? .zero : duration($0) }, text: { $0 == .zero ? "none" : text($0) }),
        Self("spread", \.rateLimit.spread, none: "none", durations, parse: duration, text: text),
        Self("rate shared", any: \.sharedRatePath),
        Self(
            "canary max rejected", \.canaryMaxRejected, "a share such as 5%",
            parse: Campaign.CircuitBreaker.Share.percent, text: Campaign.CircuitBreaker.Share.text),
    ]

    private static let connections: [Self] = [
        Self(
            "to", \.destination, "production, sandbox or HOST:PORT", words: Campaign.Destination.words,
            isRequired: true, parse: { Campaign.Destination($0) }, text: { $0.text }),
        Self(
            "proxy", \.proxy, none: "none",
            "http://HOST:PORT or http://USER@HOST:PORT; a password is a setting of its own (proxy_password_file)",
            isSecret: true,
            parse: { Campaign.Proxy($0) }, text: { "http://\($0.user.map { "\($0)@" } ?? "")\($0)" }),
        Self("loop", \.loop, of: Campaign.Loop.allCases) { $0.rawValue },
    ]

    private static let durations = "a duration such as 90s, 10m or 2h"

    @Sendable private static func duration(_ text: String) -> Duration? {
        if case .after(let time)? = Campaign.Expiration(text) { time } else { nil }
    }

    @Sendable private static func text(_ time: Duration) -> String? { Campaign.Expiration.after(time).text }

    @Sendable private static func delimiter(_ text: String) -> UInt8? {
        if text == "tab" || text == "\\t" { return UInt8(ascii: "\t") }
        return text.utf8.count == 1 ? text.utf8.first : nil
    }
}

extension Campaign {
    /// The share of the canary, or the default one without a canary, whose share cannot be set.
    fileprivate var canaryMaxRejected: Double {
        get { (canary ?? Canary(rows: 1)).maxRejectedPercent }
        set { canary?.maxRejectedPercent = newValue }
    }
}
