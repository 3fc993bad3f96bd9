/// A value for each outcome, at its raw value. Has as many places as there are outcomes.
@usableFromInline package typealias PerOutcome<Value: ~Copyable> = InlineArray<7, Value>

/// The number of rows by outcome.
@usableFromInline package struct OutcomeCounts: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// The counts by the outcome's raw value.
    @usableFromInline package var counts = PerOutcome<UInt64>(repeating: 0)

    @usableFromInline
    package init(dictionaryLiteral elements: (Outcome, UInt64)...) {
        for (outcome, count) in elements { self[outcome] = count }
    }

    @inlinable
    package subscript(outcome: Outcome) -> UInt64 {
        get { counts[Int(outcome.rawValue)] }
        set { counts[Int(outcome.rawValue)] = newValue }
    }

    /// The number of all rows.
    package var sum: UInt64 { counts.indices.reduce(0) { $0 + counts[$1] } }

    package static func += (left: inout OutcomeCounts, right: OutcomeCounts) {
        for index in left.counts.indices { left.counts[index] += right.counts[index] }
    }

    @usableFromInline
    package static func == (left: OutcomeCounts, right: OutcomeCounts) -> Bool {
        left.counts.indices.allSatisfy { left.counts[$0] == right.counts[$0] }
    }
}
