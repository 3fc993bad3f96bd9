import APNSBatchRecords

/// The rows of one chunk, and what becomes of them.
package struct PlanRange: Sendable, Equatable {
    /// The facts as the ledger has them.
    package var facts: LedgerRange
    package var decisions: RowDecisions

    package init(_ facts: LedgerRange, _ decisions: RowDecisions) {
        precondition(facts.rows == decisions.count)
        (self.facts, self.decisions) = (facts, decisions)
    }
}

/// The first record of a plan: the run and the input that it is of.
package struct PlanHeader: Sendable, Equatable {
    /// The campaign id of the run, from which its `apns-id`s derive.
    package var identity: (UInt64, UInt64)
    /// When the plan was made, in seconds since the epoch.
    package var time: UInt64
    /// The length of the input in bytes, as it is stored; nil if it is not known.
    package var inputBytes: UInt64?
    /// The checksum of the names of the input's columns.
    package var columnsSum: UInt32

    package init(identity: (UInt64, UInt64), time: UInt64, inputBytes: UInt64?, columnsSum: UInt32) {
        (self.identity, self.time, self.inputBytes, self.columnsSum) = (identity, time, inputBytes, columnsSum)
    }

    package static func == (left: PlanHeader, right: PlanHeader) -> Bool {
        left.identity == right.identity && left.time == right.time && left.inputBytes == right.inputBytes
            && left.columnsSum == right.columnsSum
    }
}
