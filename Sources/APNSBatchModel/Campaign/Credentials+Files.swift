import APNSBatchCredentials

extension Campaign.Credentials {
    /// A signing key as it stands in its file, which may be encrypted.
    ///
    /// - Parameter passphrase: at most 1,024 bytes; ignored when the key is not encrypted.
    /// - Throws: ``CampaignError`` with ``CampaignError/Kind/passphraseNeeded`` or `configuration`.
    public static func signingKey(
        file: [UInt8], passphrase: [UInt8]?, keyID: String, teamID: String
    ) throws(CampaignError) -> Self {
        do {
            let key = try SigningKey(pem: file, passphrase: passphrase)
            return .providerToken(keyPEM: try key.privateKeyPEM, keyID: keyID, teamID: teamID)
        } catch {
            throw explain(error, "signing key")
        }
    }

    /// A client certificate as it stands in its file: PEM with its chain, or PKCS#12, told apart by content.
    ///
    /// - Parameters:
    ///   - keyFile: the private key (PEM), when it is not in the certificate's file.
    ///   - passphrase: of the private key, or of the PKCS#12 file; at most 1,024 bytes.
    /// - Throws: ``CampaignError`` with ``CampaignError/Kind/passphraseNeeded`` or `configuration`.
    public static func clientCertificate(
        file: [UInt8], keyFile: [UInt8]? = nil, passphrase: [UInt8]?
    ) throws(CampaignError) -> Self {
        let key = keyFile ?? file
        do {
            let certificate = try ClientCertificate(file: file.span, key: key.span, passphrase: passphrase)
            return .certificate(chainPEM: certificate.certificatePEM, keyPEM: certificate.keyPEM.unwipedCopy)
        } catch {
            throw explain(error, "client certificate")
        }
    }

    private static func explain(_ error: CredentialError, _ what: String) -> CampaignError {
        CampaignError(error.cause == .encrypted ? .passphraseNeeded : .configuration, "\(what): \(error)")
    }
}

/// What a process that holds keys should do for itself.
public enum ProcessSecrecy {
    /// Keeps the memory of this process out of core files, and away from debuggers of the same user, for good.
    ///
    /// The command does so before it reads a key. A library must not decide it: call it yourself when you hand in
    /// ``Campaign/Credentials``. On Linux it sets `RLIMIT_CORE` to 0 and clears `PR_SET_DUMPABLE`.
    /// - Returns: false where the system refuses.
    @discardableResult
    public static func forbidCoreDumps() -> Bool { CoreDumps.forbid() }
}
