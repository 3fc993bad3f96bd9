import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// What was found in the rows of an input before they are sent.
struct JudgedRows {
    private struct Group {
        var rows = InvalidRows()
        /// The text of the first finding, with its place.
        let example: String
    }

    /// The number of rows, without those before the first one that is sent.
    private(set) var rows: UInt64 = 0
    private(set) var invalid: UInt64 = 0
    /// The number of rows before the first one that is sent.
    private(set) var suppressed: UInt64 = 0
    private var groups: [Rule: Group] = [:]

    /// The number of rules that a message names.
    private static let rulesMost = 3

    mutating func addSuppressed() { suppressed += 1 }
    mutating func addValid() { rows += 1 }

    mutating func add(_ finding: RowFinding, row: UInt64) {
        rows += 1
        invalid += 1
        groups[finding.rule, default: Group(example: finding.text)].rows.count(row, place: nil)
    }

    /// The rules that most rows break, each with the number of its rows and its first finding.
    var causes: String {
        let sorted = groups.sorted { one, other in
            one.value.rows.count == other.value.rows.count
                ? one.key.rawValue < other.key.rawValue : one.value.rows.count > other.value.rows.count
        }
        let named = sorted.prefix(Self.rulesMost).map { rule, group in
            "\(rule.rawValue) \(group.rows.count.grouped) (\(group.example))"
        }
        let left = sorted.count - named.count
        return named.joined(separator: ", ") + (left == 0 ? "" : ", and \(left) other rule\(left == 1 ? "" : "s")")
    }
}
