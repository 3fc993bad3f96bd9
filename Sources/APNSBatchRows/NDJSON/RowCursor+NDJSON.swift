// Rows that are lines of JSON. A member whose key is the name of a column is its field: a string without quotes and escapes, and any
// other value as it stands. A column without a member, or with null, is empty.
extension RowCursor {
    /// See `parse`.
    @inline(__always)
    mutating func parseNDJSON(_ record: Record) -> UInt64? {
        if !(members.isKnown && readShape(record)) {
            clearFields()
            if readMembers(record) != nil { return nil }
        }
        if hasEscapes { replaceEscapes() }
        return 0
    }

    /// See `judge`.
    @inline(never)
    mutating func judgeNDJSON(_ record: Record, into row: inout Row) -> UInt64 {
        clearFields()
        let finding = judge(record)
        if var finding {
            // A CR before the line end counts as a blank.
            finding.position = min(finding.position, record.content)
            row.error = RowError(
                line: row.line, column: finding.position - record.start + 1, field: columnCount, cause: finding.cause)
            // A field that follows the fault, or has it, is not one.
            for index in 0..<columnCount where unsafe end(of: fields[index]) > finding.position { clearField(index) }
        } else {
            row.error = nil
        }
        replaceEscapes()
        unsafe row.fields = UnsafeBufferPointer(start: fields, count: columnCount)
        return 1
    }

    private typealias Finding = (position: Int, cause: RowError.Cause)

    private mutating func judge(_ record: Record) -> Finding? {
        if record.length > limits.recordBytes {
            return (record.start, .recordTooLong(limit: limits.recordBytes))
        }
        let fault = readMembers(record)
        let content = unsafe UnsafeBufferPointer(start: bytes, count: record.content)
        if let text = unsafe TextCheck.firstFault(content.span, from: record.start, to: record.content) {
            return (text.at, text.isNUL ? .nulByte : .invalidUTF8)
        }
        if let fault { return (fault.position, .json(fault.cause)) }
        for index in 0..<columnCount where unsafe fields[index].count > limits.fieldBytes {
            let start = unsafe end(of: fields[index]) - fields[index].count
            let quote = unsafe bytes[start - 1] == Byte.quote ? 1 : 0
            return (start - quote, .fieldTooLong(limit: limits.fieldBytes))
        }
        return nil
    }

    /// The offset of the end of a field in the chunk; 0 if it is empty because it has no member.
    private func end(of field: UnsafeRawBufferPointer) -> Int {
        unsafe field.baseAddress.map { unsafe $0 - UnsafeRawPointer(bytes) + field.count } ?? 0
    }

    private mutating func clearFields() {
        hasEscapes = false
        for index in 0..<columnCount { clearField(index) }
    }

    @inline(__always)
    private mutating func clearField(_ index: Int) {
        unsafe fields[index] = UnsafeRawBufferPointer(start: nil, count: 0)
        unsafe states[index] = .absent
    }

    /// Reads a record that has the shape of the last one. Returns false if it has not. The columns without a member are empty since the
    /// row whose shape was learned.
    @inline(__always)
    private mutating func readShape(_ record: Record) -> Bool {
        hasEscapes = false
        var line = unsafe JSONLine(bytes)
        var at = record.start
        for index in members.indices {
            let member = members[index]
            guard unsafe members.matches(member, bytes + at) else { return false }
            if member.column < JSONMembers.none { clearFields(in: member.column) }
            at = readValue(of: member.column, at: at &+ member.length, &line)
            if at < 0 { return false }
        }
        return unsafe members.matchesTail(bytes + at, count: record.content &- at)
    }

    /// Reads any record, learns its shape, and returns its first fault.
    private mutating func readMembers(_ record: Record) -> JSONLine.Fault? {
        var line = unsafe JSONLine(bytes)
        members.beginShape()
        let open = line.skipBlanks(record.start)
        guard unsafe bytes[open] == UInt8(ascii: "{") else {
            return JSONLine.Fault(cause: .expectedObject, position: min(open, record.content))
        }
        var (before, at) = (record.start, line.skipBlanks(open &+ 1))
        if unsafe bytes[at] != UInt8(ascii: "}") {
            while true {
                at = readMember(at, after: before, &line)
                if at < 0 { return line.fault }
                before = at
                at = line.skipBlanks(at)
                if unsafe bytes[at] == UInt8(ascii: "}") { break }
                guard unsafe bytes[at] == UInt8(ascii: ",") else {
                    return JSONLine.Fault(cause: .expectedComma, position: min(at, record.content))
                }
                at = line.skipBlanks(at &+ 1)
            }
        }
        at = line.skipBlanks(at &+ 1)
        guard at >= record.content else { return JSONLine.Fault(cause: .textAfterEnd, position: at) }
        unsafe members.endShape(UnsafeRawBufferPointer(start: bytes + before, count: record.content &- before))
        return nil
    }

    /// Reads a member, and returns the offset after its value, or -1 with the fault in `line`.
    ///
    /// - Parameters:
    ///   - key: the offset at which its key should begin.
    ///   - before: the offset at which the text before its value begins, for the shape.
    private mutating func readMember(_ key: Int, after before: Int, _ line: inout JSONLine) -> Int {
        let value = line.endOfKey(from: key)
        if value < 0 { return -1 }
        let name = unsafe UnsafeRawBufferPointer(start: bytes + key + 1, count: line.keyEnd &- key &- 1)
        let column = unsafe members.column(of: name, isEscaped: line.isEscaped)
        if column >= 0 ? unsafe states[column] != .absent : column < JSONMembers.none && members.has(node: column) {
            return line.fail(.duplicateKey, at: key)
        }
        unsafe members.add(column, UnsafeRawBufferPointer(start: bytes + before, count: value &- before))
        return readValue(of: column, at: value, &line)
    }

    @inline(__always)
    private mutating func readValue(of column: Int, at start: Int, _ line: inout JSONLine) -> Int {
        if unsafe bytes[start] == Byte.quote {
            let close = line.endOfString(from: start &+ 1)
            if close < 0 { return -1 }
            if column >= 0 {
                setField(column, start &+ 1, close)
                unsafe states[column] = line.isEscaped ? .escaped : .plain
                if line.isEscaped { hasEscapes = true }
            }
            return close &+ 1
        }
        let end = column < JSONMembers.none ? readNested(column, at: start, &line) : line.endOfValue(from: start)
        if end < 0 { return -1 }
        if column >= 0 {
            unsafe states[column] = .plain
            setField(column, start, unsafe bytes[start] == UInt8(ascii: "n") ? start : end)
        }
        return end
    }

    /// Replaces the escapes of all fields. This comes after the row was judged, because places are counted in the original bytes.
    @inline(never)
    private mutating func replaceEscapes() {
        for index in 0..<columnCount where unsafe states[index] == .escaped {
            unsafe fields[index] = JSONEscape.replace(in: fields[index])
        }
    }
}

// Values that have columns within them.
extension RowCursor {
    /// Empties the columns within the value of a node, which may lack keys that the row before had.
    @inline(never)
    private mutating func clearFields(in node: Int) {
        members.forEachColumn(in: node) { column in
            unsafe fields[column] = UnsafeRawBufferPointer(start: nil, count: 0)
            unsafe states[column] = .absent
        }
    }

    /// Reads the value of a node. One that is neither an object nor an array has no columns.
    @inline(never)
    private mutating func readNested(_ node: Int, at start: Int, _ line: inout JSONLine) -> Int {
        line.depth &+= 1
        defer { line.depth &-= 1 }
        return switch unsafe bytes[start] {
        case UInt8(ascii: "{"): readObject(node, at: start, &line)
        case UInt8(ascii: "["): readArray(node, at: start, &line)
        default: line.endOfValue(from: start)
        }
    }

    private mutating func readObject(_ node: Int, at start: Int, _ line: inout JSONLine) -> Int {
        var at = line.skipBlanks(start &+ 1)
        if unsafe bytes[at] == UInt8(ascii: "}") { return at &+ 1 }
        while true {
            let value = line.endOfKey(from: at)
            if value < 0 { return -1 }
            let name = unsafe UnsafeRawBufferPointer(start: bytes + at + 1, count: line.keyEnd &- at &- 1)
            let column = unsafe members.column(of: name, isEscaped: line.isEscaped, in: node)
            if column >= 0, unsafe states[column] != .absent { return line.fail(.duplicateKey, at: at) }
            at = readValue(of: column, at: value, &line)
            if at < 0 { return -1 }
            at = line.skipBlanks(at)
            if unsafe bytes[at] == UInt8(ascii: "}") { return at &+ 1 }
            guard unsafe bytes[at] == UInt8(ascii: ",") else { return line.fail(.expectedComma, at: at) }
            at = line.skipBlanks(at &+ 1)
        }
    }

    private mutating func readArray(_ node: Int, at start: Int, _ line: inout JSONLine) -> Int {
        var at = line.skipBlanks(start &+ 1)
        if unsafe bytes[at] == UInt8(ascii: "]") { return at &+ 1 }
        var index = 0
        while true {
            at = readValue(of: members.column(ofElement: index, in: node), at: at, &line)
            if at < 0 { return -1 }
            at = line.skipBlanks(at)
            if unsafe bytes[at] == UInt8(ascii: "]") { return at &+ 1 }
            guard unsafe bytes[at] == UInt8(ascii: ",") else { return line.fail(.expectedComma, at: at) }
            at = line.skipBlanks(at &+ 1)
            index &+= 1
        }
    }
}

/// What a row has for a column.
enum JSONFieldState: UInt8 {
    case absent, plain
    /// A string with escapes.
    case escaped
}

// The place of a field in a line of JSON.
extension Row {
    /// See `place(of:)`.
    func placeInNDJSON(of field: Int) -> (line: UInt64, column: Int) {
        guard let start = unsafe start, let content = unsafe fields[field].baseAddress else { return (line, 1) }
        return unsafe (line, content - start + 1)
    }
}
