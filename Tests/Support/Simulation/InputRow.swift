import APNSBatch
import APNSBatchModel

/// One row of the input, which has a token that contains its number, a name, and an error in some cases.
struct InputRow {
    enum Kind {
        case good
        case badToken
        case tooLarge
        case missingField
        case expired
    }

    var kind: Kind
    var number: UInt64
    var name: String
    /// Whether a second notification replaces the first one on the device.
    var isCollapsible = false

    var index: Int { Int(number) - 1 }

    /// Returns whether the row may be sent again if it may have been sent.
    func mayGoTwice(_ policy: UnknownPolicy) -> Bool {
        switch policy {
        case .resend: true
        case .report: false
        case .resendIfCollapsible: isCollapsible
        }
    }

    /// Whether the row can be sent.
    var isSendable: Bool { kind == .good }

    static let header = "token,name,expiration,collapse_id\n"
    /// The size of the largest payload of a row that can be sent, in bytes.
    static let payloadMax = 2100
    /// The first digits of a token, which are followed by the row's number in 16 digits.
    static let tokenPrefix = String(repeating: "5eed", count: 12)

    static func draw(_ dice: inout Dice) -> [InputRow] {
        let count = dice.chance(50_000) ? dice.within(0...2) : dice.within(3...400)
        let wrong = dice.chance(500_000) ? dice.within(0...100_000) : 0
        return (0..<count).map { index in
            let kind = dice.chance(wrong) ? dice.pick([.badToken, .tooLarge, .missingField, .expired]) : Kind.good
            let length = dice.chance(100_000) ? dice.within(0...2000) : dice.within(0...40)
            let name = String(repeating: "n", count: kind == .tooLarge ? 4200 : length)
            return InputRow(kind: kind, number: UInt64(index + 1), name: name)
        }
    }

    /// Returns the row number of a token that a server received, or nil if the token is not from the input.
    static func number(ofToken token: UnsafeRawBufferPointer) -> UInt64? {
        guard token.count == 64 else { return nil }
        var number: UInt64 = 0
        for byte in token[48...] {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        return number
    }

    var token: String {
        let digits = String(number)
        return Self.tokenPrefix + String(repeating: "0", count: 16 - digits.count) + digits
    }

    var line: String {
        let collapse = isCollapsible ? "c\(number)" : ""
        return switch kind {
        case .good, .tooLarge: "\(token),\(name),,\(collapse)\n"
        case .badToken: "x\(token),\(name),,\(collapse)\n"
        case .missingField: "\(token),\(name)\n"
        case .expired: "\(token),\(name),1000000000,\(collapse)\n"
        }
    }
}
