import APNSBatch
import ArgumentParser
import Foundation
import GRDB
import Logging
import ProviderOptions
import ServiceLifecycle

struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends a campaign to all active devices of a database, or continues it.",
        discussion: """
            It may be called again and again with the same --campaign, also after it was killed: each device gets the push once, \
            and a complete campaign is only reported again.
            """)

    @OptionGroup var provider: ProviderOptions

    @Option(help: "The path of the database.")
    var database: String

    @Option(help: "The name of the campaign, such as the date of the night: letters, digits, - and _.")
    var campaign: String

    @Option(help: "The directory with the run directories of all campaigns.")
    var runs = "runs"

    @Option(
        help: "What happens to pushes that may have arrived before a kill: resend, report, or resend-if-collapsible.",
        transform: Self.policy)
    var onUnknown = UnknownPolicy.resend

    func validate() throws {
        // It is a part of a path.
        guard !campaign.isEmpty, campaign.utf8.allSatisfy({ Self.allowed.contains($0) }) else {
            throw ValidationError("--campaign: expected letters, digits, - and _, found \"\(campaign)\"")
        }
    }

    private static let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func policy(_ name: String) throws -> UnknownPolicy {
        guard let policy = UnknownPolicy(name: name) else { throw ValidationError("there is no policy \"\(name)\"") }
        return policy
    }

    func run() async throws {
        // Before the key is read, because a core file would have it.
        ProcessSecrecy.forbidCoreDumps()
        do {
            try await send()
        } catch let error as CampaignError {
            complain("\(error)")
            throw ExitCode(Self.exitCode(error))
        } catch is CancellationError {
            throw ExitCode(Self.interrupted)
        } catch let error as DatabaseError {
            // Without its arguments, which may be device tokens.
            complain("the database failed: \(error.message ?? "no message"); call this again to continue")
            throw ExitCode(Self.interrupted)
        }
    }

    /// The exit code of a campaign that is not over: the same call continues it.
    private static let interrupted: Int32 = 75

    /// The exit code for a run that could not begin. Those of a run that did are in its summary.
    private static func exitCode(_ error: CampaignError) -> Int32 {
        switch error.code {
        case .busy, .results: interrupted
        case .system: 71
        default: 64
        }
    }

    private func complain(_ text: String) { FileHandle.standardError.write(Data("nightly-campaign: \(text)\n".utf8)) }

    private func send() async throws {
        let logger = Logger(label: "nightly-campaign")
        let run = try await NightlyRun.prepare(try settings(), try PushDatabase(database), logger)
        try await ServiceGroup(configuration: Self.services(run, logger)).run()
        guard let summary = run.summary else { throw ExitCode(Self.interrupted) }
        print(summary.verdict)
        print("accepted=\(summary.accepted) rejected=\(summary.rejected) rows=\(summary.rows) resent=\(summary.resent)")
        if summary.exitCode != 0 { throw ExitCode(summary.exitCode) }
    }

    private func settings() throws -> Campaign {
        var settings = Campaign.nightly(
            campaign, to: provider.to, topic: provider.topic, credentials: try provider.credentials(), runs: runs)
        settings.authorities = try provider.authorities()
        settings.onUnknown = onUnknown
        return settings
    }

    /// The first SIGTERM or SIGINT stops the run in order, which takes up to ``Campaign/stopPatience``. If it takes longer, or
    /// after SIGQUIT, answers are not awaited, and the next session decides by `--on-unknown`.
    private static func services(_ run: NightlyRun, _ logger: Logger) -> ServiceGroupConfiguration {
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: run, successTerminationBehavior: .gracefullyShutdownGroup, serviceName: "campaign")
            ],
            gracefulShutdownSignals: [.sigterm, .sigint], cancellationSignals: [.sigquit],
            logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(20)
        group.maximumCancellationDuration = .seconds(10)
        return group
    }
}
