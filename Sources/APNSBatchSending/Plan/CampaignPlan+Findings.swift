import APNSBatchModel
import APNSBatchNotification

extension CampaignPlan {
    /// What is wrong or doubtful with the campaign, whatever its rows say.
    package var findings: [CampaignFinding] {
        templateFindings.map { CampaignFinding($0) } + expiration + priority + topicSuffix + unusedColumns
    }

    /// Where rows say their push type, what a template breaks for one type only is told with the rows of that type.
    private var templateFindings: [TemplateFinding] {
        rules.templateFindings.filter { isOfEveryRow || $0.rule.severity == .warning }
    }

    /// Whether what a template breaks is broken by every row of it.
    package var isOfEveryRow: Bool { roles.pushType == nil }

    /// Refuses a campaign of which no row could be sent because of its template.
    package func refuseBrokenTemplates() throws(CampaignError) {
        guard isOfEveryRow else { return }
        let errors = rules.templateFindings.filter { $0.rule.severity == .error }
        guard let first = errors.first else { return }
        let more = errors.count > 1 ? " (and \(errors.count - 1) more: see apns-batch check)" : ""
        throw CampaignError(.configuration, CampaignFinding(first).text + more)
    }

    /// Of rows that have none of their own; what rows say is told row by row.
    private var expiration: [CampaignFinding] {
        guard roles.expiration == nil, !headers.isBroadcast else { return [] }
        if roles.pushType == nil, let message = headers.unusualExpiration(headers.pushType) {
            return [CampaignFinding(.expirationUnusual, message)]
        }
        guard headers.expiration == nil, roles.pushType != nil || headers.pushType.rule.lifetime == .any else {
            return []
        }
        return [
            CampaignFinding(
                .expirationMissing,
                "expiration: none given, so APNs stores a push for up to 30 days; give a time, a duration or 0")
        ]
    }

    private var priority: [CampaignFinding] {
        guard roles.priority == nil, roles.pushType == nil, !headers.isBroadcast,
            let message = headers.pushType.unusualPriority(headers.priority)
        else { return [] }
        return [CampaignFinding(.priorityUnusual, message)]
    }

    /// A topic that ends as another push type asks.
    private var topicSuffix: [CampaignFinding] {
        guard !headers.isBroadcast, roles.pushType == nil, let topic = headers.topic,
            let other = Topic.otherType(of: topic, pushType: headers.pushType)
        else { return [] }
        return [CampaignFinding(.topicSuffix, other.oddTopicMessage(topic))]
    }
}
