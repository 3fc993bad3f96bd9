import APNSBatchNotification

/// Asks a server whether it accepts credentials, by a request that no device can get: the text in place of its device token is not a device token.
/// A server looks at the credentials first, and answers 403 if it refuses them.
struct CredentialsQuestion {
    private static let notAToken = "none"

    /// - Parameter topic: The topic of the campaign; nil if its rows have topics.
    static func request(topic: String?) -> RequestClient.Request {
        var request = RequestClient.Request(
            method: "POST", path: "\(DeviceToken.pathPrefix)\(notAToken)",
            fields: [
                RequestHeader.pushType.field(PushType.background.name),
                RequestHeader.priority.field(PushType.background.defaultPriority.text),
                RequestHeader.expiration.field("0"),
            ], body: Array(#"{"aps":{"content-available":1}}"#.utf8))
        if let topic { request.fields.append(RequestHeader.topic.field(topic)) }
        return request
    }

    /// - Parameter what: The credentials, such as `provider token`.
    static func judge(
        _ result: Result<RequestClient.Response, RequestClient.Failure>, of endpoint: Doctor.Endpoint, _ what: String
    ) -> Doctor.Finding {
        let what = "\(what) at \(endpoint.name)"
        switch result {
        case .failure(let failure): return .init(.error, what, failure.text)
        case .success(let response):
            let answer = unsafe response.body.withUnsafeBytes { unsafe Answer(status: response.status, body: $0) }
            switch answer.action {
            case .stop: return .init(.error, what, answer.explanation, remedy: answer.remedy)
            case .retry:
                return .init(
                    .warning, what, "not known: the server answers \(answer.explanation)",
                    remedy: "ask again later")
            case .accepted, .rejected:
                return .init(.ok, what, "accepted; the request without a device got \(answer.text)")
            }
        }
    }
}
