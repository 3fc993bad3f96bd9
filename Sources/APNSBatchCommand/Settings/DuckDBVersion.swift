import APNSBatch
import Foundation

/// The version of the program of DuckDB.
struct DuckDBVersion: Comparable, CustomStringConvertible {
    let major: Int
    let minor: Int

    /// Earlier versions can end with exit code 0 when a query has failed, which looks like one that had no more rows.
    static let minimum = DuckDBVersion(major: 1, minor: 4)
    private static let patience = Duration.seconds(20)

    var description: String { "\(major).\(minor)" }

    init(major: Int, minor: Int) { (self.major, self.minor) = (major, minor) }

    /// Reads what `duckdb --version` prints, such as `v1.4.4 (Andium) 6ddac802ff`.
    init?(printed text: String) {
        let line = text.drop { $0 == "v" }.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let numbers = line.split(separator: ".").map { Int($0) }
        guard numbers.count >= 2, let major = numbers[0], let minor = numbers[1] else { return nil }
        self.init(major: major, minor: minor)
    }

    static func < (one: Self, other: Self) -> Bool { (one.major, one.minor) < (other.major, other.minor) }

    /// Asks a program for its version.
    ///
    /// - Throws: `UsageError` if it is missing, is not DuckDB, or is too old.
    static func check(_ program: [String], environment: [String: String]) throws {
        let name = program.first ?? ""
        let child = ChildProgram(
            arguments: program + ["--version"], environment: environment, patience: patience)
        let printed: String
        do {
            printed = try child.output()
        } catch {
            throw UsageError(
                "\(name.quoted) \(error): install DuckDB \(minimum) or later, or give its path with program",
                cause: error)
        }
        guard let version = DuckDBVersion(printed: printed) else {
            throw UsageError(
                "\(name.quoted) is not the program of DuckDB: it does not print its version with --version")
        }
        guard version < minimum else { return }
        throw UsageError(
            "\(name.quoted) is DuckDB \(version), and \(minimum) is the first that can be used: earlier ones may end with 0 when a "
                + "query has failed")
    }
}
