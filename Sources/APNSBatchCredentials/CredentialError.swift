import APNSBatchBasics
import CAPNSCrypto

/// Why a key, a certificate or a passphrase could not be used.
///
/// `detail` is one plain English sentence without a full stop. It never holds bytes of a key or of a passphrase, so it
/// may go to a terminal or a log; the caller adds the name of the file.
package struct CredentialError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure, for code that must tell them apart.
    package enum Cause: Int32, Sendable {
        /// There is no PEM block (RFC 7468) in the bytes.
        case notPEM = 1
        /// PEM, but of something else: a certificate where a key was expected.
        case wrongBlock = 2
        /// A key, but of another algorithm or on another curve.
        case wrongKind = 3
        /// Encrypted, and no passphrase was given.
        case encrypted = 4
        /// The passphrase does not open it, or is longer than 1,024 bytes.
        case passphrase = 5
        /// The right PEM block with a content that does not parse or is inconsistent.
        case malformed = 6
        /// Certificate and private key do not belong together.
        case mismatch = 7
        /// Neither a host name nor an IP address.
        case name = 8
        /// OpenSSL or the memory allocator failed; the input is not to blame.
        case library = 9
        /// A key with too few or too many bits.
        case size = 10
        /// A PKCS#12 file without a key, or without the certificate for it.
        case missing = 11
        /// Encrypted with an old algorithm that only OpenSSL's legacy provider has, and that cannot be loaded.
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
    /// From the record that a function of CAPNSCrypto filled.
    init(_ record: apns_error) {
        cause = Cause(rawValue: record.scope) ?? .library
        detail = textOfCharacters(record.text)
    }

    /// Calls a function of CAPNSCrypto with a fresh record; a negative status becomes an error.
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
