/// The fields that all device requests of a kind share, made once and sent with each of them.
package enum DeviceRequestHeaders {
    /// Pseudo-header fields first, as RFC 9113 section 8.3 demands, without `:path`, which differs per request.
    ///
    /// `apns-priority` is sent even where it is the default, so that a log shows it. `content-type` is
    /// left out, for Apple does not ask for it. `content-length` is written where the request is encoded (RFC 9110,
    /// section 8.6): Apple does not ask for it either, but servers in between may answer 411 without it.
    ///
    /// - Parameters:
    ///   - authority: see ``APNSHost/authority(host:port:)``.
    ///   - topic: the whole topic, suffix included; see ``Topic/derive(bundleID:pushType:)``.
    ///   - priority: the push type's default when nil.
    ///   - expiration: where all requests share one; nil when it is left out or differs per request.
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

/// What a broadcast has instead of a device request's path and shared fields.
///
/// Source: Apple, "Sending broadcast push notification requests to APNs".
package enum BroadcastRequest {
    /// The one push type of broadcasts.
    package static let pushType = PushType.liveactivity

    private static let pathPrefix = "/4/broadcasts/apps/"

    /// Room for every path.
    package static let pathLengthMax = 19 + Topic.lengthMax

    /// The path of all broadcasts of an app; the channel is a header field.
    package static func path(bundleID: String) -> String { pathPrefix + bundleID }

    /// The fields that all broadcasts of a kind share: no topic, as the path names the app.
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

/// Requests that create, read, delete and list the broadcast channels of an app.
///
/// Source: Apple, "Sending channel management requests to APNs".
package enum ChannelRequest {
    /// Creates with POST, reads with GET and deletes with DELETE.
    package static func path(bundleID: String) -> String { "/1/apps/\(bundleID)/channels" }

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
