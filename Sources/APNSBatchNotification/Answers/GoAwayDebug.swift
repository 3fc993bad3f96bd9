/// What APNs says in the debug data of a GOAWAY frame: `{"reason":"…"}`, plain text, or nothing.
///
/// Source: Apple, "Communicating with APNs" (the JSON form); text and empty data are seen in practice.
package enum GoAwayDebug: Equatable, Sendable {
    case empty
    case reason(Reason)
    /// Anything else, at most ``textLengthMax`` bytes of it, control characters and invalid UTF-8 replaced.
    case text(String)

    package static let textLengthMax = 256

    /// Reads debug data; never fails.
    package static func parse(_ data: UnsafeRawBufferPointer) -> GoAwayDebug {
        if let reason = ReasonBody.parse(data).reason { return .reason(reason) }
        let text = String(decoding: data.prefix(textLengthMax), as: UTF8.self)
        let clean = text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) ? Character(" ") : Character(scalar)
        }
        let trimmed = clean.drop { $0 == " " }
        return trimmed.isEmpty ? .empty : .text(String(trimmed))
    }

    /// Whether the campaign cannot go on: the reason would stop it as an answer, too, whatever error code the frame
    /// has.
    package var isFatal: Bool {
        if case .reason(.known(let reason)) = self { return reason.rule.action == .stop }
        return false
    }
}
