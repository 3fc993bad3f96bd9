import Foundation
import Testing

/// One line of `results.csv`.
struct ResultLine: Equatable {
    let row: Int
    private(set) var token: String
    let outcome: String
    let status: String
    private(set) var reason: String
    let timestamp: String
    let messageID: String
    let attempts: Int
    private(set) var uniqueID: String

    static let header = "row,token,outcome,status,reason,timestamp,apns_id,attempts,apns_unique_id"

    init(_ text: Substring) throws {
        let fields = Self.fields(text)
        try #require(fields.count == 9, "a line of results: \(text)")
        row = try #require(Int(fields[0]), "a row number: \(text)")
        attempts = try #require(Int(fields[7]), "a number of attempts: \(text)")
        (token, outcome, status, reason) = (fields[1], fields[2], fields[3], fields[4])
        (timestamp, messageID, uniqueID) = (fields[5], fields[6], fields[8])
    }

    /// The line with the texts that were altered (docs/reference/results-csv.md, "Altered fields") as they were.
    var plain: ResultLine {
        var line = self
        (line.token, line.reason, line.uniqueID) = (Self.plain(token), Self.plain(reason), Self.plain(uniqueID))
        return line
    }

    /// Reads an altered field as that document says.
    static func plain(_ field: String) -> String {
        guard field.contains(#/^'(?:[=+@'＝＋－＠-]|.*\\)/#) else { return field }
        let json = "\"" + field.dropFirst().replacing("\"", with: "\\\"") + "\""
        return (try? JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)) as? String
            ?? field
    }

    /// Returns the fields of a line of CSV, in which some may be quoted.
    private static func fields(_ line: Substring) -> [String] {
        guard line.contains("\"") else {
            return line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        var fields = [""]
        var isQuoted = false
        var closed = false
        for character in line {
            switch character {
            case "\"":
                if closed { fields[fields.count - 1].append(character) }
                (isQuoted, closed) = (!isQuoted, isQuoted)
                continue
            case "," where !isQuoted: fields.append("")
            default: fields[fields.count - 1].append(character)
            }
            closed = false
        }
        return fields
    }
}

/// The files that a run left in its directory.
struct RunResults {
    /// The lines, ordered by row.
    let lines: [ResultLine]
    let summary: [String: Any]

    /// - Parameter isComplete: Whether the run is complete; a run that failed has a summary, too.
    init(_ directory: String, isComplete: Bool = true) throws {
        let text = try String(contentsOfFile: directory + "/results.csv", encoding: .utf8)
        try #require(text.hasSuffix("\n"))
        var rest = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        let first = rest.popFirst()
        try #require(first.map(String.init) == ResultLine.header)
        lines = try rest.map { try ResultLine($0) }.sorted { $0.row < $1.row }
        let data = try Data(contentsOf: URL(filePath: directory + "/summary.json"))
        summary = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    func count(_ outcome: String) -> Int { lines.count { $0.outcome == outcome } }

    func number(_ key: String) -> Int? { (summary[key] as? NSNumber)?.intValue }

    /// The figures of all sessions, and those of the last session.
    var allSessions: [String: Any] { summary["all_sessions"] as? [String: Any] ?? [:] }
    var lastSession: [String: Any] { summary["last_session"] as? [String: Any] ?? [:] }
    /// The resources that the process of the last session used.
    var process: [String: Any] { lastSession["process"] as? [String: Any] ?? [:] }

    /// Expects one line for each of the rows 1 to `rows`, and a summary that agrees with the lines.
    func expectComplete(rows: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(lines.map(\.row) == Array(1...max(1, rows)), sourceLocation: sourceLocation)
        expectSummaryAgrees(sourceLocation: sourceLocation)
    }

    /// Expects that the summary agrees with the lines.
    func expectSummaryAgrees(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(number("rows") == lines.count, sourceLocation: sourceLocation)
        for outcome in ["accepted", "rejected", "unavailable", "invalid", "unknown", "expired", "suppressed"] {
            #expect(number(outcome) == count(outcome), "\(outcome)", sourceLocation: sourceLocation)
        }
        #expect(number("attempts") == lines.reduce(0) { $0 + $1.attempts }, sourceLocation: sourceLocation)
    }
}
