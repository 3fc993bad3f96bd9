import APNSBatchBasics
import APNSBatchNotification

/// Rows that break one rule, and the places of the first of them.
package struct InvalidRows: Sendable, Equatable {
    package private(set) var count: UInt64 = 0
    /// In the order of their rows.
    private var first: [(row: UInt64, place: String)] = []

    static let placesMax = 3
    /// What stands for the rule where the ledger has none: it was written by version 0.1.0.
    static let withoutRule = "not recorded"

    /// File, line and column, as `rows.csv:2:1`.
    package var places: [String] { first.map(\.place) }

    /// Whether the place of this row, if it breaks the rule, is among those that are kept.
    func keepsPlace(of row: UInt64) -> Bool {
        first.count < Self.placesMax || row < first[first.count - 1].row
    }

    /// - Parameter place: nil where it is not known or not kept.
    mutating func count(_ row: UInt64, place: String?) {
        count += 1
        if let place { keep(row, place) }
    }

    mutating func add(_ other: InvalidRows) {
        count += other.count
        for (row, place) in other.first { keep(row, place) }
    }

    private mutating func keep(_ row: UInt64, _ place: String) {
        guard keepsPlace(of: row) else { return }
        let index = first.firstIndex { row < $0.row } ?? first.count
        first.insert((row, place), at: index)
        if first.count > Self.placesMax { first.removeLast() }
    }

    /// The place that a finding's text begins with (`rows.csv:1042:17: badge: …`); nil where it begins with none.
    static func place(in text: String) -> String? {
        var fields: [Substring] = []
        var rest = text[...]
        while let end = rest.firstIndex(of: ":") {
            fields.append(rest[..<end])
            rest = rest[rest.index(after: end)...]
            guard fields.count >= 3, rest.first == " ", fields.suffix(2).allSatisfy({ UInt64($0) != nil }) else {
                continue
            }
            return fields.joined(separator: ":")
        }
        return nil
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.first.elementsEqual(right.first) { $0 == $1 }
    }
}

extension Rule {
    /// What stands for the rule in the ledger. It follows from the rule's name alone, so that it stays the same when rules are
    /// added; never 0.
    package var code: UInt16 { Self.code(of: rawValue) }

    /// The name of the rule with a code; nil where there is none.
    static func named(_ code: UInt16) -> String? { names[code] }

    private static let names = [UInt16: String](uniqueKeysWithValues: allCases.map { ($0.code, $0.rawValue) })

    private static func code(of name: String) -> UInt16 {
        let sum = Array(name.utf8).withUnsafeBytes { CRC32C.of($0) }
        return max(1, UInt16(truncatingIfNeeded: sum ^ sum >> 16))
    }
}
