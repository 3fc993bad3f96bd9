import APNSBatchModel
import APNSBatchNotification

extension Sender {
    /// The settings of a sender. It is a plain value: nothing is read or opened until a ``Sender`` is made of it and runs.
    public struct Configuration: Sendable {
        /// The APNs environment or other server that notifications are sent to.
        public var destination: Campaign.Destination
        /// The providers, 1 to 100. The topic of a notification selects the provider that sends it.
        public var providers: [Campaign.Provider]
        /// The age at which provider tokens are renewed.
        public var tokenRotation = Campaign.TokenRotation()
        /// The number of sending threads, 1 to 256. One sends more than a hundred thousand notifications a second.
        public var lanes = 1
        /// The maximum number of connections that a lane opens for each provider, 1 to 512. One is kept open.
        public var connections = 4
        /// The maximum number of streams in use at once on one connection, 1 to 10,000.
        public var streams = 1000
        /// The number of notifications that the sender works on at once, 1 to 1,000,000: on streams, or waiting for another
        /// attempt. ``Sender/send(_:timeout:)`` waits beyond, in the order of the calls, and ``Sender/trySend(_:timeout:)``
        /// refuses.
        public var pending = 10_000
        /// The maximum number of requests for one notification, including the first, 1 to 1,000. Requests that certainly did
        /// not arrive, and those during an outage, do not count.
        public var attempts = 3
        /// The time after which a request without an answer fails, at least a millisecond.
        public var requestTimeout = Duration.seconds(30)
        /// The longest time from a call to its result, unless the call gives another.
        public var timeout = Duration.seconds(60)
        /// The longest time from ``Sender/shutDown()`` to the end of the sender. Requests are started in the first part of it only,
        /// and the rest is for their answers.
        public var gracePeriod = Duration.seconds(10)
        /// The policy for requests that may have been sent and have no answer. A sender has no ledger, so the default is
        /// delivery at most once: such a notification ends as ``Outcome/unknown``.
        public var onUnknown = UnknownPolicy.report
        /// The limits of requests per time.
        public var rateLimit = Campaign.RateLimit()
        /// The HTTP proxy to connect through; nil to connect to the destination directly.
        public var proxy: Campaign.Proxy?
        /// CA certificates to trust besides those of the system, in PEM.
        public var authorities: [UInt8] = []
        /// Whether the CA certificates of the system are trusted.
        public var systemTrust = true
        /// The event loop that drives the sockets.
        public var loop = Campaign.Loop.automatic
        /// The name of the sender: the value of the label `campaign` of its metrics. Senders and campaigns of one program have
        /// different names.
        public var name = "sender"

        /// Creates the configuration of a sender for several teams.
        public init(destination: Campaign.Destination, providers: [Campaign.Provider]) {
            (self.destination, self.providers) = (destination, providers)
        }

        /// Creates the configuration of a sender with one provider, which covers all topics.
        public init(destination: Campaign.Destination, credentials: Campaign.Credentials) {
            self.init(destination: destination, providers: [Campaign.Provider(credentials: credentials)])
        }
    }
}

extension Sender.Configuration {
    /// The settings as those of a campaign; a sender has a part of them.
    func campaign() throws(CampaignError) -> Campaign {
        guard (1...1_000_000).contains(pending) else {
            throw CampaignError(.configuration, "pending: expected 1 to 1000000, found \(pending)")
        }
        var campaign = Campaign(destination: destination, topic: nil, providers: providers)
        (campaign.tokenRotation, campaign.rateLimit) = (tokenRotation, rateLimit)
        (campaign.lanes, campaign.connections, campaign.streams) = (lanes, connections, streams)
        (campaign.attempts, campaign.retryRows, campaign.onUnknown) = (attempts, pending, onUnknown)
        campaign.requestTimeout = requestTimeout
        (campaign.proxy, campaign.authorities, campaign.systemTrust) = (proxy, authorities, systemTrust)
        campaign.loop = loop
        return campaign
    }

    /// Returns a duration in nanoseconds.
    static func nanoseconds(_ duration: Duration, _ name: String) throws(CampaignError) -> UInt64 {
        guard duration >= .zero else {
            throw CampaignError(.configuration, "\(name): expected no negative time, found \(duration)")
        }
        return duration.nanoseconds
    }
}
