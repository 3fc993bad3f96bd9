import APNSBatchModel
import APNSBatchNotification

/// Which provider sends for which topic. Asked once for each header set, not once a row.
package struct ProviderTopics: Sendable, Equatable {
    /// As many as a flight has numbers for, and more than anybody has teams.
    static let providersMax = 100

    /// How many there are.
    package let providers: Int
    private var named: [String: Int] = [:]
    /// The provider of topics that nobody names.
    private var other: Int?
    private let kinds: [Kind]

    /// How a provider proves who it is.
    private enum Kind {
        case token, certificate, none

        init(_ credentials: Campaign.Credentials) {
            switch credentials {
            case .providerToken: self = .token
            case .certificate: self = .certificate
            case .none: self = .none
            }
        }
    }

    init(_ providers: [Campaign.Provider]) throws(CampaignError) {
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

    /// The provider of a whole topic: the one that names it, else the one that names its bundle id, else the one for all
    /// others.
    func provider(of topic: String) -> Int? {
        named[topic] ?? Topic.bundleID(of: topic).flatMap { named[$0] } ?? other
    }

    /// Whether APNs takes a push of that type from a provider with credentials of its kind.
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
        if let fault = Array(topic.utf8).withUnsafeBytes({ Topic.check($0) }) {
            let text = Array(topic.utf8).withUnsafeBytes { fault.message(for: $0) }
            throw CampaignError(.configuration, "provider \(number + 1): \(text)")
        }
        if let first = named[topic], first != number {
            throw CampaignError(
                .configuration, "providers \(first + 1) and \(number + 1) both name the topic \"\(topic)\"")
        }
        named[topic] = number
    }
}
