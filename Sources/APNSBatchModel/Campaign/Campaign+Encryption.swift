extension Campaign {
    /// The keys of the template whose values are sent encrypted for the recipient of the row, end to end.
    ///
    /// The payload of a row then contains, besides the remaining keys, `"encrypted":true`; `content`, the base64 of the AES
    /// encryption of a JSON object with the encrypted keys (with GCM, followed by the authentication tag); and `secret`, the
    /// base64 of the RSA encryption of the AES key followed by the IV (32 and 12 bytes with GCM, 32 and 16 bytes with CBC).
    /// Key and IV are new for each row. `"mutable-content":1` is added to `aps` if it is missing, so that the app's
    /// notification service extension is called.
    public struct Encryption: Sendable, Equatable {
        /// How the encrypted keys are encrypted. The raw values are those of a campaign file.
        @nonexhaustive
        public enum Cipher: String, Sendable, CaseIterable {
            /// AES-256 in GCM mode (NIST SP 800-38D), with a tag of 16 bytes.
            case aes256GCM = "aes-256-gcm"
            /// AES-256 in CBC mode, without authentication, for apps that cannot decrypt GCM.
            case aes256CBC = "aes-256-cbc"
        }

        /// The padding of RSA encryption (RFC 8017, section 7). With OAEP the mask generation function uses the same digest.
        @nonexhaustive
        public enum Padding: String, Sendable, CaseIterable {
            /// RSAES-OAEP with SHA-256.
            case oaepSHA256 = "oaep-sha256"
            /// RSAES-OAEP with SHA-1, for apps that cannot decrypt the former.
            case oaepSHA1 = "oaep-sha1"
            /// RSAES-PKCS1-v1_5, for apps that cannot decrypt OAEP.
            case pkcs1
        }

        /// The encrypted top-level keys of the template. `aps` cannot be one of them.
        public var keys: [String]
        /// The column with the recipient's RSA public key of 2,048 to 8,192 bits, as PEM or as base64 of its DER.
        public var keyColumn = "public_key"
        /// The cipher for the content.
        public var cipher = Cipher.aes256GCM
        /// The padding for the key of the content.
        public var padding = Padding.oaepSHA256

        /// Encrypts these keys, with AES-256-GCM and RSAES-OAEP with SHA-256.
        public init(keys: [String]) { self.keys = keys }
    }
}
