import APNSBatch
import APNSBatchWebhooks
import ArgumentParser

struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "Delivers the events of a run that its webhooks did not get.",
        discussion: """
            Events that cannot be delivered while a run goes on wait in its outbox, a
            directory in the run directory. This command makes an attempt for each of them,
            and a second one five seconds later, with the same webhook-id. The next run of
            the campaign does the same. The files of URL and secrets are read again. An
            event that is older than three days is given up.

            Examples:
              apns-batch notify runs/tonight

            Exit codes: 0 every event was delivered, or none waited; 2 some were not; 64
            the directory holds no run, or its outbox belongs to another user; 75 another
            process is delivering.
            """)

    @Argument(help: "Run directory.", completion: .directory)
    var runDirectory: String

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    func run() async throws {
        let outbox = try reporting { try usable() }
        let delivery = OutboxDelivery(outboxes: [outbox])
        let outcome = await delivery.finish()
        guard !outcome.isBusy else {
            complainOfFailure("\(outbox.directory): another process is delivering")
            throw ExitStatus.interrupted
        }
        let left = delivery.left
        for urlFile in Set(left.map(\.urlFile)).sorted() {
            complain("not delivered: \(urlFile): \(outcome.failures[urlFile] ?? "it asked for a pause")")
        }
        if !quiet { Output.line("delivered=\(outcome.delivered) left=\(left.count) given_up=\(outcome.givenUp)") }
        guard Output.isComplete() else { throw ExitStatus.interrupted }
        guard left.isEmpty, outcome.givenUp == 0 else { throw ExitStatus.someRowsLeft }
    }

    private func usable() throws -> Outbox {
        _ = try RunOpening(of: runDirectory)
        let outbox = Outbox(ofRunIn: runDirectory)
        guard !outbox.exists || outbox.isOwn else {
            throw UsageError("\(outbox.directory): it belongs to another user, or others can access it")
        }
        return outbox
    }
}
