import APNSBatchModel

/// The statements of SQL for one table of results and the table of places beside it.
struct ResultsStatements {
    /// The quoted name of the table, with its schema if it was given.
    let table: String
    /// The quoted name of the table of places, in the same schema.
    let places: String
    /// The quoted names of the columns that the campaign carries, which are text.
    private let carried: [String]

    private static let staging = "apns_batch_staging"
    /// The columns of `results.csv`, and their types in the table. `timestamp` comes from milliseconds.
    private static let columns: [(name: String, type: String)] = [
        ("row", "bigint NOT NULL"), ("token", "text NOT NULL"), ("outcome", "text NOT NULL"), ("status", "smallint"),
        ("reason", "text"), ("timestamp", "timestamptz"), ("apns_id", "uuid"), ("attempts", "smallint NOT NULL"),
        ("apns_unique_id", "text"),
    ]
    /// All columns that a table of results has by itself.
    static let ownColumns = ["campaign", "run"] + columns.map(\.name)

    /// - Parameter name: The parts of the table's name.
    init(_ name: [String], carried: [String] = []) {
        table = name.map(Self.quoted).joined(separator: ".")
        places = (name.dropLast() + ["apns_batch_offset"]).map(Self.quoted).joined(separator: ".")
        self.carried = carried.map(Self.quoted)
    }

    /// Returns an identifier in quotes, so that it is taken as it is.
    static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    // MARK: Tables

    var creation: [String] {
        let columns =
            ["\"campaign\" text NOT NULL", "\"run\" text NOT NULL"]
            + Self.columns.map { "\(Self.quoted($0.name)) \($0.type)" } + carried.map { "\($0) text" }
        return [
            "CREATE TABLE IF NOT EXISTS \(table) (\n    \(columns.joined(separator: ",\n    ")),\n"
                + "    PRIMARY KEY (\"campaign\", \"run\", \"row\")\n)",
            """
            CREATE TABLE IF NOT EXISTS \(places) (
                "results" regclass NOT NULL,
                "campaign" text NOT NULL,
                "run" text NOT NULL,
                "ledger_offset" bigint NOT NULL,
                "rows" bigint NOT NULL,
                "updated" timestamptz NOT NULL DEFAULT now(),
                PRIMARY KEY ("results", "campaign", "run")
            )
            """,
        ]
    }

    // MARK: Places. $1 is the table, $2 the campaign, $3 the run.

    private static let isOfRun = "\"results\" = $1::regclass AND \"campaign\" = $2 AND \"run\" = $3"

    var beginRun: String {
        "INSERT INTO \(places) (\"results\", \"campaign\", \"run\", \"ledger_offset\", \"rows\") "
            + "VALUES ($1::regclass, $2, $3, 0, 0) ON CONFLICT DO NOTHING"
    }

    var rewind: String { "UPDATE \(places) SET \"ledger_offset\" = 0, \"rows\" = 0 WHERE \(Self.isOfRun)" }

    var findPlace: String { "SELECT \"ledger_offset\" FROM \(places) WHERE \(Self.isOfRun)" }

    /// Keeps every other exporter of the run waiting until the end of the transaction.
    var lockPlace: String { findPlace + " FOR UPDATE" }

    var movePlace: String {
        "UPDATE \(places) SET \"ledger_offset\" = $4::bigint, \"rows\" = $5::bigint, \"updated\" = now() "
            + "WHERE \(Self.isOfRun)"
    }

    // MARK: Rows

    private var carriedInStaging: [String] { carried.indices.map { "carried_\($0 + 1)" } }

    var createStaging: String {
        let columns =
            [
                "\"row\" bigint", "token text", "outcome text", "status smallint", "reason text", "milliseconds bigint",
                "apns_id uuid", "attempts smallint", "apns_unique_id text",
            ] + carriedInStaging.map { "\($0) text" }
        return "CREATE TEMPORARY TABLE \(Self.staging) (\(columns.joined(separator: ", "))) ON COMMIT DROP"
    }

    var copy: String { "COPY \(Self.staging) FROM STDIN" }

    /// Returns the number of rows that the table took: those that are there with the same values, and those that a trigger drops, are
    /// not among them. A rule instead of the insert is an error. $1 is the campaign, $2 the run. A row that is there with other values
    /// had another outcome before it was sent again.
    var insert: String {
        let names = Self.columns.map { Self.quoted($0.name) } + carried
        let values =
            Self.columns.map {
                $0.name == "timestamp"
                    ? "timestamptz 'epoch' + milliseconds * interval '1 millisecond'" : Self.quoted($0.name)
            } + carriedInStaging
        let changing = names.dropFirst()
        let (old, new) = (changing.map { "existing.\($0)" }, changing.map { "EXCLUDED.\($0)" })
        return """
            WITH taken AS (
            INSERT INTO \(table) AS existing ("campaign", "run", \(names.joined(separator: ", ")))
            SELECT $1::text, $2::text, \(values.joined(separator: ", ")) FROM \(Self.staging)
            ON CONFLICT ("campaign", "run", "row") DO UPDATE
            SET (\(changing.joined(separator: ", "))) = ROW(\(new.joined(separator: ", ")))
            WHERE (\(old.joined(separator: ", "))) IS DISTINCT FROM (\(new.joined(separator: ", ")))
            RETURNING 1
            ) SELECT count(*) FROM taken
            """
    }

    /// The number of rows that were to be inserted and are not there. $1 is the campaign, $2 the run.
    var countMissing: String {
        """
        SELECT count(*) FROM \(Self.staging) AS wanted WHERE NOT EXISTS (
        SELECT FROM \(table) AS found WHERE found."campaign" = $1 AND found."run" = $2 AND found."row" = wanted."row")
        """
    }

    /// Rows that are to be sent again have no outcome until then, in `results.csv` as well. $1 is the campaign, $2 the run.
    var deleteReopened: String {
        let outcomes = Outcome.allCases.filter(\.canBeReopened).map { "'\($0.name)'" }.joined(separator: ", ")
        return "DELETE FROM \(table) WHERE \"campaign\" = $1 AND \"run\" = $2 AND \"outcome\" IN (\(outcomes))"
    }
}
