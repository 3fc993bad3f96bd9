import CAPNSTransport

@testable import APNSBatchSimulator

/// A request as a client would send it, which is valid until a test changes a part.
struct TestRequest {
    static let deviceToken = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

    var fields: [(name: String, value: String)]
    var body = Array(#"{"aps":{"alert":"Hello"}}"#.utf8)
    /// The size of the body that the client sent, if it is larger than the part that was kept.
    var bodyTotal: Int?

    init(authorization: String) {
        fields = [
            (":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
            (":path", "/3/device/\(Self.deviceToken)"), ("authorization", authorization),
            ("apns-id", "eabeae54-14a8-11e5-b60b-1697f925ec7b"), ("apns-topic", "com.example.app"),
            ("apns-push-type", "alert"), ("apns-priority", "10"), ("apns-expiration", "0"),
            ("apns-collapse-id", "game"), ("user-agent", "test"),
        ]
    }

    /// The value of the first field of this name; setting it to nil removes the field.
    subscript(name: String) -> String? {
        get { fields.first { $0.name == name }?.value }
        set {
            if let newValue, let index = fields.firstIndex(where: { $0.name == name }) {
                fields[index].value = newValue
            } else {
                fields.removeAll { $0.name == name }
                newValue.map { fields.append((name, $0)) }
            }
        }
    }

    /// Calls `body` with the fields in the form in which the transport passes them.
    func withFields<Result>(_ body: (UnsafeBufferPointer<apns_transport_field>) -> Result) -> Result {
        var records: [apns_transport_field] = []
        var copies: [UnsafeMutableBufferPointer<UInt8>] = []
        defer { copies.forEach { $0.deallocate() } }
        func copy(_ text: String) -> UnsafePointer<UInt8>? {
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, text.utf8.count))
            _ = copy.initialize(from: text.utf8)
            copies.append(copy)
            return UnsafePointer(copy.baseAddress)
        }
        for (name, value) in fields {
            var record = apns_transport_field()
            record.name = copy(name)
            record.name_length = UInt32(name.utf8.count)
            record.value = copy(value)
            record.value_length = UInt32(value.utf8.count)
            records.append(record)
        }
        return records.withUnsafeBufferPointer(body)
    }
}

/// Returns status and reason as text, such as `400 BadTopic` or `200`.
func text(_ answer: FixedAnswer) -> String {
    answer == .accepted ? "200" : "\(answer.status) \(answer.reason)"
}
