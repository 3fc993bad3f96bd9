import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// Finds the provider of a topic. Used once for each header set, not for each row.
package struct ProviderTopics: Sendable, Equatable {
    /// The maximum number of providers, which a flight can number.
    static let providersMax = 100

    /// The number of providers.
    package let providers: Int
    private var named: [String: Int] = [:]
    /// The provider of topics that no provider names.
    private var other: Int?
    private let kinds: [Kind]

    /// The kind of a provider's credentials.
    private enum Kind {
        case token, certificate, none

        init(_ credentials: Campaign.Credentials) {
            switch credentials {
            case .providerToken, .issuedToken: self = .token
            case .certificate: self = .certificate
            case .none: self = .none
            }
        }
    }

    package init(_ providers: [Campaign.Provider]) throws(CampaignError) {
        guard (1...Self.providersMax).contains(providers.count) else {
            throw CampaignError(
                .configuration, "providers: expected 1 to \(Self.providersMax), found \(providers.count)")
        }
        self.providers = providers.count
        kinds = providers.map { Kind($0.credentials) }
        for (number, provider) in providers.enumerated() {
            if provider.topics.isEmpty { try coverOthers(number) }
            for topic in provider.topics { try name(topic, number) }
        }
    }

    /// Returns the provider of a full topic: the one that names it, otherwise the one that names its bundle id, otherwise
    /// the one without topics.
    package func provider(of topic: String) -> Int? {
        named[topic] ?? Topic.bundleID(of: topic).flatMap { named[$0] } ?? other
    }

    /// Whether APNs accepts a push of this type with the provider's kind of credentials.
    func mayAuthenticate(_ type: PushType, provider: Int) -> Bool {
        switch (type.rule.authentication, kinds[provider]) {
        case (.tokenOnly, .certificate), (.certificateOnly, .token): false
        default: true
        }
    }

    private mutating func coverOthers(_ number: Int) throws(CampaignError) {
        if let first = other {
            throw CampaignError(
                .configuration,
                "providers \(first + 1) and \(number + 1) name no topics; only one provider may omit them, and it covers all other topics"
            )
        }
        other = number
    }

    private mutating func name(_ topic: String, _ number: Int) throws(CampaignError) {
        if let fault = unsafe Array(topic.utf8).withUnsafeBytes({ unsafe Topic.check($0) }) {
            let text = unsafe Array(topic.utf8).withUnsafeBytes { unsafe fault.message(for: $0) }
            throw CampaignError(.configuration, "provider \(number + 1): \(text)")
        }
        if let first = named[topic], first != number {
            throw CampaignError(
                .configuration, "providers \(first + 1) and \(number + 1) both name the topic \(topic.quoted)")
        }
        named[topic] = number
    }
}
