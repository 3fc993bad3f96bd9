import APNSBatchPostgres

/// Where the results of a run go besides its directory.
extension Setting {
    static let export: [Setting] = [
        Setting(
            "resultsTo", .record(table), scope: .machine, parts: .refused, standard: "none", hasFlag: false,
            "Table of PostgreSQL that gets each result during the run. docs/integrate/postgresql.md describes it."
        ) { _ = try ResultsTarget.Keys($1) },
        Setting(
            "exportPatience", .whole, scope: .run, parts: .refused, standard: "600",
            "Seconds that the end of a run waits for the database of results_to: 1 to 86400."
        ) { _ = try CampaignSettings.patience($1) },
    ]

    private static let table: [SettingForm] = [
        SettingForm("database", .text, "Connection string of libpq, without a password."),
        SettingForm("table", .text, standard: "push_results", "TABLE or SCHEMA.TABLE."),
        SettingForm(
            "tokens", .text, standard: "whole", words: TokenForm.allCases.map(\.rawValue),
            "whole, or digest for the SHA-256 of each token."),
    ]
}

/// The table that `results_to` names.
struct ResultsTarget {
    /// The value of the setting, as far as it can be checked without libpq.
    struct Keys {
        var database: String
        var table: String
        var tokens: TokenForm

        init(_ value: SettingValue) throws {
            let members = value.members ?? [:]
            guard let database = members["database"]?.text else { throw UsageError("database is missing") }
            self.database = database
            table = members["table"]?.text ?? Self.table
            tokens = try members["tokens"].map { try $0.parsed("tokens whole or digest", TokenForm.init) } ?? .whole
        }

        static let table = "push_results"
    }

    let table: ResultsTable
    /// How long the end of a run waits for the database.
    let patience: Duration

    /// Returns nil if the settings have no `results_to`.
    init?(_ settings: CampaignSettings) throws {
        guard let value = settings.values["resultsTo"] else { return nil }
        do {
            let keys = try Keys(value)
            table = try ResultsTable(in: keys.database, named: keys.table, tokens: keys.tokens)
        } catch {
            throw UsageError("results_to: \(error)", cause: error)
        }
        patience = try CampaignSettings.patience(settings.values["exportPatience"] ?? .number(600))
    }
}
