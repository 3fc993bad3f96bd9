import APNSBatch
import APNSBatchBasics
import APNSBatchPostgres
import ArgumentParser
import Glibc

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the results of a run into a table of PostgreSQL.",
        usage: "apns-batch export <run-directory> [--to <to>] [<options>]",
        discussion: """
            Each result is in the table once, however often this command is called and
            however an earlier call ended: the place up to which a run was written is in
            the database (apns_batch_offset) and moves with the rows in one transaction. A
            campaign with results_to does the same while it is sent, and this command
            writes what was left. Without --to, it takes results_to of the run.

            --to is a connection string of libpq, and what it does not say comes from the
            environment (PGHOST, PGSERVICE, ...). It must not have a password: that comes
            from a password file (PGPASSFILE), a service file (PGSERVICEFILE) or PGPASSWORD.
            docs/integrate/postgresql.md describes the table.

            With a campaign file instead of a run directory, --create and --print-sql make
            the table of its results_to before the first run.

            Examples:
              apns-batch export campaign.yaml --create
              apns-batch export runs/tonight --to service=push --print-sql
              apns-batch export runs/tonight --to service=push --create
              apns-batch export runs/tonight --to 'host=db dbname=push' --table app.results

            Exit codes: 0 all results are in the table; 64 usage, the table or the rights
            of the user are wrong, or the directory holds no run; 69 the database cannot be
            reached, or the connection was lost; 75 a process is working on the run, and
            what it has recorded so far was written.
            """)

    @Argument(help: "Run directory; or campaign file (YAML), with --create or --print-sql.", completion: .file())
    var runDirectory: String

    @Option(help: "Connection string of libpq, such as service=push or postgresql://user@db/push.")
    var to: String?

    @Option(help: "Table, as TABLE or SCHEMA.TABLE. (default: push_results)")
    var table: String?

    @Option(
        help: "whole, or digest for the SHA-256 of each token. (default: whole)",
        completion: .list(TokenForm.allCases.map(\.rawValue)))
    var tokens: String?

    @Option(help: "Name of the campaign in the table. (default: that of the run)")
    var campaign: String?

    @Flag(help: "Make the table and apns_batch_offset first, unless they exist.")
    var create = false

    @Flag(help: "Print the SQL that makes them, and do nothing else.")
    var printSql = false

    @Flag(help: "Read all results again, for a table from which rows were deleted.")
    var again = false

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    func run() throws {
        if access("\(runDirectory)/.", F_OK) != 0, access(runDirectory, F_OK) == 0 { return try prepare() }
        try reporting {
            let before = try? RunArguments(of: try RunOpening(of: runDirectory))
            let table = try target(before?.settings)
            let name = try campaign ?? before?.name ?? "campaign"
            let export = ResultsExport(ofRunIn: runDirectory, campaign: name, to: table)
            let columns = try export.columns
            if printSql { return showCreation(of: table, columns) }
            if create { try table.create(columns: columns) }
            try table.check(columns: columns)
            try show(try write(export), in: table)
        }
        guard Output.isComplete() else { throw ExitStatus.interrupted }
    }

    /// Makes the table for the results of a campaign, or prints how it is made.
    private func prepare() throws {
        let call = try reporting { try CampaignCall(flags: CampaignSettings(), file: runDirectory) }
        try reporting(call.located) {
            guard create || printSql else {
                throw UsageError(
                    "\(runDirectory): a campaign file has no results: give --create or --print-sql, or the directory of a run"
                )
            }
            let columns = call.settings.values["resultColumns"]?.texts ?? []
            let table = try target(call.settings)
            if printSql { return showCreation(of: table, columns) }
            try table.create(columns: columns)
            try table.check(columns: columns)
            if !quiet { Output.line("table=\(table.name)") }
        }
        guard Output.isComplete() else { throw ExitStatus.interrupted }
    }

    private func showCreation(of table: ResultsTable, _ columns: [String]) {
        let statements = table.creation(columns: columns).map { $0 + ";" }
        Output.lines(statements.flatMap { $0.split(separator: "\n").map(String.init) })
    }

    /// Returns the table of the flags, and without these that of the run or campaign.
    private func target(_ settings: CampaignSettings?) throws -> ResultsTable {
        let keys = try settings?.values["resultsTo"].map { try ResultsTarget.Keys($0) }
        guard let database = to ?? keys?.database ?? (printSql ? "" : nil) else {
            throw UsageError("no database: give --to, such as --to service=push, or results_to in the campaign file")
        }
        guard let tokens = tokens.map(TokenForm.init) ?? keys?.tokens ?? .whole else {
            throw UsageError("--tokens: expected whole or digest, found \((tokens ?? "").quoted)")
        }
        return try ResultsTable(
            in: database, named: table ?? keys?.table ?? ResultsTarget.Keys.table, tokens: tokens)
    }

    private func write(_ export: ResultsExport) throws -> ExportProgress {
        var display = ExportDisplay()
        defer { display.end() }
        return try export.write(rewinding: again) { if !quiet { display.show($0) } }
    }

    private func show(_ progress: ExportProgress, in table: ResultsTable) throws {
        if !quiet { Output.line("rows=\(progress.recorded) new=\(progress.added) table=\(table.name)") }
        guard try RunStatus.isRunning(runDirectory) else { return }
        complainOfFailure("\(runDirectory): a process is working on this run; what it has recorded so far was written")
        throw ExitStatus.interrupted
    }
}
