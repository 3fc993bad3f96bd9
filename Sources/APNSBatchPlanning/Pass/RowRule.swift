import APNSBatchRows

/// The rules of a plan as one thread of a pass applies them: what one row alone decides, and the keys by which rows are
/// compared.
package protocol RowRule {
    /// Returns what becomes of a row, as far as the row itself decides it. Its fields are valid during the call.
    mutating func decide(_ row: Row) -> RowDecision

    /// Returns the digest of the key of a row that is sent; nil if it has none, or if rows are not compared.
    mutating func key(of row: Row) -> (UInt64, UInt64)?
}
