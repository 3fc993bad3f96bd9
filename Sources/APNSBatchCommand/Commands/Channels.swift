import APNSBatch
import APNSBatchBasics
import ArgumentParser
import Foundation

struct Channels: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channels",
        abstract: "Creates, reads, deletes and lists an app's broadcast channels.",
        discussion: """
            Examples:
              apns-batch channels create --bundle-id com.example.app \\
                --to production --storage most-recent \\
                --key-file AuthKey.p8 --key-id ABC123DEFG --team-id DEF123GHIJ
              apns-batch channels list campaign.yaml --json
              apns-batch channels read campaign.yaml --channel dHN0LXNyY2gtY2hubA==

            A campaign file gives the destination, the credentials, and the app as its
            topic. production is api-manage-broadcast.push.apple.com:2196, and sandbox is
            api-manage-broadcast.sandbox.push.apple.com:2195. Requests are not retried.

            Exit codes: 0 the request succeeded; 64 usage or configuration is wrong, and
            nothing was sent; 69 APNs refused the request or cannot be reached.
            """,
        subcommands: [ChannelsCreate.self, ChannelsRead.self, ChannelsDelete.self, ChannelsList.self])
}

struct ChannelsCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates a channel and prints its id.",
        discussion: """
            Example:
              apns-batch channels create campaign.yaml --storage most-recent
            """)

    @OptionGroup var arguments: ChannelArguments

    @Option(help: "What the channel stores for offline devices: none, or most-recent for the latest message.")
    var storage: StorageName

    func run() async throws {
        let id = try await arguments.ask { (manager) throws(ChannelError) in
            try await manager.create(storage: storage.storage)
        }
        try arguments.print([id], ChannelLine(channelId: id, storage: storage.rawValue))
    }
}

struct ChannelsRead: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read", abstract: "Prints the properties of a channel.",
        discussion: """
            Example:
              apns-batch channels read campaign.yaml --channel dHN0LXNyY2gtY2hubA==
            """)

    @OptionGroup var arguments: ChannelArguments

    @Option(help: "The channel's id (base64).")
    var channel: String

    func run() async throws {
        let found = try await arguments.ask { (manager) throws(ChannelError) in try await manager.read(channel) }
        let storage = StorageName(found.storage).rawValue
        try arguments.print(["\(found.id): storage \(storage)"], ChannelLine(channelId: found.id, storage: storage))
    }
}

struct ChannelsDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Deletes a channel. Its subscribers no longer receive broadcasts.",
        discussion: """
            Example:
              apns-batch channels delete campaign.yaml --channel dHN0LXNyY2gtY2hubA==
            """)

    @OptionGroup var arguments: ChannelArguments

    @Option(help: "The channel's id (base64).")
    var channel: String

    func run() async throws {
        try await arguments.ask { (manager) throws(ChannelError) in try await manager.delete(channel) }
        try arguments.print(["\(channel): deleted"], ChannelLine(channelId: channel, deleted: true))
    }
}

struct ChannelsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Prints the ids of all channels, one per line.",
        discussion: """
            Example:
              apns-batch channels list campaign.yaml --json
            """)

    @OptionGroup var arguments: ChannelArguments

    func run() async throws {
        struct List: Encodable { var channels: [String] }
        let ids = try await arguments.ask { (manager) throws(ChannelError) in try await manager.list() }
        try arguments.print(ids, List(channels: ids))
    }
}

/// The storage policy of a channel, under the name that the command uses.
enum StorageName: String, ExpressibleByArgument, CaseIterable {
    case none
    case mostRecent = "most-recent"

    init(_ storage: ChannelManager.Storage) { self = storage == .none ? .none : .mostRecent }

    var storage: ChannelManager.Storage { self == .none ? .none : .mostRecent }
}

/// The JSON form of a channel.
private struct ChannelLine: Encodable {
    var channelId: String
    var storage: String?
    var deleted: Bool?
}

/// The arguments that all of these commands share.
struct ChannelArguments: ParsableArguments {
    @Argument(help: "Campaign file (YAML) with destination, credentials and topic.", completion: .campaign)
    var campaign: String?

    @Option(help: "Bundle id of the app. (default: the campaign file's topic)")
    var bundleId: String?

    @Option(
        help: "production, sandbox, or the HOST:PORT of channel management.",
        completion: .list(["production", "sandbox"]))
    var to: String?

    @OptionGroup var credentials: CredentialFlags

    @Flag(help: "Print one JSON object.")
    var json = false

    private func resolved() throws -> CampaignSettings {
        var flags = try credentials.settings
        flags.to = to
        flags.topic = bundleId
        return try CampaignCall(flags: flags, file: campaign).settings
    }

    private func manager() throws -> ChannelManager {
        let settings = try resolved()
        guard settings.to != "simulator" else {
            throw UsageError(
                "--to: a simulator inside this process would lose its channels at exit; run one with \"apns-batch simulate\""
            )
        }
        let app = try CampaignSettings.app(of: settings.topic)
        return try ChannelManager(
            bundleID: app, at: try settings.destination(),
            credentials: try settings.provider(of: app).credentials(for: .sending),
            authorities: try settings.caFile.map { try InputFile.bytes(of: $0) } ?? [])
    }

    /// Performs a request with a manager. An error is reported on standard error and rethrown as an exit code.
    func ask<T>(_ body: (ChannelManager) async throws(ChannelError) -> T) async throws -> T {
        do {
            return try await body(try manager())
        } catch {
            throw reported(error)
        }
    }

    /// Prints the lines, or with `--json` the object.
    func print(_ lines: [String], _ object: some Encodable) throws {
        Output.lines(json ? [try JSONLine.text(object)] : lines)
        if !Output.isComplete() { throw ExitStatus.interrupted }
    }
}

extension CampaignSettings {
    private static let topicSuffix = ".push-type.liveactivity"

    /// Returns the bundle id of a topic, which may have the suffix of Live Activities.
    static func app(of topic: String?) throws -> String {
        guard let topic else { throw UsageError("no app: give --bundle-id, or the bundle id as topic") }
        return topic.hasSuffix(topicSuffix) ? String(topic.dropLast(topicSuffix.count)) : topic
    }
}

/// Encodes JSON on one line, with names in snake case, without characters that a terminal obeys.
enum JSONLine {
    static func text(_ object: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return Printable.text(String(decoding: try encoder.encode(object), as: UTF8.self))
    }
}
