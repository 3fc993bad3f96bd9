import APNSBatchCredentials
import APNSBatchModel
import Glibc

/// A client certificate that is over, or nearly.
enum CertificateDates {
    /// How long before its end a certificate is warned about: renewing one takes people some days.
    static let warningDays: Int64 = 30

    /// A warning where its end is near; nil where there is nothing to say.
    /// - Parameter now: seconds since the epoch.
    static func check(_ facts: CertificateFacts, now: Int64) throws(CampaignError) -> String? {
        let name = "client certificate \"\(facts.commonName)\""
        if facts.isExpired(now: now) {
            throw CampaignError(.configuration, "\(name): expired on \(text(facts.notAfter))")
        }
        if facts.isEarly(now: now) {
            throw CampaignError(.configuration, "\(name): is not valid before \(text(facts.notBefore))")
        }
        guard facts.expires(within: warningDays * 86_400, now: now) else { return nil }
        let days = (facts.notAfter - now) / 86_400
        return "\(name) expires on \(text(facts.notAfter)), \(days == 1 ? "in a day" : "in \(days) days")"
    }

    /// `2026-01-31 12:00:00 UTC`.
    static func text(_ seconds: Int64) -> String {
        var seconds = time_t(seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            let length = strftime(buffer.baseAddress!, buffer.count, "%Y-%m-%d %H:%M:%S UTC", &parts)
            return String(decoding: UnsafeRawBufferPointer(UnsafeBufferPointer(buffer)).prefix(length), as: UTF8.self)
        }
    }
}
