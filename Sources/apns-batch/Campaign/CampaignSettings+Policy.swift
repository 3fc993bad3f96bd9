import APNSBatch
import Foundation

/// When a campaign sends, when it sends again, and when it stops by itself.
extension CampaignSettings {
    func applyPolicy(to campaign: inout Campaign) throws {
        campaign.notAfter = try notAfter.flatMap { text in
            if text == "never" { return nil }
            guard let time = Campaign.Expiration(text), time != .at(0) else {
                throw UsageError(
                    "--not-after: expected a time such as 2026-01-01T08:00:00Z, or a duration such as 6h, "
                        + "found \"\(text)\"")
            }
            return time
        }
        if let retryDelay { campaign.retryDelay = retryDelay }
        if let unavailableDelay { campaign.unavailableDelay = unavailableDelay }
        if let retryAfterMax { campaign.retryAfterLimit = retryAfterMax }
        if let retryRows { campaign.retryRows = retryRows }
        try applyBreaker(to: &campaign.circuitBreaker)
        campaign.canary = try canaryRows()
    }

    private func applyBreaker(to breaker: inout Campaign.CircuitBreaker) throws {
        for (reason, text) in stopAt ?? [:] {
            if text == "never" {
                breaker.shares[reason] = .never
            } else {
                breaker.shares[reason] = .percent(try Self.percent(text, "--stop-at", "never, or "))
            }
        }
        if let stopWindow { breaker.window = stopWindow }
        if let stopMinimum {
            breaker.minimum = stopMinimum
        } else {
            breaker.minimum = min(breaker.minimum, breaker.window)
        }
    }

    private func canaryRows() throws -> Campaign.Canary? {
        let share = try canaryMaxRejected.map { try Self.percent($0, "--canary-max-rejected") }
        if canary == 0 { return nil }
        guard let canary else {
            if share != nil { throw UsageError("--canary-max-rejected needs --canary") }
            return nil
        }
        return share.map { .init(rows: canary, maxRejectedPercent: $0) } ?? .init(rows: canary)
    }

    /// `5%`, `0.5 %` or `5`.
    private static func percent(_ text: String, _ flag: String, _ other: String = "") throws -> Double {
        let number = text.hasSuffix("%") ? String(text.dropLast()) : text
        guard let percent = Double(number.trimmingCharacters(in: .whitespaces)), (0...100).contains(percent) else {
            throw UsageError("\(flag): expected \(other)a share such as 5%, found \"\(text)\"")
        }
        return percent
    }
}
