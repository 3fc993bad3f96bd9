/// What the header of a ledger has of the run's plan, so that no other file is taken for it.
package struct PlanSeal: Sendable, Equatable {
    /// The length of the plan in bytes.
    package var bytes: UInt64
    /// The CRC-32C of these bytes.
    package var sum: UInt32

    package init(bytes: UInt64, sum: UInt32) { (self.bytes, self.sum) = (bytes, sum) }
}
