import APNSBatchModel
import APNSBatchNotification

/// The checked header fields of rows that have no values of their own.
package struct HeaderDefaults: Sendable {
    let authority: String
    /// The bundle id or topic as given; nil if every row must have one.
    let topic: String?
    let pushType: PushType
    /// Nil for the push type's default.
    let priority: Priority?
    let expiration: Expiration?
    /// Nil for none.
    let collapseID: TextTemplate?
    /// The start of the campaign, from which durations count, in seconds since 1970-01-01 00:00 UTC.
    package let start: UInt64
    let isBroadcast: Bool

    init(
        _ headers: Campaign.Headers, roles: ColumnRoles, columns: [String], authority: String, start: UInt64,
        mayBeLate: Bool, isBroadcast: Bool
    ) throws(CampaignError) {
        self.isBroadcast = isBroadcast
        self.authority = authority
        topic = headers.topic
        if topic == nil && roles.topic == nil {
            throw CampaignError(.configuration, "no topic: give one for the campaign, or a column \"topic\"")
        }
        if let topic { try unsafe Self.check(topic) { unsafe Topic.check($0) } }
        pushType = try unsafe Self.parse(headers.pushType.name) { unsafe PushType.parse($0) }
        priority = try headers.priority.map { (given) throws(CampaignError) in
            try unsafe Self.parse(given.description) { unsafe Priority.parse($0) }
        }
        if let priority, roles.pushType == nil, let fault = pushType.check(priority) {
            throw CampaignError(.configuration, Self.message(fault, priority.text))
        }
        expiration = try headers.expiration.map { (expiration) throws(CampaignError) in
            try unsafe Self.parse(expiration.text) { unsafe GivenExpiration.parse($0) }.expiration(start: start)
        }
        self.start = start
        collapseID = try headers.collapseID.map { (text) throws(CampaignError) in
            try Self.collapseID(text, columns: columns)
        }
        if !mayBeLate { try refusePassed(now: start) }
    }

    /// Throws an error if the campaign's expiration has passed.
    func refusePassed(now: UInt64) throws(CampaignError) {
        guard let expiration, expiration.hasPassed(now: Int64(now)) else { return }
        throw CampaignError(
            .configuration,
            "expiration: expected a time in the future, found \(expiration.seconds); write a duration with its unit, such as 1h"
        )
    }

    /// The expiration of rows without one of their own; nil to omit the field.
    func expiration(of pushType: PushType) -> Expiration? {
        expiration ?? (pushType.rule.lifetime == .once ? .once : nil)
    }

    /// Compiles the collapse id. One without placeholders is checked here, others are checked row by row.
    private static func collapseID(_ text: String, columns: [String]) throws(CampaignError) -> TextTemplate {
        let template = try CampaignError.mapping(.configuration) {
            try TextTemplate(text, columns: columns, name: "collapse_id")
        }
        if template.isConstant { try unsafe check(text) { unsafe CollapseID.check($0) } }
        return template
    }

    /// Throws an error if the collapse id of a campaign cannot be compiled.
    static func checkCollapseID(_ text: String, columns: [String]) throws(CampaignError) {
        _ = try collapseID(text, columns: columns)
    }

    /// Adds what is wrong with fields by themselves.
    static func collectFaults(of headers: Campaign.Headers, in faults: inout CampaignFaults) {
        if let topic = headers.topic {
            faults.collect { () throws(CampaignError) in try unsafe check(topic) { unsafe Topic.check($0) } }
        }
        faults.collect { () throws(CampaignError) in
            _ = try unsafe parse(headers.pushType.name) { unsafe PushType.parse($0) }
        }
        if let priority = headers.priority {
            faults.collect { () throws(CampaignError) in
                _ = try unsafe parse(priority.description) { unsafe Priority.parse($0) }
            }
        }
    }

    private static func parse<T>(
        _ text: String, _ rule: (UnsafeRawBufferPointer) -> Result<T, FieldFault>
    ) throws(CampaignError) -> T {
        switch unsafe Array(text.utf8).withUnsafeBytes(rule) {
        case .success(let value): return value
        case .failure(let fault): throw CampaignError(.configuration, message(fault, text))
        }
    }

    private static func check(
        _ text: String, _ rule: (UnsafeRawBufferPointer) -> FieldFault?
    ) throws(CampaignError) {
        if let fault = unsafe Array(text.utf8).withUnsafeBytes(rule) {
            throw CampaignError(.configuration, message(fault, text))
        }
    }

    private static func message(_ fault: FieldFault, _ text: String) -> String {
        unsafe Array(text.utf8).withUnsafeBytes { unsafe fault.message(for: $0) }
    }
}
