extension PayloadTemplate {
    /// Renders the payload of a row.
    ///
    /// It takes linear time. One pass suffices if the output has room for the payload even if every character must be
    /// escaped; else the payload is measured first. Text is not checked: the fields are UTF-8 because the reader has
    /// checked the input, and other bytes would just be copied.
    ///
    /// - Parameters:
    ///   - fields: one for each column, borrowed until return.
    ///   - output: the room for the payload. Its content is undefined unless the outcome is `written`. It must not overlap
    ///     the fields.
    package func render(
        fields: UnsafeBufferPointer<UnsafeRawBufferPointer>, into output: UnsafeMutableRawBufferPointer
    ) -> RenderOutcome {
        precondition(fields.count == columns.count, "a row has one field for each column")
        var countMax = fixedCountMax
        for field in growth { unsafe countMax &+= fields[field.column].count &* field.factor }
        if countMax > output.count {
            let measured = unsafe measure(fields)
            guard case .written(let count) = measured else { return measured }
            if count > output.count { return .tooLarge(count) }
        }
        return unsafe steps.withUnsafeBufferPointer { steps in
            unsafe literals.withUnsafeBufferPointer { literals in
                // A payload has at least two bytes, so if it fits there is an address.
                unsafe Self.write(
                    fields, steps.baseAddress.unsafelyUnwrapped, literals.baseAddress.unsafelyUnwrapped,
                    to: output.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
            }
        }
    }

    /// Returns the text of a failure of this template.
    ///
    /// - Parameter fields: the fields that were rendered.
    package func describe(_ failure: RenderFailure, fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> String {
        unsafe failure.description(column: columns[failure.column], field: fields[failure.column])
    }

    /// Writes the payload without checking the capacity.
    @inline(__always)
    private static func write(
        _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ steps: UnsafePointer<TemplateStep>,
        _ literals: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>
    ) -> RenderOutcome {
        var step = unsafe steps
        var out = unsafe target
        while true {
            unsafe out = unsafe out.copying(literals + Int(step.pointee.literal), Int(step.pointee.literalCount))
            let column = unsafe Int(step.pointee.column)
            switch unsafe step.pointee.action {
            case .none: break
            case .end: return unsafe .written(out - target)
            case .jump:
                unsafe step = unsafe steps + Int(step.pointee.operand)
                continue
            case .dropComma: if unsafe (out - 1).pointee == UInt8(ascii: ",") { unsafe out -= 1 }
            case .skipIfEmpty:
                if unsafe fields[column].isEmpty {
                    unsafe step = unsafe steps + Int(step.pointee.operand)
                    continue
                }
            case .text:
                let field = unsafe fields[column]
                unsafe out = unsafe JSONString.writeEscaped(field.start, field.count, to: out)
            case .number:
                let field = unsafe fields[column]
                guard unsafe NumberField.isValid(field.start, field.count) else {
                    return .invalid(RenderFailure(column: column, cause: .notNumber))
                }
                unsafe out = unsafe out.copying(field.start, field.count)
            case .bool:
                let field = unsafe fields[column]
                guard let value = unsafe BoolField.parse(field.start, field.count) else {
                    return .invalid(RenderFailure(column: column, cause: .notBool))
                }
                unsafe out = unsafe BoolField.write(value, to: out)
            case .json:
                var scanner = unsafe JSONScanner(fields[column], top: .anyValue, depthAbove: Int(step.pointee.operand))
                guard let end = unsafe PayloadCompactor.write(&scanner, to: out) else {
                    return .invalid(PayloadCompactor.failure(scanner, column: column))
                }
                unsafe out = unsafe end
            }
            unsafe step += 1
        }
    }

    /// Returns the exact size as `written`, or the failure that rendering would return.
    private func measure(_ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> RenderOutcome {
        var index = 0
        var size = 0
        var endsInComma = false
        while true {
            let step = steps[index]
            if step.literalCount > 0 {
                size &+= Int(step.literalCount)
                endsInComma = literals[Int(step.literal &+ step.literalCount) &- 1] == UInt8(ascii: ",")
            }
            index &+= 1
            switch step.action {
            case .none: break
            case .end: return .written(size)
            case .jump: index = Int(step.operand)
            case .dropComma: if endsInComma { size &-= 1 }
            case .skipIfEmpty: if unsafe fields[Int(step.column)].isEmpty { index = Int(step.operand) }
            case .text, .number, .bool, .json:
                let measured = unsafe measureField(step, fields[Int(step.column)])
                guard case .written(let count) = measured else { return measured }
                size &+= count
                endsInComma = false
            }
        }
    }

    private func measureField(_ step: TemplateStep, _ field: UnsafeRawBufferPointer) -> RenderOutcome {
        let column = Int(step.column)
        let bytes = unsafe field.start
        switch step.action {
        case .number:
            return unsafe NumberField.isValid(bytes, field.count)
                ? .written(field.count) : .invalid(RenderFailure(column: column, cause: .notNumber))
        case .bool:
            guard let value = unsafe BoolField.parse(bytes, field.count) else {
                return .invalid(RenderFailure(column: column, cause: .notBool))
            }
            return .written(value ? 4 : 5)
        case .json:
            var scanner = unsafe JSONScanner(field, top: .anyValue, depthAbove: Int(step.operand))
            let size = PayloadCompactor.measure(&scanner)
            return size < 0 ? .invalid(PayloadCompactor.failure(scanner, column: column)) : .written(size)
        default: return unsafe .written(JSONString.escapedCount(bytes, field.count))
        }
    }
}

/// A field that must be a number.
enum NumberField {
    @inline(__always)
    static func isValid(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        unsafe count > 0 && JSONNumber.length(bytes, available: count) == count
    }
}

/// A field that must be a Boolean: `true` or `false` in any case, as written by spreadsheets and scripts, `1` or `0`, or `t` or `f`, as
/// PostgreSQL prints them.
/// Words of a natural language, such as yes and no, are not accepted.
enum BoolField {
    static let writtenCountMax = 5

    @inline(__always)
    static func parse(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool? {
        switch count {
        case 1 where unsafe bytes[0] | 1 == UInt8(ascii: "1"): return unsafe bytes[0] == UInt8(ascii: "1")
        case 1 where unsafe bytes[0] == UInt8(ascii: "t") || bytes[0] == UInt8(ascii: "f"):
            return unsafe bytes[0] == UInt8(ascii: "t")
        case 4 where unsafe lowercased(bytes) == 0x6575_7274: return true  // "true"
        case 5 where unsafe lowercased(bytes) == 0x736C_6166 && bytes[4] | 0x20 == UInt8(ascii: "e"): return false  // "fals"
        default: return nil
        }
    }

    /// Returns four letters as one little-endian word in lower case. No other byte becomes a letter.
    @inline(__always)
    private static func lowercased(_ bytes: UnsafePointer<UInt8>) -> UInt32 {
        unsafe UInt32(littleEndian: bytes.word(as: UInt32.self)) | 0x2020_2020
    }

    @inline(__always)
    static func write(_ value: Bool, to target: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        unsafe target.put(UInt32(littleEndian: value ? 0x6575_7274 : 0x736C_6166))
        if value { return unsafe target + 4 }
        unsafe target[4] = UInt8(ascii: "e")
        return unsafe target + 5
    }
}
