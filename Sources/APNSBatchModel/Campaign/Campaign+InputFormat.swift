extension Campaign {
    /// How the bytes of an input are split into rows and fields.
    @nonexhaustive
    public enum InputFormat: String, Sendable, CaseIterable {
        /// NDJSON if the name of the input ends in `.ndjson` or `.jsonl`, perhaps followed by `.gz` or `.zst`, or if its first byte is
        /// `{`; CSV otherwise.
        case automatic = "auto"
        /// Comma-separated values (RFC 4180) with a header row, in UTF-8.
        case csv
        /// A JSON object (RFC 8259) on each line, in UTF-8. Its keys are the names of the columns, of which those that the campaign uses
        /// are read.
        ///
        /// A string is a field without its quotes and escapes. Numbers, Booleans, objects and arrays keep their JSON text. A key that
        /// is missing, or whose value is null, is an empty field. A line that is no such object is an invalid row.
        case ndjson
    }
}
