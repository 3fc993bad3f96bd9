import APNSBatch
import ArgumentParser
import Foundation

/// The flags that say where pushes are sent and who sends them. They have the names of those of the command `apns-batch`.
public struct ProviderOptions: ParsableArguments {
    @Option(
        help: "production, sandbox, or HOST:PORT of another server, such as a simulator.",
        transform: Campaign.Destination.init(argument:))
    public var to = Campaign.Destination.production

    @Option(help: "The signing key of the provider (.p8).")
    public var keyFile: String

    @Option(help: "The id of the signing key.")
    public var keyId: String

    @Option(help: "The id of the team.")
    public var teamId: String

    @Option(help: "The bundle id of the app.")
    public var topic: String

    @Option(help: "CA certificates to trust besides those of the system (PEM), such as that of a simulator.")
    public var caFile: String?

    public init() {}

    /// Reads the signing key.
    public func credentials() throws -> Campaign.Credentials {
        try .signingKey(file: Self.bytes(of: keyFile), passphrase: nil, keyID: keyId, teamID: teamId)
    }

    /// Reads the CA certificates; empty without a file.
    public func authorities() throws -> [UInt8] { try caFile.map(Self.bytes) ?? [] }

    private static func bytes(of path: String) throws -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            // The exit code of wrong usage, instead of that of an unexpected error.
            throw ValidationError("\(path) cannot be read: \(error.localizedDescription)")
        }
    }
}

extension Campaign.Destination {
    /// Parses `production`, `sandbox`, or host and port.
    init(argument: String) throws {
        switch argument {
        case "production": self = .production
        case "sandbox": self = .sandbox
        default:
            guard let colon = argument.lastIndex(of: ":"), colon > argument.startIndex,
                let port = UInt16(argument[argument.index(after: colon)...])
            else { throw ValidationError("expected production, sandbox or HOST:PORT, found \"\(argument)\"") }
            self = .host(String(argument[..<colon]), port: port)
        }
    }
}
