/// Raw payloads: strict JSON in, the same JSON in its shortest form out.
///
/// - White space between tokens goes. Inside strings every character becomes real UTF-8, pairs of `\u` surrogates are
///   joined, and only `"`, `\` and what is below U+0020 keeps an escape, the short one where there is one.
/// - Numbers stand as they were written, digit by digit.
/// - Members keep their order. Members of one name in one object are kept too: RFC 8259 (section 4) advises against
///   them but does not forbid them, and dropping one would choose for the author.
/// - At most ``JSONScanner/depthLimit`` levels of objects and arrays.
///
/// The output is never longer than the input.
package enum PayloadCompactor {
    /// Compacts a payload: an object at the top.
    ///
    /// Linear in the input; allocates nothing; safe for any bytes.
    /// - Parameters:
    ///   - json: the raw payload, borrowed until return.
    ///   - column: told back in a failure.
    ///   - output: must not overlap the input.
    package static func compact(
        json: UnsafeRawBufferPointer, column: Int = -1, into output: UnsafeMutableRawBufferPointer
    ) -> RenderOutcome {
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

    /// Writes the scanner's whole text in its shortest form and returns the byte after it, nil after a fault. The
    /// target must have room for what ``measure(_:)`` tells; as many bytes as the text has are always enough.
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
            // Its quotes with it: they stand right before and after.
            return unsafe target.copying(source - 1, scanner.tokenCount &+ 2)
        }
        unsafe target[0] = UInt8(ascii: "\"")
        let end = unsafe JSONString.writeNormalised(source, scanner.tokenCount, to: target + 1)
        unsafe end[0] = UInt8(ascii: "\"")
        return unsafe end + 1
    }

    /// The exact size of the scanner's text in its shortest form, −1 after a fault.
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
