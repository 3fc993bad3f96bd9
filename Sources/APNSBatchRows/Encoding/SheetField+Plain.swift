import APNSBatchBasics

extension SheetField {
    /// Returns what a field was before it was altered; a field that was not altered as it is.
    package static func plain(_ field: UnsafeRawBufferPointer) -> [UInt8] {
        guard unsafe field.first == Byte.apostrophe && looksAltered(field) else { return unsafe Array(field) }
        var plain: [UInt8] = []
        var rest = unsafe Array(field.dropFirst())[...]
        while let byte = rest.popFirst() {
            guard byte == Byte.backslash, let kind = rest.popFirst() else {
                plain.append(byte)
                continue
            }
            switch kind {
            case UInt8(ascii: "n"): plain.append(Byte.lineFeed)
            case UInt8(ascii: "r"): plain.append(Byte.carriageReturn)
            case UInt8(ascii: "t"): plain.append(UInt8(ascii: "\t"))
            case UInt8(ascii: "u"): plain += takeScalar(&rest)
            case UInt8(ascii: "x"): plain += takeNumber(&rest, digits: 2).map { [UInt8(truncatingIfNeeded: $0)] } ?? []
            default: plain.append(kind)
            }
        }
        return plain
    }

    private static func takeScalar(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        takeNumber(&rest, digits: 4).flatMap(Unicode.Scalar.init).map { Array(String($0).utf8) } ?? []
    }

    private static func takeNumber(_ rest: inout ArraySlice<UInt8>, digits: Int) -> UInt32? {
        defer { rest = rest.dropFirst(digits) }
        return UInt32(String(decoding: rest.prefix(digits), as: UTF8.self), radix: 16)
    }
}
