import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import Glibc

/// Which rows a campaign sends: those whose fields have the values of ``Campaign/only``. The others end as suppressed before they are checked.
package struct RowSelection: Sendable {
    private struct Term {
        let column: Int
        /// The indices of its values.
        let values: Range<Int>
    }

    private struct Value {
        let start: Int
        let count: Int
    }

    private let terms: [Term]
    private let values: [Value]
    private let bytes: [UInt8]

    /// The reason of rows that are not selected.
    package static let reason = "NotSelected"

    /// Returns nil if all rows are selected.
    ///
    /// - Throws: A `configuration` error if there is no such column, or nothing is selected.
    init?(_ only: [String: [String]], columns: [String], file: String) throws(CampaignError) {
        guard !only.isEmpty else { return nil }
        var (terms, values, bytes): ([Term], [Value], [UInt8]) = ([], [], [])
        for (name, texts) in only.sorted(by: { $0.key < $1.key }) {
            guard let column = columns.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                throw Self.error("\(file) has no column \(ColumnNames.quoted(name))\(ColumnSource.hint(name, columns))")
            }
            guard !texts.isEmpty else { throw Self.error("\(name): expected at least one value, found none") }
            let first = values.count
            for text in texts {
                values.append(Value(start: bytes.count, count: text.utf8.count))
                bytes += Array(text.utf8)
            }
            terms.append(Term(column: column, values: first..<values.count))
        }
        // So that the memory of the bytes has an address even if all values are empty.
        (self.terms, self.values, self.bytes) = (terms, values, bytes + [0])
    }

    /// The columns that it needs.
    var columns: [Int] { terms.map(\.column) }

    /// Whether a row is selected.
    ///
    /// - Parameter fields: All fields of a row without a fault.
    package func selects(_ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            for term in terms where unsafe !matches(term, fields[term.column], bytes) { return false }
            return true
        }
    }

    @inline(__always)
    private func matches(_ term: Term, _ field: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer) -> Bool {
        for index in term.values {
            let value = values[index]
            guard value.count == field.count else { continue }
            guard let found = field.baseAddress, let wanted = bytes.baseAddress, value.count > 0 else { return true }
            if unsafe memcmp(wanted + value.start, found, value.count) == 0 { return true }
        }
        return false
    }

    private static func error(_ text: String) -> CampaignError { CampaignError(.configuration, "only: \(text)") }
}
