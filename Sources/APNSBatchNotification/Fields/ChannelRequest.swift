/// Requests that create, read, delete and list the broadcast channels of an app.
///
/// Source: Apple, "Sending channel management requests to APNs".
package enum ChannelRequest {
    /// Creates with POST, reads with GET and deletes with DELETE.
    package static func path(bundleID: String) -> String { "/1/apps/\(bundleID)/channels" }

    /// Lists with GET.
    package static func listPath(bundleID: String) -> String { "/1/apps/\(bundleID)/all-channels" }

    /// The most channels that an app may have.
    package static let channelsMax = 10_000

    /// The body of a request that creates a channel.
    ///
    /// - Parameter storagePolicy: 0 stores nothing, 1 the most recent message.
    package static func creation(storagePolicy: Int) -> String {
        #"{"message-storage-policy":\#(storagePolicy),"push-type":"LiveActivity"}"#
    }
}
