import APNSBatchBasics
import APNSBatchNotification

/// Header fields that differ from what Apple's page about a push type recommends. Such pushes are sent, with a warning.
extension PushType {
    /// The warning about an unusual priority; nil if there is none.
    ///
    /// - Parameter priority: Nil for the push type's default.
    package func unusualPriority(_ priority: Priority?) -> String? {
        guard let priority, !rule.usualPriorities.contains(priority), check(priority) == nil else { return nil }
        let usual = rule.usualPriorities.map(\.text).joined(separator: " or ")
        return "priority: a push of type \(name) should have priority \(usual), found \(priority.text)"
    }
}

extension HeaderDefaults {
    /// The warning about an unusual expiration; nil if there is none.
    ///
    /// - Parameter own: The row's own expiration; nil for the campaign's.
    package func unusualExpiration(_ type: PushType, own: Expiration? = nil) -> String? {
        let expiration = own ?? expiration(of: type)
        let advice: String
        switch type.rule.lifetime {
        case .any: return nil
        case .once:
            if expiration == .once { return nil }
            advice = "a push of type \(type.name) should be attempted once (0)"
        case .seconds:
            let latest = start + UInt64(PushTypeRule.fewSeconds)
            if let expiration, UInt64(expiration.seconds) <= latest { return nil }
            advice = "a push of type \(type.name) should be attempted once (0) or expire after a few seconds"
        }
        guard let expiration else { return "expiration: \(advice); none is given" }
        return "expiration: \(advice); found \(Timestamp.text(Int64(expiration.seconds)))"
    }
}
