import APNSBatchBasics
import APNSBatchNotification
import CAPNSCrypto
import CAPNSFuzzSession

/// The body of an answer, and the debug data of a GOAWAY: whatever they say, what is kept is short.
@Sendable func fuzzAnswer(_ bytes: UnsafeRawBufferPointer) {
    let body = ReasonBody.parse(bytes)
    // Each replaced byte may become three.
    if let reason = body.reason { precondition(reason.rawValue.utf8.count <= 3 * Reason.unknownLengthMax) }
    if let timestamp = body.timestamp { precondition(timestamp >= 0) }
    for status in [200, 400, 403, 410, 429, 503] as [UInt16] {
        let answer = Answer(status: status, body: bytes)
        _ = (answer.action, answer.alarm)
    }
    let debug = GoAwayDebug.parse(bytes)
    _ = debug.isFatal
    if case .text(let text) = debug { precondition(!text.unicodeScalars.contains { $0.value < 0x20 }) }
}

/// A field of the input as one that becomes part of a header or of a path.
@Sendable func fuzzFields(_ bytes: UnsafeRawBufferPointer) {
    withUnsafeTemporaryAllocation(byteCount: DeviceToken.lengthMax, alignment: 1) { room in
        _ = DeviceToken.write(bytes, to: room.baseAddress!)
    }
    _ = Expiration.parse(bytes)
    _ = GivenExpiration.parse(bytes)
    _ = Timestamp.parse(bytes)
    _ = Priority.parse(bytes)
    _ = PushType.parse(bytes)
    _ = (Topic.check(bytes), ChannelID.check(bytes), CollapseID.check(bytes))
    withUnsafeTemporaryAllocation(byteCount: MessageID.length, alignment: 8) {
        _ = MessageID.write(bytes, to: $0.baseAddress!)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    _ = HTTPDate.parse(text)
    if Topic.check(bytes) == nil { _ = (Topic.bundleID(of: text), Topic.expected(for: text, pushType: .voip)) }
    if let template = try? TextTemplate(text, columns: ["name"], name: "collapse id") {
        withViews([[0x41]]) { fields in
            let none = template.render(fields: fields, into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
            precondition(none >= 0)
        }
    }
}

/// A Localizable.strings file.
@Sendable func fuzzStrings(_ bytes: UnsafeRawBufferPointer) {
    guard let file = try? StringsFile(Array(bytes), name: "l.strings") else { return }
    let strings = LocalisedStrings([(language: "en", file: file)])
    for key in file.texts.keys.prefix(10) { _ = strings.faults(of: key, arguments: 1) }
}

/// The public key of a recipient, a field of the input.
@Sendable func fuzzRecipient(_ bytes: UnsafeRawBufferPointer) {
    var bits: UInt32 = 0
    var error = apns_error()
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(bytes.count, 1))
    defer { copy.deallocate() }
    _ = copy.initialize(from: bytes)
    let status = apns_crypto_recipient_check(copy.baseAddress, bytes.count, &bits, &error)
    let range = UInt32(APNS_CRYPTO_RSA_BITS_MIN)...UInt32(APNS_CRYPTO_RSA_BITS_MAX)
    precondition(status == 0 ? range.contains(bits) : error.text.0 != 0)
}

/// A session of HTTP/2, client or server, whose peer is hostile.
@Sendable func fuzzSession(_ bytes: UnsafeRawBufferPointer) {
    bytes.withMemoryRebound(to: UInt8.self) { fuzz_session($0.baseAddress, $0.count) }
}

/// Header blocks, decoded by our decoder and by that of nghttp2.
@Sendable func fuzzHPACK(_ bytes: UnsafeRawBufferPointer) {
    bytes.withMemoryRebound(to: UInt8.self) { fuzz_hpack($0.baseAddress, $0.count) }
}

/// What a server sends, received by our client and by one of nghttp2.
@Sendable func fuzzAnswers(_ bytes: UnsafeRawBufferPointer) {
    bytes.withMemoryRebound(to: UInt8.self) { fuzz_answers($0.baseAddress, $0.count) }
}

/// A client's session whose caller does at any moment what it may do.
@Sendable func fuzzCalls(_ bytes: UnsafeRawBufferPointer) {
    bytes.withMemoryRebound(to: UInt8.self) { fuzz_calls($0.baseAddress, $0.count) }
}

/// Header blocks made for small tables, in both directions, by our code and by nghttp2.
@Sendable func fuzzTables(_ bytes: UnsafeRawBufferPointer) {
    bytes.withMemoryRebound(to: UInt8.self) { fuzz_tables($0.baseAddress, $0.count) }
}
