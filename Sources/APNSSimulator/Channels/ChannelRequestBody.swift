/// The body of a request that makes a channel: `{"message-storage-policy":0,"push-type":"LiveActivity"}`.
///
/// Apple names the reasons, not which fault gets which. Here: what is no JSON object gets `BadRequestPayload`; no
/// `push-type`, `MissingPushType`; another value of it, `InvalidPushType`; a storage policy that is missing or neither 0
/// nor 1, `BadRequestParams`. Other members are passed over.
enum ChannelRequestBody {
    static let lengthMaximum = PushType.payloadMaximumOfAll

    /// Whether the channel stores the last message, or what is wrong.
    static func read(_ body: Bytes, total: Int) -> Result<Bool, Fault> {
        guard total <= lengthMaximum, body.count == total else { return .failure(Fault(answer: .payloadTooLarge)) }
        let nesting = JSONNesting(textMaximum: lengthMaximum)
        defer { nesting.deallocate() }
        var members = Members()
        guard members.read(body, nesting: nesting) else { return .failure(Fault(answer: .badRequestPayload)) }
        guard members.hasPushType else { return .failure(Fault(answer: .missingPushType)) }
        guard members.isLiveActivity else { return .failure(Fault(answer: .invalidPushType)) }
        guard let storesLast = members.storesLast else { return .failure(Fault(answer: .badRequestParams)) }
        return .success(storesLast)
    }

    struct Fault: Error, Equatable {
        var answer: FixedAnswer
    }

    private struct Members {
        var hasPushType = false
        var isLiveActivity = false
        var storesLast: Bool?

        /// False when the body is no JSON object.
        mutating func read(_ body: Bytes, nesting: JSONNesting) -> Bool {
            var scanner = JSONScanner(body, nesting: nesting)
            guard scanner.openObject() else { return false }
            var isFirst = true
            while true {
                let step = scanner.nextMember(isFirst: &isFirst)
                guard step.outcome == .member else { return step.outcome == .end && scanner.isAtEnd() }
                let value = scanner.value()
                guard value.isValid else { return false }
                note(step.name, value)
            }
        }

        private mutating func note(_ name: JSONText, _ value: JSONValue) {
            if name.equals("push-type") {
                hasPushType = true
                isLiveActivity = value.kind == .string && value.text.equals("LiveActivity")
            } else if name.equals("message-storage-policy") {
                let isNumber = value.kind == .number
                let (isNone, isLast) = (value.text.bytes.equals("0"), value.text.bytes.equals("1"))
                storesLast = isNumber && (isNone || isLast) ? isLast : nil
            }
        }
    }
}
