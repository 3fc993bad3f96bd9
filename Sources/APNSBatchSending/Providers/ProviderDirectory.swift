import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import Synchronization

/// The credentials for new connections, one entry for each provider. They are the only part of a campaign that can be
/// replaced while it runs. Lanes read one atomic, and the entries only when it has changed.
package final class ProviderDirectory: Sendable {
    private let entries: Guarded<[ProviderAccess]>
    private let version = Atomic<Int>(0)
    private let topics: ProviderTopics
    private let rule: ProviderTokenRotation.Rule
    private let log: RunLog
    private let surroundings: Surroundings

    package init(_ campaign: Campaign, plan: CampaignPlan) throws(CampaignError) {
        topics = plan.topics
        log = plan.log
        surroundings = plan.surroundings
        rule = try Self.rule(campaign.tokenRotation)
        entries = Guarded(try Self.read(campaign.providers, rule: rule, log: log, surroundings))
    }

    /// A number that changes whenever an entry does.
    var generation: Int { version.load(ordering: .acquiring) }

    /// Warnings about the credentials.
    package var findings: [CampaignFinding] {
        providers.compactMap(\.warning).map { CampaignFinding(.certificateExpiry, $0) }
    }

    /// The last moment at which each client certificate is valid, in seconds since 1970-01-01 00:00 UTC, by its name.
    package var certificateEnds: [String: Int64] {
        let ends = providers.compactMap(\.certificate).map { ($0.facts.commonName, $0.facts.notAfter) }
        return Dictionary(ends, uniquingKeysWith: min)
    }

    /// The current entries.
    package var providers: [ProviderAccess] { entries.withLock { $0 } }

    /// Checks all credentials and then replaces those that differ. Returns the numbers of their providers. If any are wrong,
    /// throws and changes nothing.
    package func replace(_ providers: [Campaign.Provider]) throws(CampaignError) -> [Int] {
        try entries.withLock { (entries) throws(CampaignError) in
            guard providers.count == entries.count, try ProviderTopics(providers) == topics else {
                throw CampaignError(.configuration, "providers and their topics cannot change while a campaign runs")
            }
            let read = try Self.read(providers, generation: generation + 1, rule: rule, log: log, surroundings)
            let changed = entries.indices.filter { !entries[$0].isLike(read[$0]) }
            for number in changed {
                entries[number] = read[number]
                if let warning = read[number].warning { log.logger.warning("\(warning)") }
            }
            if !changed.isEmpty { version.add(1, ordering: .releasing) }
            return changed
        }
    }

    /// Restores the previous credentials after APNs refused these. The refused ones may be given again later.
    func takeBack(_ number: Int, refused generation: Int, to previous: ProviderAccess) {
        entries.withLock { entries in
            guard entries[number].generation == generation else { return }
            entries[number] = previous
            // Makes lanes that took the refused credentials go back, too.
            version.add(1, ordering: .releasing)
        }
    }

    private static func read(
        _ providers: [Campaign.Provider], generation: Int = 0, rule: ProviderTokenRotation.Rule, log: RunLog,
        _ surroundings: Surroundings
    ) throws(CampaignError) -> [ProviderAccess] {
        var read: [ProviderAccess] = []
        for (number, provider) in providers.enumerated() {
            do {
                read.append(
                    try ProviderAccess(
                        provider.credentials, generation: generation, rule: rule, log: log, surroundings: surroundings))
            } catch {
                guard providers.count > 1 else { throw error }
                throw CampaignError(error.code, "provider \(number + 1): \(error)")
            }
        }
        return read
    }

    private static func rule(_ rotation: Campaign.TokenRotation) throws(CampaignError) -> ProviderTokenRotation.Rule {
        guard rotation.mintAfter.seconds < rotation.retireAfter.seconds else {
            throw CampaignError(
                .configuration,
                "token mint after: expected less than token retire after, \(rotation.retireAfter.seconds) seconds, found "
                    + "\(rotation.mintAfter.seconds)")
        }
        return ProviderTokenRotation.Rule(
            mintAfter: Int64(rotation.mintAfter.seconds), retireAfter: Int64(rotation.retireAfter.seconds))
    }
}
