import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport
import FoundationEssentials

/// Creates, reads, deletes and lists the broadcast channels of an app.
///
/// Each call sends one request on a connection of its own; no request is repeated. Apple, "Sending channel management
/// requests to APNs".
///
/// ```swift
/// let channels = try ChannelManager(bundleID: "com.example.app", at: .production, credentials: credentials)
/// let id = try await channels.create(storage: .mostRecent)
/// ```
public struct ChannelManager: Sendable {
    /// The message storage policy of a channel: what APNs stores for devices that are offline.
    @nonexhaustive
    public enum Storage: Int, Sendable, CaseIterable {
        /// Nothing is stored. Broadcasts to the channel must have expiration 0.
        case none = 0
        /// The most recent message is stored until it expires.
        case mostRecent = 1
    }

    /// A channel of an app.
    public struct Channel: Sendable, Equatable {
        /// The id in base64, as APNs generated it.
        public let id: String
        /// What APNs stores for the channel.
        public let storage: Storage
    }

    private let bundleID: String
    private let client: RequestClient

    /// Creates a manager, and checks the credentials. Sends nothing.
    ///
    /// - Parameters:
    ///   - bundleID: The bundle id of the app.
    ///   - destination: The environment. Production and sandbox stand for their hosts of channel management.
    ///   - credentials: The credentials of the app's team.
    ///   - authorities: CA certificates to trust besides those of the system, in PEM.
    ///   - systemTrust: Whether the CA certificates of the system are trusted.
    /// - Throws: ``ChannelError`` with the code ``ChannelError/Code/configuration``.
    public init(
        bundleID: String, at destination: Campaign.Destination, credentials: Campaign.Credentials,
        authorities: [UInt8] = [], systemTrust: Bool = true
    ) throws(ChannelError) {
        let trust = TLSOptions(authorities: authorities, systemTrust: systemTrust)
        let (host, port) = destination.channelManagement
        if let fault = HostName.fault(host: host, port: port) {
            throw ChannelError(.configuration, "destination: \(fault)")
        }
        do {
            try BundleID.check(bundleID)
            client = RequestClient(
                host: host, port: port, trust: trust, credentials: try RequestCredentials(credentials),
                bodyLimit: Self.listLimit)
        } catch {
            throw ChannelError(error)
        }
        self.bundleID = bundleID
    }

    /// The maximum length of a list in bytes: the maximum number of channels, with up to 100 bytes each.
    private static let listLimit = ChannelRequest.channelsMax * 100

    /// Creates a channel and returns its id. APNs allows 10,000 channels for an app.
    public func create(storage: Storage) async throws(ChannelError) -> String {
        let body = ChannelRequest.creation(storagePolicy: storage.rawValue)
        let response = try await send("POST", body: Array(body.utf8), expecting: 201)
        guard let id = response.fields[RequestHeader.channelID.name], !id.isEmpty else {
            throw notUnderstood("201 without apns-channel-id")
        }
        return id
    }

    /// Returns the properties of a channel.
    public func read(_ id: String) async throws(ChannelError) -> Channel {
        struct Body: Decodable {
            var storage: Int
            enum CodingKeys: String, CodingKey { case storage = "message-storage-policy" }
        }
        let response = try await send("GET", channel: id, expecting: 200)
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(response.body)),
            let storage = Storage(rawValue: body.storage)
        else { throw notUnderstood("200 without a known message-storage-policy") }
        return Channel(id: id, storage: storage)
    }

    /// Deletes a channel. Its subscribers no longer receive anything from it.
    public func delete(_ id: String) async throws(ChannelError) {
        _ = try await send("DELETE", channel: id, expecting: 204)
    }

    /// Returns the ids of all channels of the app, in the order of APNs.
    public func list() async throws(ChannelError) -> [String] {
        struct Body: Decodable { var channels: [String] }
        let response = try await send("GET", list: true, expecting: 200)
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(response.body)) else {
            throw notUnderstood("200 without a list of channels")
        }
        return body.channels
    }

    private func send(
        _ method: String, list: Bool = false, channel: String? = nil, body: [UInt8] = [], expecting status: UInt16
    ) async throws(ChannelError) -> RequestClient.Response {
        let path = list ? ChannelRequest.listPath(bundleID: bundleID) : ChannelRequest.path(bundleID: bundleID)
        var request = RequestClient.Request(method: method, path: path, body: body)
        if let channel {
            try Self.check(channel)
            request.fields.append(RequestHeader.channelID.field(channel))
        }
        switch await client.send(request).result {
        case .success(let response) where response.status == status: return response
        case .success(let response): throw ChannelError(endpoint: client.endpoint, response)
        case .failure(let failure) where failure.kind == .cancelled: throw ChannelError(.cancelled, failure.text)
        case .failure(let failure): throw ChannelError(.unreachable, "\(client.endpoint): \(failure.text)")
        }
    }

    private static func check(_ channel: String) throws(ChannelError) {
        let message = unsafe Array(channel.utf8).withUnsafeBytes { text in
            unsafe ChannelID.check(text).map { unsafe $0.message(for: text) }
        }
        guard let message else { return }
        throw ChannelError(.configuration, "channel" + message.dropFirst(FieldFault.channelID.column.count))
    }

    private func notUnderstood(_ what: String) -> ChannelError {
        ChannelError(.answer, "\(client.endpoint) answered \(what)")
    }
}
