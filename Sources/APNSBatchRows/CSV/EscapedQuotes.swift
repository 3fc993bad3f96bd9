/// How a program reads a record that escapes quotes by backslashes and does not double them.
enum EscapedQuotes {
    /// Returns the first backslash before a quote of a record, if the record may have been written by a program that escapes quotes so and
    /// does not double them; nil if it was not: then a quoted field is closed where no field may end, or a quote is inside of an unquoted one.
    ///
    /// - Parameters:
    ///   - record: the offset of the record.
    ///   - end: that at which it ends by RFC 4180, or its first line, if it is not valid by RFC 4180. A field that is open there is not a fault.
    static func first(_ bytes: Span<UInt8>, record: Int, end: Int, delimiter: UInt8) -> Int? {
        var reading = Reading(end: end, delimiter: delimiter, at: record)
        while reading.next == .field { reading.readField(bytes) }
        return reading.next == .fault ? nil : reading.escape
    }

    private struct Reading {
        enum Next { case field, end, fault }

        let end: Int
        let delimiter: UInt8
        var at: Int
        var escape: Int?
        var next = Next.field

        mutating func readField(_ bytes: Span<UInt8>) {
            if at < end, bytes[at] == Byte.quote { readQuoted(bytes) } else { readUnquoted(bytes) }
        }

        private mutating func readUnquoted(_ bytes: Span<UInt8>) {
            while at < end, bytes[at] != delimiter, bytes[at] != Byte.lineFeed {
                if bytes[at] == Byte.quote {
                    next = .fault
                    return
                }
                skip(bytes)
            }
            goOn(bytes)
        }

        private mutating func readQuoted(_ bytes: Span<UInt8>) {
            at += 1
            while at < end, bytes[at] != Byte.quote { skip(bytes) }
            at += 1
            if at < end, bytes[at] == Byte.carriageReturn { at += 1 }
            if at < end, bytes[at] != delimiter, bytes[at] != Byte.lineFeed {
                next = .fault
                return
            }
            goOn(bytes)
        }

        /// Skips a byte, or two if the first is a backslash.
        private mutating func skip(_ bytes: Span<UInt8>) {
            guard bytes[at] == Byte.backslash, at + 1 < end else {
                at += 1
                return
            }
            if bytes[at + 1] == Byte.quote { escape = escape ?? at }
            // Outside of quotes a backslash at the end of a line does not join lines.
            at += bytes[at + 1] == Byte.lineFeed ? 1 : 2
        }

        private mutating func goOn(_ bytes: Span<UInt8>) {
            next = at < end && bytes[at] == delimiter ? .field : .end
            at += 1
        }
    }
}
