import APNSBatchModel
import APNSBatchNotification

extension CampaignPlan {
    /// The findings about the campaign that do not depend on its rows.
    package var findings: [CampaignFinding] {
        templateFindings.map { CampaignFinding($0) } + expiration + priority + topicSuffix + unusedColumns
    }

    /// The findings about templates. If rows have push types, errors for one type only are reported with the rows of that
    /// type.
    private var templateFindings: [TemplateFinding] {
        templateFindingsOfRows.filter { isOfEveryRow || $0.rule.severity == .warning }
    }

    /// The findings about templates with the push types that the first rows have.
    var templateFindingsOfRows: [TemplateFinding] {
        rules.templateFindings(of: isOfEveryRow ? [headers.pushType] : PushType.allCases)
    }

    /// Whether an error of a template applies to all its rows. Rows that name their fields may have a push type nevertheless.
    package var isOfEveryRow: Bool { usualRoles.pushType == nil }

    /// Throws an error if no row can be sent because of the templates.
    package func refuseBrokenTemplates() throws(CampaignError) {
        guard isOfEveryRow else { return }
        let errors = templateFindingsOfRows.filter { $0.rule.severity == .error }
        guard let first = errors.first else { return }
        let more = errors.count > 1 ? " (and \(errors.count - 1) more: see apns-batch check)" : ""
        throw CampaignError(.configuration, CampaignFinding(first).text + more)
    }

    /// The findings about the expiration of rows that have none of their own. Those of rows are reported row by row.
    private var expiration: [CampaignFinding] {
        guard usualRoles.expiration == nil, !headers.isBroadcast else { return [] }
        if usualRoles.pushType == nil, let message = headers.unusualExpiration(headers.pushType) {
            return [CampaignFinding(.expirationUnusual, message)]
        }
        guard headers.expiration == nil, usualRoles.pushType != nil || headers.pushType.rule.lifetime == .any else {
            return []
        }
        return [
            CampaignFinding(
                .expirationMissing,
                "expiration: none given, so APNs stores a push for up to 30 days; give a time, a duration or 0")
        ]
    }

    private var priority: [CampaignFinding] {
        guard usualRoles.priority == nil, usualRoles.pushType == nil, !headers.isBroadcast,
            let message = headers.pushType.unusualPriority(headers.priority)
        else { return [] }
        return [CampaignFinding(.priorityUnusual, message)]
    }

    /// The finding about a topic with the suffix of another push type.
    private var topicSuffix: [CampaignFinding] {
        guard !headers.isBroadcast, usualRoles.pushType == nil, let topic = headers.topic,
            let other = Topic.otherType(of: topic, pushType: headers.pushType)
        else { return [] }
        return [CampaignFinding(.topicSuffix, other.oddTopicMessage(topic))]
    }
}
