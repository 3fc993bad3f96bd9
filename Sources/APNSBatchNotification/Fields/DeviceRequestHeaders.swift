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
