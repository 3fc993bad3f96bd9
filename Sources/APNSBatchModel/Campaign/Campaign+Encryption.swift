extension Campaign {
    /// Which keys of the template travel encrypted for the recipient of the row, end to end.
    ///
    /// The payload of a row then holds, beside what stays in the clear, `"encrypted":true`; `content`, the base64 of the
    /// AES encryption of a JSON object of those keys (with GCM the tag follows); and `secret`, the base64 of the RSA
    /// encryption of the AES key and the IV behind it (32 and 12 bytes with GCM, 32 and 16 with CBC). Key and IV are new
    /// for each row. `aps` gets `"mutable-content":1` where it has none, so that the app's notification service extension
    /// is asked.
    public struct Encryption: Sendable, Equatable {
        public enum Cipher: String, Sendable, CaseIterable {
            case aes256GCM = "aes-256-gcm"
            /// Without authentication; for apps that know nothing else.
            case aes256CBC = "aes-256-cbc"
        }

        /// How RSA fills up (RFC 8017 section 7); the mask function of OAEP has the same digest.
        public enum Padding: String, Sendable, CaseIterable {
            case oaepSHA256 = "oaep-sha256"
            case oaepSHA1 = "oaep-sha1"
            /// v1.5; for apps that know nothing else.
            case pkcs1
        }

        /// Top-level keys of the template; not `aps`.
        public var keys: [String]
        /// The column with the recipient's RSA public key of 2,048 to 8,192 bits: PEM, or base64 of its DER.
        public var keyColumn = "public_key"
        public var cipher = Cipher.aes256GCM
        public var padding = Padding.oaepSHA256

        public init(keys: [String]) { self.keys = keys }
    }
}
