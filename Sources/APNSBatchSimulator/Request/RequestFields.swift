import CAPNSTransport

/// The header fields of a request that are checked, which are found in one pass. Values are borrowed from the
/// transport.
@safe struct RequestFields {
    var method: Bytes?
    var path: Bytes?
    var authorization: Bytes?
    var id: Bytes?
    var topic: Bytes?
    var pushType: Bytes?
    var priority: Bytes?
    var expiration: Bytes?
    var collapseID: Bytes?
    var channelID: Bytes?
    var requestID: Bytes?
    /// Whether a field name occurs twice. This includes names that are unknown to the checks, except `cookie` (RFC 9113,
    /// section 8.2.3).
    var repeated = false

    /// - Parameter fields: the fields as received, including pseudo-header fields, with names in lower case.
    init(_ fields: UnsafeBufferPointer<apns_transport_field>) {
        for index in 0..<fields.count {
            let name = unsafe Bytes(fields[index].name, length: fields[index].name_length)
            let value = unsafe Bytes(fields[index].value, length: fields[index].value_length)
            if unsafe !place(name, value) {
                repeated = unsafe repeated || Self.occurs(name, before: index, in: fields)
            }
        }
    }

    /// Stores the value of a known field and records a repetition. Returns whether the field is known.
    @inline(__always)
    private mutating func place(_ name: Bytes, _ value: Bytes) -> Bool {
        let again: Bool
        switch name.count {
        case 5 where unsafe name.equals(":path"): again = unsafe Self.fill(&path, value)
        case 7 where unsafe name.equals("apns-id"): again = unsafe Self.fill(&id, value)
        case 7 where unsafe name.equals(":method"): again = unsafe Self.fill(&method, value)
        case 10 where unsafe name.equals("apns-topic"): again = unsafe Self.fill(&topic, value)
        case 13 where unsafe name.equals("authorization"): again = unsafe Self.fill(&authorization, value)
        case 13 where unsafe name.equals("apns-priority"): again = unsafe Self.fill(&priority, value)
        case 14 where unsafe name.equals("apns-push-type"): again = unsafe Self.fill(&pushType, value)
        case 15 where unsafe name.equals("apns-expiration"): again = unsafe Self.fill(&expiration, value)
        case 15 where unsafe name.equals("apns-channel-id"): again = unsafe Self.fill(&channelID, value)
        case 15 where unsafe name.equals("apns-request-id"): again = unsafe Self.fill(&requestID, value)
        case 16 where unsafe name.equals("apns-collapse-id"): again = unsafe Self.fill(&collapseID, value)
        default: return false
        }
        repeated = repeated || again
        return true
    }

    @inline(__always)
    private static func fill(_ slot: inout Bytes?, _ value: Bytes) -> Bool {
        guard unsafe slot == nil else { return true }
        unsafe slot = unsafe value
        return false
    }

    private static func occurs(_ name: Bytes, before index: Int, in fields: UnsafeBufferPointer<apns_transport_field>)
        -> Bool
    {
        unsafe !name.equals("cookie")
            && fields[..<index].contains { unsafe name.equals(Bytes($0.name, length: $0.name_length)) }
    }
}
