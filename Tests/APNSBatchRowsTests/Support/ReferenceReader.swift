@testable import APNSBatchRows

/// The result of reading a whole input, which is the rows and the cause of a failure.
struct Reading: Equatable {
    var columns: [[UInt8]] = []
    var rows: [ReadRow] = []
    /// The error that ended the reading, or nil at the end of the input.
    var failure: InputError?
}

struct ReadRow: Equatable {
    var row: UInt64
    var line: UInt64
    var fields: [[UInt8]]
    var error: RowError?
    /// The line and column of the content of each field of a valid row.
    var places: [[Int]] = []
}

/// A slow and obvious reader. It keeps the whole input in memory, examines one byte after the other, and has one state
/// for each situation. It shares only the types of errors with the module.
struct ReferenceReader {
    var delimiter = UInt8(ascii: ",")
    var fieldBytes: Int
    var recordBytes: Int
    /// Whether backslashes escape. An input in which they may, though nobody says so, is not recognised.
    var hasEscapes = false

    private enum State {
        case fieldStart, unquoted, quoted, afterQuote, quotedPair, unquotedPair
    }

    /// A record that begins at `start`, read as if no line end could break it.
    private struct Record {
        var fields: [[UInt8]] = []
        /// The offsets at which fields begin, including the invalid field.
        var starts: [Int] = []
        var next = 0
        /// The cause of the error, its offset, and the offset at which it was detected.
        var fault: (cause: RowError.Cause, place: Int, seen: Int)?
    }

    func read(_ input: [UInt8]) -> Reading {
        var at = input.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var line: UInt64 = 1
        var reading = Reading()
        var header: [[UInt8]]?
        while at < input.count {
            if let next = blankLine(input, at) {
                at = next
                line += 1
                continue
            }
            if let place = openLineEnd(input, at) {
                let before = input[at..<place]
                let lineStart = before.lastIndex(of: 10).map { $0 + 1 } ?? at
                reading.failure = .quoting(
                    .lineEnd, line: line + UInt64(before.count { $0 == 10 }), column: place - lineStart + 1)
                return reading
            }
            let (row, next) = row(input, at, line, columns: header?.count, number: UInt64(reading.rows.count + 1))
            if header == nil {
                if let error = row.error {
                    reading.failure = .badHeader(error)
                    return reading
                }
                reading.failure = nameFailure(row.fields)
                if reading.failure != nil { return reading }
                header = row.fields
                reading.columns = row.fields
            } else {
                reading.rows.append(row)
            }
            line += UInt64(input[at..<next].count { $0 == 10 })
            at = next
        }
        if header == nil { reading.failure = .noHeader }
        return reading
    }

    private func nameFailure(_ names: [[UInt8]]) -> InputError? {
        for (index, name) in names.enumerated() {
            if name.isEmpty { return .emptyColumnName(index: index) }
            if let first = names[..<index].firstIndex(of: name) {
                return .duplicateColumnName(String(decoding: name, as: UTF8.self), first: first, second: index)
            }
        }
        return nil
    }

    /// Returns the offset of the backslash of a record before a line end outside of quotes; nil if there is none.
    private func openLineEnd(_ input: [UInt8], _ start: Int) -> Int? {
        let fault = record(input, start, findsEndsOnly: true).fault
        return fault?.cause == .backslashOutsideQuotes ? fault?.place : nil
    }

    private func blankLine(_ input: [UInt8], _ at: Int) -> Int? {
        if input[at] == 10 { return at + 1 }
        guard input[at] == 13 else { return nil }
        if at + 1 == input.count { return at + 1 }
        return input[at + 1] == 10 ? at + 2 : nil
    }

    /// Returns the row at `start`, and the offset of the next one.
    private func row(
        _ input: [UInt8], _ start: Int, _ line: UInt64, columns: Int?, number: UInt64
    ) -> (ReadRow, Int) {
        let whole = record(input, start, findsEndsOnly: true)
        let firstLineEnd = input[start...].firstIndex(of: 10).map { $0 + 1 } ?? input.count
        let isCut = whole.fault != nil && whole.fault!.seen >= firstLineEnd
        let next = whole.fault == nil ? whole.next : firstLineEnd
        // The result is taken from the record, or from its first line alone if the record is cut there.
        let judged = record(isCut ? Array(input[..<firstLineEnd]) : input, start)
        var content = next
        if content > start, input[content - 1] == 10 { content -= 1 }
        if content > start, input[content - 1] == 13 { content -= 1 }

        var finding: (cause: RowError.Cause, place: Int, field: Int)?
        if content - start <= recordBytes, let (place, isNUL) = notText(input, start, content) {
            let field = judged.starts.lastIndex { $0 <= place }!
            finding = (isNUL ? .nulByte : .invalidUTF8, place, field)
        } else if let fault = judged.fault {
            let isOpen = isCut && fault.cause == .unclosedQuote
            finding = (isOpen ? whole.fault!.cause : fault.cause, fault.place, judged.fields.count)
        } else if let columns, judged.fields.count < columns {
            let cause = RowError.Cause.tooFewFields(found: judged.fields.count, expected: columns)
            finding = (cause, content, judged.fields.count)
        } else if let columns, judged.fields.count > columns {
            let cause = RowError.Cause.tooManyFields(found: judged.fields.count, expected: columns)
            finding = (cause, judged.starts[columns], columns)
        }

        func lineAndColumn(_ place: Int) -> (line: UInt64, column: Int) {
            let before = input[start..<place]
            let lineStart = before.lastIndex(of: 10).map { $0 + 1 } ?? start
            return (line + UInt64(before.count { $0 == 10 }), place - lineStart + 1)
        }

        var row = ReadRow(row: number, line: line, fields: judged.fields, error: nil)
        if let finding {
            let place = lineAndColumn(finding.place)
            row.error = RowError(
                line: place.line, column: place.column, field: min(finding.field, columns ?? .max),
                cause: finding.cause)
            row.fields = Array(judged.fields.prefix(min(finding.field, columns ?? .max)))
        } else {
            row.places = judged.starts.map { start in
                let isQuoted = start < input.count && input[start] == 34
                let place = lineAndColumn(isQuoted ? start + 1 : start)
                return [Int(place.line), place.column]
            }
        }
        return (row, next)
    }

    private func notText(_ input: [UInt8], _ start: Int, _ end: Int) -> (place: Int, isNUL: Bool)? {
        var parser = Unicode.UTF8.ForwardParser()
        var bytes = input[start..<end].makeIterator()
        var place = start
        while true {
            switch parser.parseScalar(from: &bytes) {
            case .valid(let scalar):
                if scalar.first == 0 { return (place, true) }
                place += scalar.count
            case .error: return (place, false)
            case .emptyInput: return nil
            }
        }
    }

    /// - Parameter findsEndsOnly: Whether a backslash that programs read differently is no fault, if they agree where the record ends.
    private func record(_ input: [UInt8], _ start: Int, findsEndsOnly: Bool = false) -> Record {
        var record = Record()
        var state = State.fieldStart
        var field: [UInt8] = []
        var fieldLength = 0
        var isNull = false
        var at = start
        func isEnd(_ at: Int) -> Int? {
            if at == input.count { return 0 }
            if input[at] == 10 { return 1 }
            guard input[at] == 13 else { return nil }
            if at + 1 == input.count { return 1 }
            return input[at + 1] == 10 ? 2 : nil
        }
        func endField() {
            record.fields.append(isNull ? [] : field)
            isNull = false
            field = []
            fieldLength = 0
        }
        /// The fault of the backslash at `at`; nil if it escapes the byte behind it.
        func faultOfPair(isQuoted: Bool) -> RowError.Cause? {
            let behind = input[(at + 1)...].prefix(2)
            guard isQuoted else {
                if behind.first == 34 { return nil }
                isNull =
                    state == .fieldStart && behind.first == 78 && (isEnd(at + 2) != nil || input[at + 2] == delimiter)
                return isNull ? nil : .backslashOutsideQuotes
            }
            if behind.first == 34 || behind.first == 92 || behind.first == 10 || Array(behind) == [13, 10] {
                return nil
            }
            return behind.isEmpty ? .unclosedQuote : behind.first == 48 ? .nulByte : .unknownEscape
        }
        while true {
            if state == .fieldStart { record.starts.append(at) }
            if state != .quoted, state != .quotedPair, state != .unquotedPair, let length = isEnd(at) {
                endField()
                record.next = at + length
                return record
            }
            if at == input.count {
                record.fault = (.unclosedQuote, record.starts.last!, at)
                return record
            }
            let byte = input[at]
            let isOver = at - start >= recordBytes
            let tooLong = (RowError.Cause.recordTooLong(limit: recordBytes), start, at)
            switch (state, byte) {
            case (.fieldStart, 34):
                if isOver { record.fault = tooLong }
                state = .quoted
            case (.fieldStart, delimiter), (.unquoted, delimiter), (.afterQuote, delimiter):
                if isOver { record.fault = tooLong } else { endField() }
                state = .fieldStart
            case (.unquoted, 34):
                record.fault = (.quoteInUnquotedField, at, at)
            case (.afterQuote, 34):
                // The quote before this byte did not close the field.
                takeContent(34, length: 2)
                state = .quoted
            case (.afterQuote, _):
                record.fault = (.textAfterClosingQuote, at, at)
            case (.quoted, 34):
                // This quote closes a field that exceeds the limit. A doubled quote is handled at its second half.
                let isDoubled = at + 1 < input.count && input[at + 1] == 34
                if isOver, !isDoubled { record.fault = tooLong }
                state = .afterQuote
            case (.fieldStart, 92) where hasEscapes, (.unquoted, 92) where hasEscapes, (.quoted, 92) where hasEscapes:
                let isQuoted = state == .quoted
                let isFull = isOver || fieldLength == fieldBytes
                let fault = faultOfPair(isQuoted: isQuoted)
                let isNullTooLong =
                    state == .fieldStart && input[(at + 1)...].first == 78 && at + 1 - start >= recordBytes
                if isNullTooLong, !isFull {
                    record.fault = (.recordTooLong(limit: recordBytes), start, at + 1)
                } else if isOver || isFull && (!isQuoted || fault != nil) {
                    takeContent(byte, length: 1)
                } else if let fault, !findsEndsOnly || fault == .unclosedQuote {
                    record.fault = (fault, fault == .unclosedQuote ? record.starts.last! : at, at)
                } else if fault != nil, !isQuoted, let end = isEnd(at + 1), end > 0 {
                    record.fault = (.backslashOutsideQuotes, at, at)
                } else if fault != nil, !isQuoted, input[(at + 1)...].first != 92 {
                    takeContent(byte, length: 1)
                    state = .unquoted
                    break
                }
                state = isQuoted ? .quotedPair : .unquotedPair
            case (.quotedPair, _), (.unquotedPair, _):
                takeContent(byte, length: 2)
                state = state == .quotedPair ? .quoted : .unquoted
            case (.fieldStart, _), (.unquoted, _), (.quoted, _):
                if state == .fieldStart { state = .unquoted }
                takeContent(byte, length: 1)
            }
            func takeContent(_ byte: UInt8, length: Int) {
                fieldLength += length
                field.append(byte)
                if fieldLength > fieldBytes {
                    record.fault = (.fieldTooLong(limit: fieldBytes), record.starts.last!, at)
                } else if isOver {
                    record.fault = tooLong
                }
            }
            if record.fault != nil { return record }
            at += 1
        }
    }
}
