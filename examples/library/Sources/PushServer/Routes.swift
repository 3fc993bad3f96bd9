import APNSBatch
import Foundation
import Hummingbird

/// The endpoints of the server.
///
/// Device tokens travel in bodies and not in paths, because paths are what proxies and servers log.
struct Routes {
    let notifier: Notifier

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.put("users/{id}/device", use: register)
        router.post("users/{id}/notify", use: notify)
        router.get("health", use: health)
        return router
    }

    private struct Registration: Decodable { var token: String }

    /// `PUT /users/{id}/device` with `{"token": "…"}`: the app has registered with APNs.
    @Sendable private func register(_ request: Request, _ context: BasicRequestContext) async throws
        -> HTTPResponse.Status
    {
        let user = try context.parameters.require("id")
        let registration = try await request.decode(as: Registration.self, context: context)
        let now = UInt64(Date().timeIntervalSince1970 * 1000)
        await notifier.devices.register(.init(token: registration.token, registeredAt: now), of: user)
        return .noContent
    }

    /// `POST /users/{id}/notify` with `{"title": "…", "body": "…"}`.
    @Sendable private func notify(
        _ request: Request, _ context: BasicRequestContext
    ) async throws -> EditedResponse<DeliveryBody> {
        let user = try context.parameters.require("id")
        let message = try await request.decode(as: Message.self, context: context)
        return try await notifier.notify(user, message).response
    }

    /// `GET /health`, for load balancers: 503 while notifications wait, such as when APNs cannot be reached.
    @Sendable private func health(_ request: Request, _ context: BasicRequestContext) -> EditedResponse<Health> {
        let health = Health(notifier.sender.status)
        return EditedResponse(status: health.isReady ? .ok : .serviceUnavailable, response: health)
    }
}

/// The body of an answer about the health of the server.
struct Health: ResponseEncodable {
    var isReady: Bool
    var connections: Int
    var pending: Int
    var inFlight: Int
    /// Why notifications wait; nil if they do not.
    var waiting: String?

    init(_ status: Sender.Status) {
        isReady = status.isRunning && status.waiting == nil
        (connections, pending, inFlight, waiting) = (
            status.connections, status.pending, status.inFlight, status.waiting
        )
    }
}
