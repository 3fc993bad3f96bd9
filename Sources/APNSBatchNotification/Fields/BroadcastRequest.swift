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
