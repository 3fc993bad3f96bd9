/// Converts raw payloads to their shortest form. The input must be strict JSON.
///
/// - White space between tokens is removed. In strings every character becomes UTF-8, surrogate pairs of `\u` escapes are
///   joined, and only `"`, `\` and characters below U+0020 are escaped, by the short form if there is one.
/// - Numbers are copied unchanged.
/// - Members keep their order. Duplicate keys in an object are kept: RFC 8259 (section 4) discourages but does not forbid
///   them, and dropping one would be a choice that belongs to the author.
/// - There may be at most ``JSONScanner/depthLimit`` levels of objects and arrays.
///
/// The output is never longer than the input.
package enum PayloadCompactor {
    /// Compacts a payload, which must be an object.
    ///
    /// It takes linear time, does not allocate, and is safe for any bytes.
    ///
    /// - Parameters:
    ///   - json: the raw payload, borrowed until return.
    ///   - column: the column to report in a failure.
    ///   - output: must not overlap the input.
    package static func compact(
        json: UnsafeRawBufferPointer, column: Int = -1, into output: UnsafeMutableRawBufferPointer
    ) -> RenderOutcome {
        if json.count <= output.count, let start = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self),
            let end = unsafe ShortestCopy.copy(json, to: start)
        {
            return unsafe .written(end - start)
        }
        var scanner = unsafe JSONScanner(json, top: .object)
        if json.count > output.count {
            let size = measure(&scanner)
            if size < 0 { return .invalid(failure(scanner, column: column)) }
            if size > output.count { return .tooLarge(size) }
            scanner = unsafe JSONScanner(json, top: .object)
        }
        guard let start = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
            return .invalid(RenderFailure(column: column, cause: .notJSON(.empty)))
        }
        guard let end = unsafe write(&scanner, to: start) else { return .invalid(failure(scanner, column: column)) }
        return unsafe .written(end - start)
    }

    static func failure(_ scanner: JSONScanner, column: Int) -> RenderFailure {
        RenderFailure(column: column, offset: scanner.faultOffset, cause: .notJSON(scanner.fault))
    }

    /// Writes the scanner's text in its shortest form and returns the address after it; nil after a fault. The target must
    /// have room for ``measure(_:)`` bytes; the length of the text is always enough.
    static func write(
        _ scanner: inout JSONScanner, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8>? {
        var out = unsafe target
        while true {
            let token = scanner.next()
            if scanner.isSeparated {
                unsafe out[0] = UInt8(ascii: ",")
                unsafe out += 1
            }
            switch token {
            case .key:
                unsafe out = unsafe writeString(scanner, to: out)
                unsafe out[0] = UInt8(ascii: ":")
                unsafe out += 1
            case .string: unsafe out = unsafe writeString(scanner, to: out)
            case .number, .literal:
                unsafe out = unsafe out.copying(scanner.bytes + scanner.tokenStart, scanner.tokenCount)
            case .objectStart, .objectEnd, .arrayStart, .arrayEnd:
                unsafe out[0] = unsafe scanner.bytes[scanner.tokenStart]
                unsafe out += 1
            case .end: return unsafe out
            case .fault: return nil
            }
        }
    }

    @inline(__always)
    private static func writeString(
        _ scanner: JSONScanner, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        let source = unsafe scanner.bytes + scanner.tokenStart
        if scanner.tokenIsShortest {
            // Including the quotes, which directly precede and follow it.
            return unsafe target.copying(source - 1, scanner.tokenCount &+ 2)
        }
        unsafe target[0] = UInt8(ascii: "\"")
        let end = unsafe JSONString.writeNormalised(source, scanner.tokenCount, to: target + 1)
        unsafe end[0] = UInt8(ascii: "\"")
        return unsafe end + 1
    }

    /// Returns the exact length of the scanner's text in its shortest form, −1 after a fault.
    static func measure(_ scanner: inout JSONScanner) -> Int {
        var size = 0
        while true {
            let token = scanner.next()
            if scanner.isSeparated { size &+= 1 }
            switch token {
            case .key: size &+= scanner.tokenWrittenCount &+ 3
            case .string: size &+= scanner.tokenWrittenCount &+ 2
            case .number, .literal: size &+= scanner.tokenCount
            case .objectStart, .objectEnd, .arrayStart, .arrayEnd: size &+= 1
            case .end: return size
            case .fault: return -1
            }
        }
    }
}
