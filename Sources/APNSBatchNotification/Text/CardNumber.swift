/// Finds numbers that may be card numbers: 13 to 19 digits, alone or in groups separated by one blank or dash, with a valid
/// check digit, and with the prefix and length of a card of one of the large schemes (ISO/IEC 7812).
enum CardNumber {
    static let digitsMin = 13
    static let digitsMax = 19

    static func isHeld(in bytes: UnsafeRawBufferPointer) -> Bool {
        first(in: unsafe Span(_unsafeBytes: bytes)) != nil
    }

    /// Returns the offset of the first possible card number.
    ///
    /// A card number takes at least 13 bytes, and of two adjacent bytes in it at least one is a digit, so it suffices to
    /// look at two bytes in every twelve.
    static func first(in bytes: Span<UInt8>) -> Int? {
        var index = 0
        var done = 0
        while index < bytes.count {
            if bytes[index].isDigit || (index &+ 1 < bytes.count && bytes[index &+ 1].isDigit) {
                let run = DigitRun(bytes, around: index, from: done)
                if let found = run.card(in: bytes) { return found }
                done = run.end
                index = run.end
            } else {
                index &+= 12
            }
        }
        return nil
    }
}

/// A sequence of digits with at most one blank or dash between two of them.
private struct DigitRun {
    private(set) var start: Int
    private(set) var end: Int

    /// - Parameters:
    ///   - index: the index of a byte that is a digit, or whose next byte is.
    ///   - limit: the lowest index at which the run may begin.
    init(_ bytes: Span<UInt8>, around index: Int, from limit: Int) {
        start = bytes[index].isDigit ? index : index + 1
        end = start + 1
        while start > limit {
            if bytes[start - 1].isDigit {
                start -= 1
            } else if start - 1 > limit, Self.isSeparator(bytes[start - 1]), bytes[start - 2].isDigit {
                start -= 2
            } else {
                break
            }
        }
        while end < bytes.count {
            if bytes[end].isDigit {
                end += 1
            } else if end + 1 < bytes.count, Self.isSeparator(bytes[end]), bytes[end + 1].isDigit {
                end += 2
            } else {
                break
            }
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-") }

    /// Returns the offset of a card number that consists of consecutive groups of the run; other groups may precede or
    /// follow it.
    func card(in bytes: Span<UInt8>) -> Int? {
        guard end - start >= CardNumber.digitsMin else { return nil }
        var group = start
        while group < end {
            if isBorder(bytes, before: group), let found = card(in: bytes, from: group) { return found }
            group = next(bytes, after: group)
        }
        return nil
    }

    /// Returns the index of the first digit of the next group.
    private func next(_ bytes: Span<UInt8>, after digit: Int) -> Int {
        var index = digit
        while index < end, bytes[index].isDigit { index += 1 }
        return index + 1
    }

    private func card(in bytes: Span<UInt8>, from start: Int) -> Int? {
        var digits = CardDigits()
        var index = start
        var group = 0
        while index < end {
            if bytes[index].isDigit {
                digits.append(bytes[index] - 0x30)
                group += 1
            } else {
                // The groups of a card number have four digits; in some schemes there is one of six.
                if group < 4 || group > 6 { return nil }
                group = 0
            }
            index += 1
            if digits.count > CardNumber.digitsMax { return nil }
            let endsGroup = index == end || !bytes[index].isDigit
            if endsGroup, group >= 3, digits.isCard, isBorder(bytes, after: index) { return start }
        }
        return nil
    }

    /// Whether a number may begin here: not after a letter or digit, and not as a fraction.
    private func isBorder(_ bytes: Span<UInt8>, before index: Int) -> Bool {
        guard index > 0 else { return true }
        let byte = bytes[index - 1]
        // The letter of an escape does not count as a letter.
        if index > 1, bytes[index - 2] == UInt8(ascii: "\\") { return true }
        return !Self.isWordByte(byte) && byte != UInt8(ascii: ".")
    }

    private func isBorder(_ bytes: Span<UInt8>, after index: Int) -> Bool {
        guard index < bytes.count else { return true }
        if bytes[index] == UInt8(ascii: ".") {
            return index + 1 == bytes.count || !bytes[index + 1].isDigit
        }
        return !Self.isWordByte(bytes[index])
    }

    private static func isWordByte(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || byte == UInt8(ascii: "_") }
}

/// The digits of a possible card number, at most 19.
private struct CardDigits {
    private(set) var count = 0
    private var head = 0
    /// The Luhn sums for the digits so far, if they are all, and if one more follows.
    private var sum = 0
    private var otherSum = 0
    private var isUniform = true
    private var firstDigit: UInt8 = 0

    mutating func append(_ digit: UInt8) {
        if count == 0 { firstDigit = digit }
        if digit != firstDigit { isUniform = false }
        if count < 4 { head = head * 10 + Int(digit) }
        let doubled = digit > 4 ? Int(digit) * 2 - 9 : Int(digit) * 2
        // Digits that were doubled before are not doubled now, because their places have moved by one.
        (sum, otherSum) = (otherSum + Int(digit), sum + doubled)
        count += 1
    }

    var isCard: Bool {
        count >= CardNumber.digitsMin && count <= CardNumber.digitsMax && sum % 10 == 0 && !isUniform && isScheme
    }

    /// Whether prefix and length are used by a large scheme.
    private var isScheme: Bool {
        switch head {
        case 4000...4999: count == 13 || count == 16 || count == 19
        case 5100...5599, 2221...2720: count == 16
        case 3400...3499, 3700...3799: count == 15
        case 3000...3059, 3095, 3600...3699, 3800...3999: count >= 14
        case 6011, 6440...6599: count >= 16
        case 3528...3589: count >= 16
        case 6200...6299, 8100...8171: count >= 16
        case 5000...5099, 5600...5899, 6300...6399, 6700...6799: count >= 13
        case 2200...2204: count >= 16
        default: false
        }
    }
}
