import APNSBatchBasics
import APNSBatchNotification

/// The number of rows that violate one rule, and the places of the first of them.
package struct InvalidRows: Sendable, Equatable {
    package private(set) var count: UInt64 = 0
    /// The places of the first rows, in the order of rows.
    private var first: [(row: UInt64, place: String)] = []

    static let placesMax = 3
    /// The name for rows without a rule in the ledger; version 0.1.0 did not record rules.
    static let withoutRule = "not recorded"

    /// File, line and column of the first rows, such as `rows.csv:2:1`.
    package var places: [String] { first.map(\.place) }

    /// Whether the place of this row would be kept.
    func keepsPlace(of row: UInt64) -> Bool {
        first.count < Self.placesMax || row < first[first.count - 1].row
    }

    package init() {}

    /// - Parameter place: Nil if it is not known or not kept.
    package mutating func count(_ row: UInt64, place: String?) {
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

    /// Returns the place at the beginning of a finding's text (`rows.csv:1042:17: badge: …`); nil if there is none.
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
    /// The number that identifies the rule in the ledger. It depends only on the rule's name, so that it does not change
    /// when rules are added. Never 0.
    package var code: UInt16 { Self.code(of: rawValue) }

    /// Returns the name of the rule with this code; nil if there is none.
    static func named(_ code: UInt16) -> String? { names[code] }

    private static let names = [UInt16: String](uniqueKeysWithValues: allCases.map { ($0.code, $0.rawValue) })

    private static func code(of name: String) -> UInt16 {
        let sum = unsafe Array(name.utf8).withUnsafeBytes { unsafe CRC32C.of($0) }
        return max(1, UInt16(truncatingIfNeeded: sum ^ sum >> 16))
    }
}
