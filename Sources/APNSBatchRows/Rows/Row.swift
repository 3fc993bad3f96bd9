/// A row as the cursor returns it. A bad row has an `error`.
@safe package struct Row {
    /// The 1-based number of the row. The header and blank lines do not count, bad rows do.
    package var row: UInt64 = 0

    /// The 1-based physical line on which the row begins. Every LF ends a line, also inside quotes.
    package var line: UInt64 = 0

    /// The fields, one per column, without quotes. Of a bad row these are the fields before the fault, at most one per
    /// column, and possibly none.
    ///
    /// They are borrowed: the entries are valid until the cursor's next call, the bytes until the chunk is recycled. This
    /// is unsafe, because a lane cannot store a span.
    package var fields = unsafe UnsafeBufferPointer<UnsafeRawBufferPointer>(start: nil, count: 0)

    /// The row's fault; nil for a good row.
    package var error: RowError?

    /// The first byte of the record, valid as long as the bytes of `fields`.
    var start: UnsafeRawPointer?

    /// The format of the record.
    var format = RowFormat.csv(.comma)

    package init() {}
}
