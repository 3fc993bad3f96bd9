import APNSBatchBasics

/// Which fields are altered.
extension SheetField {
    static func isAltered(_ field: UnsafeRawBufferPointer) -> Bool {
        guard let first = unsafe field.first else { return false }
        if unsafe isFormula(field) { return unsafe !isNumber(field) }
        if first == Byte.apostrophe, unsafe looksAltered(field) { return true }
        return unsafe !isPrintableASCII(field) && hasHarm(field)
    }

    /// Whether a field begins with an apostrophe and what follows it in an altered field.
    static func looksAltered(_ field: UnsafeRawBufferPointer) -> Bool {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: field.dropFirst())
        return unsafe isFormula(rest) || rest.first == Byte.apostrophe || rest.contains(Byte.backslash)
    }

    /// Whether a field begins with a character with which spreadsheets begin a formula, or with its wide form.
    ///
    /// Source: OWASP, "CSV Injection". Tabs and line ends are control characters.
    private static func isFormula(_ field: UnsafeRawBufferPointer) -> Bool {
        guard let first = unsafe field.first else { return false }
        if first < 0x80 { return "=+-@".utf8.contains(first) }
        // U+FF0B, U+FF0D, U+FF1D, U+FF20.
        guard first == 0xEF, field.count >= 3 else { return false }
        return unsafe (field[1] == 0xBC && [0x8B, 0x8D, 0x9D, 0xA0].contains(field[2]))
    }

    /// Whether a field is a sign, digits with points or commas between them, and perhaps an exponent.
    private static func isNumber(_ field: UnsafeRawBufferPointer) -> Bool {
        guard unsafe field[0] == UInt8(ascii: "+") || field[0] == UInt8(ascii: "-") else { return false }
        let rest = unsafe field.dropFirst()
        let end = unsafe rest.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? rest.endIndex
        let (digits, exponent) = unsafe (rest[..<end], rest[end...].dropFirst())
        let isSigned = unsafe exponent.first == UInt8(ascii: "-") || exponent.first == UInt8(ascii: "+")
        let power = unsafe isSigned ? exponent.dropFirst() : exponent
        return unsafe digits.contains(where: \.isDigit) && digits.allSatisfy { $0.isDigit || ".,".utf8.contains($0) }
            && power.allSatisfy(\.isDigit) && (end == rest.endIndex || !power.isEmpty)
    }

    /// Whether a field has the form of base64, which no function and no other program can be called in.
    static func isChannelID(_ field: UnsafeRawBufferPointer) -> Bool {
        let padding = unsafe field.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return unsafe field.count % 4 == 0 && padding <= 2
            && field.dropLast(padding).allSatisfy {
                $0.isDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || "+/".utf8.contains($0)
            }
    }

    /// Whether all bytes are from 0x20 to 0x7E. Checks 16 bytes at a time.
    private static func isPrintableASCII(_ field: UnsafeRawBufferPointer) -> Bool {
        guard let start = field.baseAddress else { return true }
        var offset = 0
        var isOther = SIMD16<UInt8>.zero .!= .zero
        func note(_ bytes: SIMD16<UInt8>) { isOther .|= bytes &- SIMD16(repeating: 0x20) .> SIMD16(repeating: 0x5E) }
        while offset &+ 16 <= field.count {
            note(unsafe start.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self))
            offset &+= 16
        }
        var rest = SIMD16<UInt8>(repeating: 0x20)
        unsafe withUnsafeMutableBytes(of: &rest) {
            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: field[offset...]))
        }
        note(rest)
        let halves = unsafe unsafeBitCast(isOther, to: SIMD2<UInt64>.self)
        return halves[0] | halves[1] == 0
    }

    private static func hasHarm(_ field: UnsafeRawBufferPointer) -> Bool {
        var hasHarm = false
        unsafe forEachPart(of: field) { part in
            switch unsafe part {
            case .harmful, .stray: hasHarm = true
            case .plain: break
            }
        }
        return hasHarm
    }
}
