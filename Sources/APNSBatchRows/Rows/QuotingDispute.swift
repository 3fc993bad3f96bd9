/// What is in doubt about quotes and escapes of CSV.
package enum QuotingDoubt: Equatable, Sendable {
    /// Whether backslashes escape.
    case escapes
    /// Whether a backslash at the end of a line, outside of quotes, joins it to the next one.
    case lineEnd
}

/// A place that programs write with different meanings, so that the input cannot be read without a setting for it.
struct QuotingDispute: Equatable {
    let doubt: QuotingDoubt
    /// The offset of the backslash.
    let offset: Int
}
