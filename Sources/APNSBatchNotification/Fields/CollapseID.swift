/// The `apns-collapse-id` header: pushes that carry the same one replace each other on the device.
package enum CollapseID {
    /// The most bytes. Source: Apple, "Sending notification requests to APNs".
    package static let lengthMax = 64

    /// At least one byte, at most ``lengthMax``, no control characters, no blank at either end (RFC 9113 section 8.2.1:
    /// such a field value makes the request malformed). Bytes beyond ASCII may stand in it.
    package static func check(_ text: UnsafeRawBufferPointer) -> FieldFault? {
        if text.isEmpty { return .collapseIDEmpty }
        if text.count > lengthMax { return .collapseIDTooLong(text.count) }
        for offset in text.indices where text[offset] < 0x20 || text[offset] == 0x7f {
            return .collapseIDCharacter(at: offset)
        }
        let blank = UInt8(ascii: " ")
        return text[0] == blank || text[text.count - 1] == blank ? .collapseIDBlank : nil
    }
}
