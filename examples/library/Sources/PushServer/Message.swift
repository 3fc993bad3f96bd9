import Foundation

/// What a caller of this server wants to be shown.
struct Message: Codable, Sendable {
    var title: String
    var body: String

    /// The JSON of the notification. Apple, "Generating a remote notification".
    func payload() throws -> [UInt8] { Array(try JSONEncoder().encode(Payload(aps: .init(alert: self)))) }

    private struct Payload: Encodable {
        struct APS: Encodable { var alert: Message }

        var aps: APS
    }
}
