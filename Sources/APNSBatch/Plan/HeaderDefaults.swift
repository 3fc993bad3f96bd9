import APNSProtocol

/// The headers of rows that say nothing of their own, checked.
struct HeaderDefaults: Sendable {
    let authority: String
    /// Bundle id or topic as given; nil when every row must bring one.
    let topic: String?
    let pushType: PushType
    /// Nil for the push type's own.
    let priority: Priority?
    let expiration: Expiration?
    /// Empty for none.
    let collapseID: [UInt8]

    init(_ headers: Campaign.Headers, roles: ColumnRoles, authority: String) throws(CampaignError) {
        self.authority = authority
        topic = headers.topic
        if topic == nil && roles.topic == nil {
            throw CampaignError(.configuration, "no topic: give one for the campaign, or a column \"topic\"")
        }
        if let topic { try Self.check(topic) { Topic.check($0) } }
        pushType = try Self.parse(headers.pushType) { PushType.parse($0) }
        priority = try headers.priority.map { (number) throws(CampaignError) in
            try Self.parse(String(number)) { Priority.parse($0) }
        }
        if let priority, roles.pushType == nil, let fault = pushType.check(priority) {
            throw CampaignError(.configuration, Self.message(fault, priority.text))
        }
        expiration = try headers.expiration.map { (seconds) throws(CampaignError) in
            try Self.parse(String(seconds)) { Expiration.parse($0) }
        }
        collapseID = Array((headers.collapseID ?? "").utf8)
        if let text = headers.collapseID { try Self.check(text) { CollapseID.check($0) } }
    }

    private static func parse<T>(
        _ text: String, _ rule: (UnsafeRawBufferPointer) -> Result<T, FieldFault>
    ) throws(CampaignError) -> T {
        switch Array(text.utf8).withUnsafeBytes(rule) {
        case .success(let value): return value
        case .failure(let fault): throw CampaignError(.configuration, message(fault, text))
        }
    }

    private static func check(
        _ text: String, _ rule: (UnsafeRawBufferPointer) -> FieldFault?
    ) throws(CampaignError) {
        if let fault = Array(text.utf8).withUnsafeBytes(rule) {
            throw CampaignError(.configuration, message(fault, text))
        }
    }

    private static func message(_ fault: FieldFault, _ text: String) -> String {
        Array(text.utf8).withUnsafeBytes { fault.message(for: $0) }
    }
}
