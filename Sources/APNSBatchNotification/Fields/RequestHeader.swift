/// The representation of a header field in HPACK (RFC 7541 section 6.2).
package enum HeaderIndexing: UInt8, Sendable {
    /// Incremental indexing: the field enters the dynamic table, and takes a byte or two from then on.
    case indexed = 0
    /// A literal that never enters the dynamic table.
    case literal = 1
    /// Indexed once per connection, so that the name enters the dynamic table, and then a literal.
    case nameOnce = 2
}

/// A header field and its representation in HPACK.
package struct HeaderField: Equatable, Sendable {
    package let name: String
    package let value: String
    package let indexing: HeaderIndexing
}

/// A header field of requests to APNs: one row of the table of headers.
///
/// Source of names and rules: Apple, "Sending notification requests to APNs"; of the indexing: the same page, "Use HPACK
/// encoding".
package struct RequestHeader: Equatable, Sendable {
    package let name: String
    package let indexing: HeaderIndexing
    /// A description of the value, for the documentation.
    package let rule: String
    /// Where the rule is from; nil for the page of Apple that describes the request.
    package let source: String?

    init(_ name: String, _ indexing: HeaderIndexing, _ rule: String, source: String? = nil) {
        (self.name, self.indexing, self.rule, self.source) = (name, indexing, rule, source)
    }

    package func field(_ value: String) -> HeaderField {
        HeaderField(name: name, value: value, indexing: indexing)
    }

    package static let method = RequestHeader(":method", .indexed, "POST")
    package static let scheme = RequestHeader(":scheme", .indexed, "https")
    package static let authority = RequestHeader(":authority", .indexed, "the host, with the port unless it is 443")
    package static let path = RequestHeader(
        ":path", .literal, "/3/device/ and the device token in lower-case hex digits")
    package static let authorization = RequestHeader(
        "authorization", .literal, "bearer and the provider token; omitted if a client certificate is used")
    package static let topic = RequestHeader("apns-topic", .indexed, "the bundle id and the suffix of the push type")
    package static let pushType = RequestHeader("apns-push-type", .indexed, "the push type; always sent")
    package static let priority = RequestHeader("apns-priority", .indexed, "1, 5 or 10; always sent; 5 for background")
    package static let expiration = RequestHeader(
        "apns-expiration", .nameOnce,
        "seconds since 1970, or 0 for one attempt; omitted for APNs' default, which pushtotalk replaces by 0")
    package static let id = RequestHeader(
        "apns-id", .nameOnce, "a UUID in lower case, the same for every attempt of a row")
    package static let collapseID = RequestHeader(
        "apns-collapse-id", .nameOnce, "1 to 64 bytes; omitted if there is none")

    /// The encoder of requests writes it. Apple does not require it, but intermediaries may answer 411 without it.
    package static let contentLength = RequestHeader(
        "content-length", .literal, "the length of the payload in bytes; always sent",
        source: "RFC 9110 section 8.6")

    /// The channel of a broadcast or of a request about channels. Pushes to devices have the token in the path instead.
    package static let channelID = RequestHeader("apns-channel-id", .nameOnce, "the channel, in base64 as APNs gave it")
    /// The id of a broadcast or of a request about channels. Pushes to devices have `apns-id` instead.
    package static let requestID = RequestHeader(
        "apns-request-id", .nameOnce, "a UUID in lower case, the same for every attempt of a row")

    /// The header fields of a device request, in the order in which they are sent.
    package static let all = [
        method, scheme, authority, path, topic, pushType, priority, expiration, id, collapseID, authorization,
        contentLength,
    ]

    /// The header fields of a broadcast, in the order in which they are sent.
    package static let ofBroadcasts = [
        method, scheme, authority,
        RequestHeader(":path", .literal, "/4/broadcasts/apps/ and the bundle id"),
        RequestHeader("apns-push-type", .indexed, "liveactivity"),
        RequestHeader("apns-priority", .indexed, "1, 5 or 10; always sent"), requestID, channelID,
        RequestHeader(
            "apns-expiration", .nameOnce, "seconds since 1970; always sent; 0 for channels that store nothing"),
        authorization, contentLength,
    ]
}
