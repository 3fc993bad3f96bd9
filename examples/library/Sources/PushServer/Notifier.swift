import APNSBatch

/// Sends notifications to users, and forgets devices that are gone.
struct Notifier: Sendable {
    let sender: Sender
    let devices: DeviceStore
    /// The bundle id of the app.
    let topic: String

    /// The longest time from a call to its answer. A request of this server takes hardly longer, which bounds the time that its
    /// shutdown takes.
    static let timeout = Duration.seconds(8)

    func notify(_ user: String, _ message: Message) async throws -> Delivery {
        guard let device = await devices.device(of: user) else { return .noDevice }
        let notification = PushNotification(deviceToken: device.token, topic: topic, payload: try message.payload())
        let result: SendResult
        do throws(SendError) {
            // `send` would wait while the sender has as much to do as it takes on. A server had better say at once that it is
            // busy: its callers know whether the notification is still worth something later.
            guard let ticket = try sender.trySend(notification, timeout: Self.timeout) else { return .tryLater }
            result = try await ticket.result()
        } catch {
            return Delivery(error)
        }
        if result.status == 410, let inactiveSince = result.inactiveSince {
            await devices.forget(device, of: user, inactiveSince: inactiveSince)
        }
        return Delivery(result)
    }
}
