import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchIdentities
import Glibc

/// A certificate and a signing key that are generated for a simulator and its sender when none are given.
package struct Occasion: Sendable {
    package static let keyID = "SIMULATOR1"
    package static let teamID = "SIMTEAM001"

    /// The certificate that the sender must trust, as PEM.
    package let authorityPEM: [UInt8]
    package let certificatePEM: [UInt8]
    package let keyPEM: [UInt8]
    /// The key with which the sender signs provider tokens, as PEM.
    package let signingKeyPEM: [UInt8]
    package let publicKeyPEM: [UInt8]

    /// - Parameters:
    ///   - hosts: the names and addresses in the certificate.
    ///   - days: the validity of the certificate.
    package static func make(hosts: [String], days: Int = 30) throws(SimulatorError) -> Occasion {
        do {
            let identity = try ServerIdentity.make(hosts: hosts, days: days)
            let signer = try SigningKey.generate()
            return Occasion(
                authorityPEM: identity.caPEM, certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM,
                signingKeyPEM: try signer.privateKeyPEM, publicKeyPEM: try signer.publicKeyPEM)
        } catch {
            throw .configuration("cannot make a certificate: \(error)")
        }
    }

    /// Creates a client certificate for an app. The `clientAuthorityPEM` of the simulator must be that certificate.
    package static func client(app: String) throws(SimulatorError) -> (certificatePEM: [UInt8], keyPEM: [UInt8]) {
        do {
            let client = try SelfSignedClient.make(userID: app)
            return (client.certificatePEM, client.keyPEM)
        } catch {
            throw .configuration("cannot make a client certificate: \(error)")
        }
    }
}

extension SimulatorConfiguration {
    /// The certificate of an occasion, and its signing key as the only one that is known.
    package init(_ occasion: Occasion) {
        self.init(
            certificatePEM: occasion.certificatePEM, keyPEM: occasion.keyPEM,
            providerKeys: [
                .init(keyID: Occasion.keyID, teamID: Occasion.teamID, publicKeyPEM: occasion.publicKeyPEM)
            ])
    }
}

/// A directory in which simulators store the certificate and the signing key that they generated. All simulators that
/// are started with the same directory use the same ones, even at the same time.
///
/// `simulator.pem` contains everything, and its first line shows that a simulator created it. The two files that a
/// sender needs are stored beside it and must have the same content. Files of other programs are never overwritten.
package struct OccasionDirectory {
    package static let authorityFile = "ca.pem"
    package static let signingKeyFile = "AuthKey.p8"
    private static let ownFile = "simulator.pem"
    private static let mark =
        "# Made by apns-batch simulate; its server certificate and keys are trusted nowhere else.\n"
    /// The validity of the certificate, in days.
    private static let days = 3650
    private static let lengthMax = 64 * 1024

    private let path: String
    private let hosts: [String]

    /// - Parameters:
    ///   - path: the path of the directory, which is created if it does not exist.
    ///   - hosts: the names and addresses in the certificate.
    package init(_ path: String, hosts: [String]) {
        self.path = path
        self.hosts = hosts
    }

    /// Returns what an earlier simulator stored in the directory, or creates it.
    package func occasion() throws(SimulatorError) -> Occasion {
        guard unsafe mkdir(path, 0o755) == 0 || errno == EEXIST else { throw cannot("create", path) }
        let occasion: Occasion
        if let found = try earlier() { occasion = found } else { occasion = try make() }
        try keep(occasion.authorityPEM, as: Self.authorityFile, readers: .everybody)
        try keep(occasion.signingKeyPEM, as: Self.signingKeyFile, readers: .owner)
        return occasion
    }

    private func make() throws(SimulatorError) -> Occasion {
        for name in [Self.authorityFile, Self.signingKeyFile] where unsafe access("\(path)/\(name)", F_OK) == 0 {
            // Another simulator may have created the files in the meantime.
            if let occasion = try earlier() { return occasion }
            throw foreign(name)
        }
        let occasion = try Occasion.make(hosts: hosts, days: Self.days)
        let isMine = try writing { () throws(OutputFileError) in
            try OutputFile.create(text(of: occasion), at: "\(path)/\(Self.ownFile)", readers: .owner)
        }
        if isMine { return occasion }
        guard let occasion = try earlier() else { throw foreign(Self.ownFile) }
        return occasion
    }

    /// Writes a file for the sender, or checks that it exists with this content.
    private func keep(_ bytes: [UInt8], as name: String, readers: OutputFile.Readers) throws(SimulatorError) {
        let isNew = try writing { () throws(OutputFileError) in
            try OutputFile.create(bytes, at: "\(path)/\(name)", readers: readers)
        }
        if isNew { return }
        guard try read(name) == bytes else { throw foreign(name) }
    }

    // MARK: The simulator's own file

    private func text(of occasion: Occasion) -> [UInt8] {
        let parts = [occasion.certificatePEM, occasion.keyPEM, occasion.authorityPEM, occasion.signingKeyPEM]
        return Array((Self.mark + hostsLine).utf8)
            + parts.flatMap { Array("#\n".utf8) + $0 }
    }

    private var hostsLine: String { "# For \(Set(hosts).sorted().joined(separator: " "))\n" }

    /// Returns the content of `simulator.pem`, or nil if it does not exist.
    private func earlier() throws(SimulatorError) -> Occasion? {
        guard let bytes = try read(Self.ownFile) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix(Self.mark) else { throw foreign(Self.ownFile) }
        guard text.dropFirst(Self.mark.count).hasPrefix(hostsLine) else {
            throw .configuration(
                "\(path)/\(Self.ownFile) is the certificate of another host; name another --directory")
        }
        let parts = text.dropFirst(Self.mark.count + hostsLine.count).split(separator: "#\n").map { Array($0.utf8) }
        guard parts.count == 4, let publicKey = try? SigningKey(pem: parts[3]).publicKeyPEM else {
            throw .configuration(
                "\(path)/\(Self.ownFile) is damaged; remove the directory, or name another --directory")
        }
        return Occasion(
            authorityPEM: parts[2], certificatePEM: parts[0], keyPEM: parts[1], signingKeyPEM: parts[3],
            publicKeyPEM: publicKey)
    }

    /// Returns the content of a file, or nil if it does not exist.
    private func read(_ name: String) throws(SimulatorError) -> [UInt8]? {
        do {
            return try OpenFile.content(of: "\(path)/\(name)", most: Self.lengthMax)
        } catch .system(ENOENT) {
            return nil
        } catch {
            throw .configuration("cannot read \(path)/\(name): \(error)")
        }
    }

    // MARK: Errors

    private func writing<T>(_ body: () throws(OutputFileError) -> T) throws(SimulatorError) -> T {
        do {
            return try body()
        } catch {
            throw .configuration(error.description)
        }
    }

    private func cannot(_ action: String, _ path: String) -> SimulatorError {
        .configuration("cannot \(action) \(path): \(systemMessage())")
    }

    private func foreign(_ name: String) -> SimulatorError {
        .configuration(
            "\(path)/\(name) was not made by this simulator and was not overwritten: name another --directory, or give your own "
                + "files with --cert, --key and --provider-key")
    }
}
