/// What is in doubt about quotes and escapes of CSV.
package enum QuotingDoubt: Equatable, Sendable {
    /// Whether backslashes escape.
    case escapes
    /// Whether a backslash at the end of a line, outside of quotes, joins it to the next one.
    case lineEnd
}

/// A place of which programs that write CSV mean different things, so that the input cannot be read without a word about it.
struct QuotingDispute: Equatable {
    let doubt: QuotingDoubt
    /// The offset of the backslash.
    let offset: Int
}
