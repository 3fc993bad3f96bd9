import APNSBatchCredentials

extension Campaign.Credentials {
    /// Creates credentials from the content of a signing key's file, which may be encrypted.
    ///
    /// - Parameter passphrase: At most 1,024 bytes; ignored if the key is not encrypted.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/passphraseNeeded`` or ``CampaignError/Code/configuration``.
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

    /// Creates credentials from the content of a client certificate's file: PEM with its chain, or PKCS#12, distinguished by
    /// content.
    ///
    /// - Parameters:
    ///   - keyFile: The content of the private key's file (PEM), if the key is not in the certificate's file.
    ///   - passphrase: The passphrase of the private key or of the PKCS#12 file; at most 1,024 bytes.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/passphraseNeeded`` or ``CampaignError/Code/configuration``.
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

/// Protection of keys in the memory of the process.
public enum ProcessSecrecy {
    /// Excludes the memory of this process from core files, and from debuggers of the same user, permanently.
    ///
    /// The command calls it before it reads a key. The library does not, since it changes the whole process: call it
    /// yourself before you pass ``Campaign/Credentials``. On Linux it sets `RLIMIT_CORE` to 0 and clears `PR_SET_DUMPABLE`.
    ///
    /// - Returns: False if the system does not allow it.
    @discardableResult
    public static func forbidCoreDumps() -> Bool { CoreDumps.forbid() }
}
