import APNSBatchBasics
import CAPNSCrypto

/// The reason why a key, a certificate or a passphrase could not be used.
///
/// `detail` is one English sentence without a full stop. It never contains bytes of a key or of a passphrase, so that
/// it may be logged. The caller adds the file name.
package struct CredentialError: Error, Equatable, CustomStringConvertible {
    package enum Cause: Int32, Sendable {
        /// The bytes contain no PEM block (RFC 7468).
        case notPEM = 1
        /// A PEM block of another type, such as a certificate instead of a key.
        case wrongBlock = 2
        /// A key of another algorithm or curve.
        case wrongKind = 3
        /// Encrypted, but no passphrase was given.
        case encrypted = 4
        /// The passphrase is wrong, or longer than 1,024 bytes.
        case passphrase = 5
        /// A PEM block of the right type whose content cannot be parsed or is inconsistent.
        case malformed = 6
        /// Certificate and private key do not match.
        case mismatch = 7
        /// Neither a host name nor an IP address.
        case name = 8
        /// OpenSSL or a memory allocation failed; not a fault of the input.
        case library = 9
        /// The key has too few or too many bits.
        case size = 10
        /// A PKCS#12 file without a key, or without its certificate.
        case missing = 11
        /// Encrypted with an algorithm of OpenSSL's legacy provider, which cannot be loaded.
        case legacy = 12
    }

    package let cause: Cause
    package let detail: String

    package var description: String { detail }

    package init(cause: Cause, detail: String) {
        self.cause = cause
        self.detail = detail
    }
}

extension CredentialError {
    /// Creates the error from a record that a function of CAPNSCrypto has filled.
    init(_ record: apns_error) {
        cause = Cause(rawValue: record.scope) ?? .library
        detail = textOfCharacters(record.text)
    }

    /// Calls a function of CAPNSCrypto with an error record, and throws if it returns a negative status.
    @discardableResult
    package static func check(
        _ call: (UnsafeMutablePointer<apns_error>) -> Int32
    ) throws(CredentialError) -> Int32 {
        var record = apns_error()
        let status = unsafe call(&record)
        guard status >= 0 else { throw CredentialError(record) }
        return status
    }
}
