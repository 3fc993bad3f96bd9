/// The devices of users. It stands for the database of a server; what matters is when it forgets a device.
actor DeviceStore {
    /// Printing a device shows nothing of its token, so that no log has it by accident.
    struct Device: Sendable, CustomStringConvertible {
        let token: String
        /// When the app registered the token, in milliseconds since 1970-01-01 00:00 UTC.
        let registeredAt: UInt64

        var description: String { "a device" }
    }

    private var devices: [String: Device] = [:]

    func register(_ device: Device, of user: String) { devices[user] = device }

    func device(of user: String) -> Device? { devices[user] }

    /// Forgets a device that APNs calls inactive, unless the app registered meanwhile.
    ///
    /// - Parameters:
    ///   - device: The device to which the notification was sent.
    ///   - inactiveSince: When APNs last found it inactive, in milliseconds since 1970-01-01 00:00 UTC. A token that was registered
    ///     later is valid again. Apple, "Handling notification responses from APNs".
    func forget(_ device: Device, of user: String, inactiveSince: UInt64) {
        // While the request was under way, the app may have registered another token, or the same one again.
        guard let current = devices[user], current.token == device.token, current.registeredAt <= inactiveSince else {
            return
        }
        devices[user] = nil
    }
}
