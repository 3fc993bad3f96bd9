import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import Glibc

/// Checks the dates of a client certificate.
enum CertificateDates {
    /// The number of days before a certificate's end from which on there is a warning. Renewal can take some days.
    static let warningDays: Int64 = 30

    /// Returns a warning if the certificate's end is near, otherwise nil.
    ///
    /// - Parameter now: In seconds since 1970-01-01 00:00 UTC.
    /// - Throws: A `configuration` error if the certificate is not valid now.
    static func check(_ facts: CertificateFacts, now: Int64) throws(CampaignError) -> String? {
        let name = "client certificate \(facts.commonName.quoted)"
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

    /// Formats a time, such as `2026-01-31 12:00:00 UTC`.
    static func text(_ seconds: Int64) -> String {
        var seconds = time_t(seconds)
        var parts = unsafe tm()
        unsafe gmtime_r(&seconds, &parts)
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            let length = unsafe strftime(buffer.baseAddress!, buffer.count, "%Y-%m-%d %H:%M:%S UTC", &parts)
            return unsafe String(
                decoding: UnsafeRawBufferPointer(UnsafeBufferPointer(buffer)).prefix(length), as: UTF8.self)
        }
    }
}
