import APNSBatchBasics
import CAPNSCrypto

package struct CertificateFacts: Equatable, Sendable {
    /// The first and last second of the validity, in seconds since 1970-01-01 00:00 UTC.
    package let notBefore: Int64
    package let notAfter: Int64
    /// The common name of the subject; empty if there is none.
    package let commonName: String
    /// The UID of the subject; empty if there is none. APNs certificates contain the bundle id or the MDM topic here.
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

    /// Whether the certificate has expired or expires within a number of seconds.
    package func expires(within seconds: Int64, now: Int64) -> Bool { notAfter < now + seconds }

    package func isExpired(now: Int64) -> Bool { notAfter < now }

    package func isEarly(now: Int64) -> Bool { now < notBefore }
}
