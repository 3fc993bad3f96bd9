/// The body of a request that makes a channel: `{"message-storage-policy":0,"push-type":"LiveActivity"}`.
///
/// Apple names the reasons, not which fault gets which. Here: what is no JSON object gets `BadRequestPayload`; no
/// `push-type`, `MissingPushType`; another value of it, `InvalidPushType`; a storage policy that is missing or neither 0
/// nor 1, `BadRequestParams`. Other members are passed over.
enum ChannelRequestBody {
    static let lengthMaximum = PushType.payloadMaximumOfAll

    /// Whether the channel stores the last message, or what is wrong.
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
