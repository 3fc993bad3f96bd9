import APNSBatch
import Foundation
import GRDB

/// The database with the devices of an app and the recipients of its campaigns, in SQLite.
struct PushDatabase: Sendable {
    private let pool: DatabasePool

    /// Opens the database, and creates its tables if they do not exist.
    init(_ path: String) throws {
        pool = try DatabasePool(path: path)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1", migrate: Self.createTables)
        try migrator.migrate(pool)
    }

    private static func createTables(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE device (
                    id INTEGER PRIMARY KEY,
                    token TEXT NOT NULL UNIQUE,        -- hexadecimal digits in lower case
                    firstName TEXT NOT NULL,
                    registeredAt INTEGER NOT NULL,     -- milliseconds since 1970
                    goneAt INTEGER                     -- when APNs found it inactive; null while it is active
                );
                -- Whom a campaign is for. The number is that of the row in the run, from 1 without gaps.
                CREATE TABLE recipient (
                    campaign TEXT NOT NULL,
                    number INTEGER NOT NULL,
                    device INTEGER NOT NULL REFERENCES device (id),
                    outcome TEXT,                      -- null until it has one
                    PRIMARY KEY (campaign, number)
                ) WITHOUT ROWID;
                """)
    }

    /// Adds devices with made-up tokens.
    func addSample(_ count: Int, now: Date = .now) async throws {
        let registeredAt = Int64(now.timeIntervalSince1970 * 1000)
        try await pool.write { database in
            let insert = try database.makeStatement(
                sql: "INSERT INTO device (token, firstName, registeredAt) VALUES (?, ?, ?)")
            let names = ["Ada", "Grace", "Zoë", "O'Brien, Pat", "", "Edsger"]
            for number in 0..<count {
                try insert.execute(arguments: [Self.randomToken(), names[number % names.count], registeredAt])
            }
        }
    }

    private static func randomToken() -> String {
        (0..<32).map { _ in String(UInt8.random(in: 128...255), radix: 16) }.joined()
    }

    // MARK: Recipients

    /// Decides whom a campaign is for, unless that was done before: all active devices, as one transaction sees them.
    ///
    /// A run that is resumed must have the same rows in the same order, and the table of devices changes all the time, also by the
    /// results of the campaign itself. The list makes each session of the run see the same recipients, and no transaction has to
    /// stay open for as long as it sends.
    func chooseRecipients(of campaign: String) async throws {
        try await pool.write { database in
            let isChosen = try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM recipient WHERE campaign = ?)", arguments: [campaign])
            if isChosen == true { return }
            try database.execute(
                sql: """
                    INSERT INTO recipient (campaign, number, device)
                    SELECT ?, row_number() OVER (ORDER BY id), id FROM device WHERE goneAt IS NULL
                    """,
                arguments: [campaign])
        }
    }

    /// Returns the next recipients after a number, in order; none after the last one.
    func recipients(of campaign: String, after number: UInt64, limit: Int = 500) async throws -> [Recipient] {
        try await pool.read { database in
            try Recipient.fetchAll(
                database,
                sql: """
                    SELECT number, token, firstName FROM recipient JOIN device ON device.id = recipient.device
                    WHERE campaign = ? AND number > ? ORDER BY number LIMIT ?
                    """,
                arguments: [campaign, number, limit])
        }
    }

    // MARK: Results

    /// Keeps the results of a batch in one transaction. Keeping one again changes nothing.
    func keep(_ results: ResultBatch, of campaign: String) async throws {
        try await pool.write { database in
            let setOutcome = try database.makeStatement(
                sql: "UPDATE recipient SET outcome = ? WHERE campaign = ? AND number = ?")
            for result in results {
                try setOutcome.execute(arguments: ["\(result.outcome.name)", campaign, result.row])
                if result.status == 410 { try Self.markGone(result, database) }
            }
        }
    }

    /// Marks a device that APNs calls inactive, unless the app registered the token again after that time. Apple, "Handling
    /// notification responses from APNs".
    private static func markGone(_ result: RowResult, _ database: Database) throws {
        guard let inactiveSince = result.inactiveSince else { return }
        let update = try database.cachedStatement(
            sql: "UPDATE device SET goneAt = ?1 WHERE token = ?2 AND registeredAt <= ?1 AND goneAt IS NULL")
        try update.execute(arguments: [Int64(clamping: inactiveSince), result.token])
    }
}
