extension Campaign {
    /// How a CSV input writes a quote inside a quoted field.
    @nonexhaustive
    public enum Escape: String, Sendable, CaseIterable {
        /// Doubled (RFC 4180). An input with a row that may have been written with backslashes instead is refused at this row, because it could
        /// be read in two ways: a quoted field that ends with a backslash, or quotes that are in the right places only if those
        /// after backslashes are text.
        case automatic = "auto"
        /// Doubled (RFC 4180). A backslash is text everywhere.
        case none
        /// With a backslash before it, as Spark, MySQL and pandas do. Inside quotes, a backslash is before a quote, a backslash or a line
        /// end, which are text then, and a doubled quote is one quote. Outside of quotes, `\N` alone is an empty field, and a backslash may
        /// be before a quote. A row with another backslash is invalid: these programs do not mean the same by it.
        case backslash
    }
}
