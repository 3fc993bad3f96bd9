/// Why a text is no device token. Trivial, so that the good path costs nothing.
package enum DeviceTokenFault: Error, Equatable, Sendable {
    case empty
    /// A blank or a tab at an end.
    case blank
    /// Offset of the first byte that is no hex digit.
    case notHex(at: Int)
    /// An odd count of digits.
    case odd(Int)
    /// Digits it has.
    case tooLong(Int)
}

extension DeviceToken {
    /// What is wrong with a text that was refused; the most telling fault first.
    static func fault(of text: UnsafeRawBufferPointer) -> DeviceTokenFault {
        guard let first = text.first, let last = text.last else { return .empty }
        if isBlank(first) || isBlank(last) { return .blank }
        if text.count > lengthMax { return .tooLong(text.count) }
        if let offset = text.firstIndex(where: { !isHexDigit($0) }) { return .notHex(at: offset) }
        return .odd(text.count)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}

extension DeviceTokenFault {
    /// A sentence without a full stop: column, what was expected, what was found. Never the token.
    package func message(for text: UnsafeRawBufferPointer) -> String {
        switch self {
        case .empty: "token: expected hex digits, found nothing"
        case .blank: "token: expected hex digits, found a blank around them"
        case .notHex(let offset): "token: expected hex digits, found \(Quoted(text, at: offset)) at byte \(offset + 1)"
        case .odd(let count): "token: expected an even count of hex digits, found \(count)"
        case .tooLong(let count): "token: expected at most \(DeviceToken.lengthMax) hex digits, found \(count) bytes"
        }
    }
}
