/// The header fields that all device requests of a header set share.
package enum DeviceRequestHeaders {
    /// Returns the fields, pseudo-header fields first as RFC 9113 section 8.3 requires, without `:path`, which differs per
    /// request.
    ///
    /// `apns-priority` is sent even if it is the default, so that logs show it. `content-type` is left out, because Apple
    /// does not require it. `content-length` is written by the encoder of requests (RFC 9110 section 8.6): Apple does not
    /// require it either, but intermediaries may answer 411 without it.
    ///
    /// - Parameters:
    ///   - authority: see ``APNSHost/authority(host:port:)``.
    ///   - topic: the topic with its suffix; see ``Topic/derive(bundleID:pushType:)``.
    ///   - priority: nil for the push type's default.
    ///   - expiration: the expiration, if all requests share one; nil if it is left out or differs per request.
    package static func fixed(
        authority: String, topic: String, pushType: PushType, priority: Priority? = nil, expiration: Expiration? = nil
    ) -> [HeaderField] {
        var fields = [
            RequestHeader.method.field("POST"),
            RequestHeader.scheme.field("https"),
            RequestHeader.authority.field(authority),
            RequestHeader.topic.field(topic),
            RequestHeader.pushType.field(pushType.name),
            RequestHeader.priority.field((priority ?? pushType.defaultPriority).text),
        ]
        if let expiration { fields.append(RequestHeader.expiration.field(String(expiration.seconds))) }
        return fields
    }
}

/// The path and the shared header fields of broadcasts.
///
/// Source: Apple, "Sending broadcast push notification requests to APNs".
package enum BroadcastRequest {
    /// The only push type of broadcasts.
    package static let pushType = PushType.liveactivity

    private static let pathPrefix = "/4/broadcasts/apps/"

    /// The maximum length of a path in bytes.
    package static let pathLengthMax = 19 + Topic.lengthMax

    /// Returns the path of all broadcasts of an app. The channel is in a header field.
    package static func path(bundleID: String) -> String { pathPrefix + bundleID }

    /// Returns the header fields that all broadcasts of a header set share. There is no topic, because the path contains
    /// the app.
    package static func fixed(authority: String, priority: Priority? = nil) -> [HeaderField] {
        [
            RequestHeader.method.field("POST"),
            RequestHeader.scheme.field("https"),
            RequestHeader.authority.field(authority),
            RequestHeader.pushType.field(pushType.name),
            RequestHeader.priority.field((priority ?? pushType.defaultPriority).text),
        ]
    }
}

/// Requests that create, read, delete and list broadcast channels of an app.
///
/// Source: Apple, "Sending channel management requests to APNs".
package enum ChannelRequest {
    /// Returns the path at which POST creates, GET reads and DELETE deletes a channel.
    package static func path(bundleID: String) -> String { "/1/apps/\(bundleID)/channels" }

    package static func listPath(bundleID: String) -> String { "/1/apps/\(bundleID)/all-channels" }

    package static let channelsMax = 10_000

    /// Returns the body of a request that creates a channel.
    ///
    /// - Parameter storagePolicy: 0 to store no message, 1 to store the most recent one.
    package static func creation(storagePolicy: Int) -> String {
        #"{"message-storage-policy":\#(storagePolicy),"push-type":"LiveActivity"}"#
    }
}
