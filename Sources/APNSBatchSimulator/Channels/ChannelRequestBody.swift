/// The body of a request that creates a channel: `{"message-storage-policy":0,"push-type":"LiveActivity"}`.
///
/// Apple names the reasons, but not the errors that lead to them. The simulator answers `BadRequestPayload` if the body
/// is not a JSON object, `MissingPushType` without `push-type`, `InvalidPushType` if it has another value, and
/// `BadRequestParams` if the storage policy is missing or neither 0 nor 1. Other members are ignored.
enum ChannelRequestBody {
    static let lengthMaximum = PushType.payloadMaximumOfAll

    /// Returns whether the channel stores the last message, or the error in the body.
    static func read(_ body: Bytes, total: Int) -> Result<Bool, FixedAnswer> {
        guard total <= lengthMaximum, body.count == total else { return .failure(.payloadTooLarge) }
        var hasPushType = false
        var isLiveActivity = false
        var storesLast: Bool?
        let isObject = unsafe JSONScanner.members(of: body) { name, value in
            if name.equals("push-type") {
                hasPushType = true
                isLiveActivity = value.kind == .string && value.text.equals("LiveActivity")
            } else if name.equals("message-storage-policy") {
                let (isNone, isLast) = unsafe (value.text.bytes.equals("0"), value.text.bytes.equals("1"))
                storesLast = value.kind == .number && (isNone || isLast) ? isLast : nil
            }
        }
        guard isObject else { return .failure(.badRequestPayload) }
        guard hasPushType else { return .failure(.missingPushType) }
        guard isLiveActivity else { return .failure(.invalidPushType) }
        guard let storesLast else { return .failure(.badRequestParams) }
        return .success(storesLast)
    }
}
