import APNSBatchBasics
import APNSBatchNotification

/// What Apple's page about a push type advises, where headers say otherwise: such pushes are sent and earn a warning.
extension PushType {
    /// - Parameter priority: nil for the push type's own.
    package func unusualPriority(_ priority: Priority?) -> String? {
        guard let priority, !rule.usualPriorities.contains(priority), check(priority) == nil else { return nil }
        let usual = rule.usualPriorities.map(\.text).joined(separator: " or ")
        return "priority: a push of type \(name) should have priority \(usual), found \(priority.text)"
    }
}

extension HeaderDefaults {
    /// - Parameter own: a row's own; nil for the campaign's.
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
