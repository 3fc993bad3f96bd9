import APNSBatch
import Logging
import ServiceLifecycle
import Synchronization

/// A run of a campaign whose rows come from a database, and whose results go there.
///
/// It is a service, so that a signal stops it in order: no further rows are taken, and the answers to requests in flight are
/// awaited and kept.
final class NightlyRun: Service {
    private let run: CampaignRun
    private let database: PushDatabase
    private let name: String
    private let ended = Mutex<CampaignSummary?>(nil)

    /// The summary; nil before the end.
    var summary: CampaignSummary? { ended.withLock { $0 } }

    private init(_ run: CampaignRun, _ database: PushDatabase, name: String) {
        (self.run, self.database, self.name) = (run, database, name)
    }

    /// Begins the run of a campaign, or continues the one in its run directory.
    static func prepare(
        _ campaign: Campaign, _ database: PushDatabase, _ logger: Logger
    ) async throws -> NightlyRun {
        let name = campaign.name
        try await database.chooseRecipients(of: name)
        let run = try await CampaignRun.prepare {
            try CampaignRun(campaign, columns: Recipient.columns, resuming: .ifStarted, logger: logger) { writer in
                try await writeRecipients(of: name, in: database, to: &writer)
            }
        }
        return NightlyRun(run, database, name: name)
    }

    /// Writes the recipients that no earlier session took. A page of them is in memory at a time, since `write` waits while the
    /// rows before have not been sent.
    private static func writeRecipients(
        of name: String, in database: PushDatabase, to writer: inout RowWriter
    ) async throws {
        // The list of recipients does not change, so the rows need not be made again to be compared.
        writer.skipTakenRows()
        var last = writer.taken
        while true {
            let page = try await database.recipients(of: name, after: last)
            guard let end = page.last?.number else { return }
            for recipient in page { try await writer.write(recipient) }
            last = end
        }
    }

    /// Sends the campaign, and keeps its results.
    ///
    /// - Throws: An error of the database, after the run was stopped.
    func run() async throws {
        // A process that was killed may not have kept the last results that it had, so those of all sessions come again.
        let results = run.makeResults(ofAllSessions: true)
        async let sending = run.send()
        do {
            // Given away, because a run waits for whoever holds its results.
            try await keep(consume results)
        } catch {
            run.stop()
            let summary = try await sending
            ended.withLock { $0 = summary }
            throw error
        }
        let summary = try await sending
        ended.withLock { $0 = summary }
    }

    private func keep(_ results: consuming CampaignResults) async throws {
        for await batch in results { try await database.keep(batch, of: name) }
    }
}
