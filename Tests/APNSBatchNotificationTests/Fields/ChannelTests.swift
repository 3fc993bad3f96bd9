import APNSBatchNotification
import Testing

@Suite("Broadcasts and channels")
struct ChannelTests {
    private func message(_ text: String) -> String? {
        Array(text.utf8).withUnsafeBytes { bytes in ChannelID.check(bytes).map { $0.message(for: bytes) } }
    }

    @Test(
        "A channel id is base64 with padding",
        arguments: ["dHN0LXNyY2gtY2hubA==", "YmJfnzLBE7PJiPkVPDIQlw==", "AAAA", "ab+/", "AAA=", "AA=="])
    func goodIDs(id: String) {
        #expect(message(id) == nil)
    }

    @Test(
        "An invalid channel id is refused with what was found",
        arguments: [
            ("", "channel_id: expected base64, found nothing"),
            ("dHN0LXNyY2gtY2hubA=", "channel_id: expected base64, found \"dHN0LXNyY2gtY2hubA=\""),
            ("A===", "channel_id: expected base64, found \"A===\""),
            ("====", "channel_id: expected base64, found \"====\""),
            ("=AAA", "channel_id: expected base64, found \"=AAA\""),
            ("ab-_", "channel_id: expected base64, found \"ab-_\""),
            ("AA A", "channel_id: expected base64, found \"AA A\""),
            (String(repeating: "A", count: 68), "channel_id: expected at most 64 bytes, found 68"),
        ])
    func badIDs(id: String, expected: String) {
        #expect(message(id) == expected)
    }

    @Test("Paths and shared header fields of channels match Apple's documentation")
    func requests() {
        #expect(BroadcastRequest.path(bundleID: "com.example.app") == "/4/broadcasts/apps/com.example.app")
        #expect(ChannelRequest.path(bundleID: "com.example.app") == "/1/apps/com.example.app/channels")
        #expect(ChannelRequest.listPath(bundleID: "com.example.app") == "/1/apps/com.example.app/all-channels")
        #expect(
            ChannelRequest.creation(storagePolicy: 1) == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        let fields = BroadcastRequest.fixed(authority: "api.push.apple.com", priority: .powerAware)
        #expect(
            fields.map { "\($0.name): \($0.value)" } == [
                ":method: POST", ":scheme: https", ":authority: api.push.apple.com", "apns-push-type: liveactivity",
                "apns-priority: 5",
            ])
        let longest = String(repeating: "a", count: Topic.lengthMax)
        #expect(BroadcastRequest.path(bundleID: longest).utf8.count == BroadcastRequest.pathLengthMax)
    }
}
