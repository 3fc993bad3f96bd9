import Hummingbird

/// The body of an answer about a notification.
struct DeliveryBody: ResponseEncodable {
    var outcome: String
    var messageID: String?
    var reason: String?
}

extension Delivery {
    /// The seconds after which a caller may try again.
    private static let retryAfter = "2"

    /// The answer of the server. The statuses of APNs are about this server's key and tokens, so they are not passed on.
    var response: EditedResponse<DeliveryBody> {
        switch self {
        case .accepted(let messageID): answer(.ok, "accepted", messageID: messageID)
        case .noDevice: answer(.notFound, "no device")
        case .deviceGone: answer(.gone, "device gone")
        case .invalid(let reason): answer(.unprocessableContent, "invalid", reason: reason)
        case .rejected(let reason): answer(.badGateway, "rejected", reason: reason)
        case .tryLater: answer(.serviceUnavailable, "try later", headers: [.retryAfter: Self.retryAfter])
        case .undecided: answer(.gatewayTimeout, "may be delivered")
        }
    }

    private func answer(
        _ status: HTTPResponse.Status, _ outcome: String, messageID: String? = nil, reason: String? = nil,
        headers: HTTPFields = [:]
    ) -> EditedResponse<DeliveryBody> {
        EditedResponse(
            status: status, headers: headers,
            response: DeliveryBody(outcome: outcome, messageID: messageID, reason: reason))
    }
}
