import APNSBatchBasics
import APNSBatchModel
import APNSBatchPlanning
import APNSBatchSending
import Glibc

/// Rows of a check that have the token of another row. They are known when all rows have been read.
extension CampaignCheck {
    /// Where a check keeps digests that have no room in memory: the directory of temporary files, by the convention of POSIX.
    static var temporaryDirectory: String {
        guard let given = getenv("TMPDIR").map({ String(cString: $0) }), !given.isEmpty else { return "/var/tmp" }
        return given
    }

    /// Adds the duplicate tokens to a report, each at the later row.
    func addDuplicates(to report: inout CheckReport) {
        var tally = DuplicateTally()
        var findings = FindingTally(file: file)
        do throws(StorageError) {
            try digests.visit { row, first in
                tally.note(row, first: first)
                guard let first else { return }
                let place = TokenPlace(word: row.note)
                findings.addWarning(duplicate(at: place, of: first.row), row: row.row, isFirst: !place.hasWarning)
            }
            report.duplicateTokens = tally.duplicateTokens
        } catch {
            report.duplicatesFailure = "\(error)"
        }
        findings.finish(into: &report)
    }

    private func duplicate(at place: TokenPlace, of first: UInt64) -> RowFinding {
        let (name, line) = plan.place(ofLine: place.line)
        return RowFinding(
            .duplicateToken, file: name, line: line, column: place.column, "token: row \(first) has the same token")
    }
}
