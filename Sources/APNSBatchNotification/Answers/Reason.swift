/// Why APNs refused a push. A reason that is not in the table is kept as it came.
package enum Reason: Hashable, Sendable {
    case known(KnownReason)
    case unknown(String)
}

extension Reason: RawRepresentable, CustomStringConvertible {
    /// The reason as APNs wrote it. No allocation for a known one.
    package var rawValue: String {
        switch self {
        case .known(let reason): AnswerRule.all[Int(reason.rawValue)].text
        case .unknown(let text): text
        }
    }

    /// For messages: control characters of an unknown one are replaced, since a peer may write what it likes.
    package var description: String {
        switch self {
        case .known: rawValue
        case .unknown(let text): Quoted.clean(text)
        }
    }

    package init(rawValue: String) {
        var text = rawValue
        self = text.withUTF8 { Reason(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The most bytes kept of an unknown reason: whatever a peer can make long has a limit.
    package static let unknownLengthMax = 256

    /// From bytes. No allocation for a known one; invalid UTF-8 in an unknown one is replaced.
    package init(bytes: UnsafeRawBufferPointer) {
        if let known = KnownReason(bytes: bytes) {
            self = .known(known)
        } else {
            self = .unknown(String(decoding: bytes.prefix(Self.unknownLengthMax), as: UTF8.self))
        }
    }
}
