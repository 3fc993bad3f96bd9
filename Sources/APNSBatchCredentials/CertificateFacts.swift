import APNSBatchBasics
import CAPNSCrypto

/// What a certificate says of itself.
package struct CertificateFacts: Equatable, Sendable {
    /// First and last second of validity, seconds since 1970-01-01 00:00 UTC.
    package let notBefore: Int64
    package let notAfter: Int64
    /// Common name of the subject, empty if there is none.
    package let commonName: String
    /// UID of the subject, empty if there is none. APNs certificates carry the bundle id or the MDM topic here.
    package let userID: String

    /// Reads the first certificate of a PEM text.
    package init(pem: [UInt8]) throws(CredentialError) {
        var record = apns_crypto_certificate_facts()
        try unsafe CredentialError.check { error in
            unsafe pem.span.lent { unsafe apns_crypto_certificate_read($0, $1, &record, error) }
        }
        self.init(record)
    }

    init(_ record: apns_crypto_certificate_facts) {
        notBefore = record.not_before
        notAfter = record.not_after
        commonName = textOfCharacters(record.common_name)
        userID = textOfCharacters(record.user_id)
    }

    /// Whether it is over so many seconds from now, or already.
    package func expires(within seconds: Int64, now: Int64) -> Bool { notAfter < now + seconds }

    /// Whether it is over.
    package func isExpired(now: Int64) -> Bool { notAfter < now }

    /// Whether it is not valid yet.
    package func isEarly(now: Int64) -> Bool { now < notBefore }
}
