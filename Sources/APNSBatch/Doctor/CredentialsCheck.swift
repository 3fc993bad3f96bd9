import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchNotification
import Glibc

struct CredentialsCheck {
    /// Seconds since 1970-01-01 00:00 UTC.
    let now: Int64

    /// Returns the findings, and the credentials if they are usable.
    func examine(_ credentials: Doctor.Credentials) -> (findings: [Doctor.Finding], usable: RequestCredentials?) {
        switch credentials {
        case .key(let file, let keyID, let teamID, let passphrase): return key(file, keyID, teamID, passphrase)
        case .certificate(let file, let keyFile, let passphrase): return certificate(file, keyFile, passphrase)
        case .issuedToken(let file): return issuedToken(file)
        }
    }

    // MARK: A provider token

    private func issuedToken(_ file: String) -> ([Doctor.Finding], RequestCredentials?) {
        let (findings, secret) = read(file, as: "provider token")
        guard let secret else { return (findings, nil) }
        var bytes = secret.unwipedCopy
        defer { SecretBytes.wipe(&bytes) }
        do {
            let issued = try IssuedToken.read(bytes, now: now)
            let text =
                "\(file) holds a token of team \(issued.issuer.teamID) with key \(issued.issuer.keyID), issued "
                + "\(max(0, now - issued.token.issuedAt) / 60) minutes ago"
            return (
                findings + [.init(.ok, "provider token", text)], RequestCredentials(issued: issued.token.authorization)
            )
        } catch {
            let remedy = "make a new one with apns-batch provider-token"
            return (findings + [.init(.error, "provider token", "\(file): \(error)", remedy: remedy)], nil)
        }
    }

    // MARK: A signing key

    private func key(
        _ file: String, _ keyID: String, _ teamID: String, _ passphrase: [UInt8]?
    ) -> ([Doctor.Finding], RequestCredentials?) {
        var (findings, bytes) = read(file, as: "key file")
        guard let bytes else { return (findings + identifiers(keyID, teamID, file), nil) }
        do {
            let key = try bytes.withSpan { (pem) throws(CredentialError) in
                try SigningKey(pem: pem, passphrase: passphrase)
            }
            findings.append(.init(.ok, "key file", "\(file) holds a P-256 signing key"))
            findings += identifiers(keyID, teamID, file)
            let issuer = try? ProviderToken.Issuer(keyID: keyID, teamID: teamID)
            return (findings, issuer.map { RequestCredentials(key: key, issuer: $0) })
        } catch {
            findings.append(
                .init(
                    .error, "key file", "\(file): \(error)",
                    remedy: Self.remedy(error)
                        ?? "use the .p8 file as downloaded from the developer account; APNs accepts P-256 keys only"))
            return (findings + identifiers(keyID, teamID, file), nil)
        }
    }

    private static func remedy(_ error: CredentialError) -> String? {
        switch error.cause {
        case .encrypted, .passphrase: "give the passphrase that it was encrypted with"
        default: nil
        }
    }

    private func identifiers(_ keyID: String, _ teamID: String, _ file: String) -> [Doctor.Finding] {
        [identifier("key id", keyID), identifier("team id", teamID)] + sameName(keyID, teamID, file)
    }

    private func identifier(_ what: String, _ text: String) -> Doctor.Finding {
        if AppleIdentifier.isWellFormed(text) {
            return .init(.ok, what, "\(text) has the format that Apple uses")
        }
        let isUsable = (try? ProviderToken.Issuer(keyID: text, teamID: text)) != nil
        return .init(
            isUsable ? .warning : .error, what, "expected 10 capital letters and digits, found \(text.quoted)",
            remedy: "copy it from the developer account: key ids are listed under Keys, the team id under Membership")
    }

    /// Compares the key id with the name of the key file, which Apple names by it, and with the team id.
    private func sameName(_ keyID: String, _ teamID: String, _ file: String) -> [Doctor.Finding] {
        var findings: [Doctor.Finding] = []
        let name = file.split(separator: "/").last.map(String.init) ?? file
        if name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") {
            let own = name.dropFirst(8).dropLast(3)
            if own != keyID {
                findings.append(
                    .init(
                        .warning, "key id", "the file is named \(name), but the given key id is \(keyID)",
                        remedy: "give the key id \(own), unless the file was renamed"))
            }
        }
        if keyID == teamID {
            findings.append(
                .init(
                    .warning, "team id", "is the same as the key id",
                    remedy: "give the team id, which is listed under Membership in the developer account"))
        }
        return findings
    }

    // MARK: A client certificate

    private func certificate(
        _ file: String, _ keyFile: String?, _ passphrase: [UInt8]?
    ) -> ([Doctor.Finding], RequestCredentials?) {
        var (findings, chain) = read(file, as: "certificate", isSecret: keyFile == nil)
        var key = chain
        if let keyFile {
            let (found, bytes) = read(keyFile, as: "certificate key")
            findings += found
            key = bytes
        }
        guard let chain, let key else { return (findings, nil) }
        do {
            let certificate = try chain.withSpan { (chain) throws(CredentialError) in
                try key.withSpan { (key) throws(CredentialError) in
                    try ClientCertificate(file: chain, key: key, passphrase: passphrase)
                }
            }
            return (
                findings + facts(certificate.facts, file), RequestCredentials(certificate: certificate)
            )
        } catch {
            findings.append(
                .init(
                    .error, "certificate", "\(file): \(error)",
                    remedy: Self.remedy(error)
                        ?? "give the certificate and its private key as PEM, leaf first, or as PKCS#12"))
            return (findings, nil)
        }
    }

    /// The time before a certificate's end from which on there is a warning, in seconds: 30 days.
    private static let expiryNotice: Int64 = 30 * 86_400

    func facts(_ facts: CertificateFacts, _ file: String) -> [Doctor.Finding] {
        let topic =
            facts.userID.isEmpty
            ? Doctor.Finding(
                .warning, "certificate topic", "\(file) names no app (no UID in its subject)",
                remedy: "use a certificate for Apple Push Notification service")
            : Doctor.Finding(.ok, "certificate topic", "\(file) is for \(facts.userID) (\(facts.commonName))")
        return [dates(facts), topic]
    }

    private func dates(_ facts: CertificateFacts) -> Doctor.Finding {
        let renewal = "get a new certificate from the developer account"
        if facts.notBefore > now {
            return .init(
                .error, "certificate dates", "becomes valid in \(Self.days(facts.notBefore - now))",
                remedy: "check this machine's clock")
        }
        let left = facts.notAfter - now
        if left <= 0 {
            return .init(.error, "certificate dates", "expired \(Self.days(-left)) ago", remedy: renewal)
        }
        return .init(
            left < Self.expiryNotice ? .warning : .ok, "certificate dates", "valid for another \(Self.days(left))",
            remedy: left < Self.expiryNotice ? renewal : nil)
    }

    private static func days(_ seconds: Int64) -> String {
        let days = seconds / 86_400
        return days == 1 ? "1 day" : "\(days) days"
    }

    // MARK: Files

    /// Reads a file, and checks that only its owner can access it if it is secret.
    private func read(
        _ file: String, as what: String, isSecret: Bool = true
    ) -> (findings: [Doctor.Finding], bytes: SecretBytes?) {
        do {
            let (bytes, mode) = try SmallFile.read(file)
            guard isSecret, mode & 0o077 != 0 else { return ([], bytes) }
            let others = mode & 0o007 != 0 ? "everybody" : "its group"
            return (
                [
                    .init(
                        .warning, what, "\(file) is accessible to \(others) (mode \(String(mode & 0o777, radix: 8)))",
                        remedy: "chmod 600 \(file)")
                ], bytes
            )
        } catch {
            return (
                [.init(.error, what, error.description, remedy: "check the file's path and owner")], nil
            )
        }
    }
}

/// Reads files of some kilobytes: keys and certificates.
enum SmallFile {
    static let lengthMax = 1 << 20

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns the content of a file and its mode.
    static func read(_ path: String) throws(Failure) -> (SecretBytes, mode_t) {
        do {
            let file = try OpenFile(path, O_RDONLY, [.file, .pipe])
            file.makeBlocking()
            let bytes = try unsafe SecretBytes(capacity: lengthMax) { (room) throws(OpenFile.Refusal) in
                try unsafe file.read(into: room)
            }
            return (bytes, file.facts.st_mode)
        } catch {
            throw Failure(description: "cannot read \(path): \(error)")
        }
    }
}
