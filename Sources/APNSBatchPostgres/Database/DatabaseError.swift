import APNSBatchBasics
import APNSBatchModel

/// Why a database could not be read or written, as a ``code`` for programs and a ``description`` for people.
///
/// The description never contains a password, the text of a connection string, or a device token.
public struct DatabaseError: PassingFailure, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is. Later versions may add cases.
    @nonexhaustive
    public enum Code: Sendable, Hashable, CaseIterable {
        /// Something must be changed before it can succeed: the connection string, the table, the rights of the user; or libpq is
        /// not installed.
        case configuration
        /// The database cannot be reached, the connection was lost, or the server cannot do it now. The same call may succeed
        /// later.
        case unavailable
        /// The ledger of the run cannot be read.
        case results
    }

    /// What kind of failure it is.
    public let code: Code
    /// A sentence without a full stop.
    public let description: String

    /// The SQLSTATE of the server; nil if it did not answer.
    let state: String?
    /// The character of the statement that the server complains about, from 1.
    private(set) var position: Int?

    init(_ code: Code, _ description: String, state: String? = nil) {
        (self.code, self.description, self.state) = (code, Printable.message(description), state)
    }

    package var mayPass: Bool { code == .unavailable }

    /// Whether a statement would have written in a transaction that only reads. PostgreSQL, appendix A: read_only_sql_transaction.
    var isAboutWriting: Bool { state == "25006" }

    init(_ error: CampaignError) { self.init(.results, error.description) }

    /// Creates the error of a statement that the server refused.
    ///
    /// - Parameters:
    ///   - state: The five characters of the SQLSTATE. PostgreSQL, appendix A.
    ///   - message: The primary message of the server. Its details are left out, because they show values of rows.
    ///   - position: The character of the statement that the message is about, from 1.
    init(state: String, message: String, position: Int? = nil) {
        let kind = String(state.prefix(2))
        // A message about data names a value, which may be a token.
        let isAboutData = ["22", "23"].contains(kind)
        let text =
            isAboutData
            ? "there is a value that does not fit (SQLSTATE \(state))" : Self.replacements[state] ?? message
        self.init(Self.lasting.contains(kind) ? .configuration : .unavailable, text, state: state)
        self.position = position
    }

    /// The text in place of the server's message where that is about a statement that its reader has not written.
    private static let replacements = ["42P10": "the table has no primary key of the columns campaign, run and row"]

    /// The classes of states that do not pass by themselves: features, authorization, catalogs and schemas that are missing,
    /// data and constraints, syntax and access rules.
    private static let lasting: Set<String> = ["0A", "22", "23", "28", "3D", "3F", "42"]
}
