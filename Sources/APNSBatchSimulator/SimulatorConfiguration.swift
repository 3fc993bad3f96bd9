import APNSBatchBasics

package struct SimulatorConfiguration: Sendable {
    package enum Loop: UInt32, Sendable {
        /// io_uring, or epoll where io_uring is refused.
        case automatic = 0
        case ioUring = 1
        case epoll = 2
    }

    /// The APNs environment that is simulated. The sandbox adds `apns-unique-id` to accepted requests.
    package enum Environment: String, Sendable, CaseIterable {
        case production, sandbox
    }

    /// How a client certificate of the wrong environment is refused.
    package enum CertificateFault: String, Sendable, CaseIterable {
        case none
        /// Each request gets 403 BadCertificateEnvironment.
        case answer
        /// GOAWAY with that reason, NO_ERROR and last-stream-id 0 is sent, as observed at APNs.
        case goaway
    }

    /// A signing key that clients may use.
    package struct ProviderKey: Sendable {
        package var keyID: String
        package var teamID: String
        /// The public key, as PEM with the label `PUBLIC KEY`.
        package var publicKeyPEM: [UInt8]
        /// The topics of the key, in the form of the simulator's `topics`; nil for the simulator's own ones.
        package var topics: [String]?
        /// The environment of the key; nil for both.
        package var environment: Environment?

        package init(keyID: String, teamID: String, publicKeyPEM: [UInt8]) {
            self.keyID = keyID
            self.teamID = teamID
            self.publicKeyPEM = publicKeyPEM
        }
    }

    /// The address to listen on, a numeric IPv4 or IPv6 address.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 lets the system choose.
    package var port: UInt16 = 0
    /// A second port for channel management, for which APNs uses a separate host; 0 lets the system choose, and nil
    /// serves all requests on one port.
    package var managementPort: UInt16?
    package var environment = Environment.production
    /// The apps that may broadcast; nil for all.
    package var broadcastApps: [String]?
    /// Whether broadcasts to every valid channel id are accepted, as if the channel had been created before.
    package var knowsAllChannels = false
    /// The maximum number of channels of one app.
    package var channelsMaximum = 10_000
    /// The authority of client certificates, as PEM; nil if none are requested. The UID of the subject names the app.
    package var clientAuthorityPEM: [UInt8]?
    package var certificateFault = CertificateFault.none
    /// The server's certificate chain, leaf first, as PEM.
    package var certificatePEM: [UInt8]
    /// The private key of the certificate, as PEM.
    package var keyPEM: [UInt8]
    package var providerKeys: [ProviderKey]
    /// The bundle identifiers of the apps that may receive pushes, without the suffixes of push types; nil for any.
    package var topics: [String]?
    package var loop = Loop.automatic
    package var script = SimulatorScript()
    /// The path of a CSV file for the counts of each token; nil for none.
    package var countsPath: String?
    /// The path of a CSV file for the times at which requests arrive; nil for none.
    package var arrivalsPath: String?
    /// The MAX_CONCURRENT_STREAMS of a new connection, until a request with a valid provider token is answered.
    package var streamsBeforeToken: UInt32 = 1
    /// The MAX_CONCURRENT_STREAMS after that.
    package var streams: UInt32 = 1000
    /// The number of bytes of one payload that a client may send before the window is increased; 0 for more than any
    /// payload has.
    package var streamWindow: UInt32 = 0
    /// The time in which a client must complete a new connection, in milliseconds.
    package var connectTimeout: UInt32 = 10_000
    /// The maximum number of simultaneous connections.
    package var connections: UInt32 = 256
    /// The maximum number of requests in flight over all connections.
    package var streamsTotal: UInt32 = 65_536
    /// The maximum age of a provider token, in seconds.
    package var tokenLifetime: Int64 = 3600
    /// The minimum time between two provider tokens on one connection, in seconds.
    package var tokenUpdateInterval: Int64 = 1200
    /// How far in the future a provider token may have been issued, in seconds, to allow for clock differences.
    package var clockTolerance: Int64 = 60
    /// The number of seconds to add to the clock, also for `date`.
    package var clockOffset: Int64 = 0
    /// An observer of all requests, which may replace their answers; nil for none.
    package var probe: (any SimulatorProbe)?
    /// Returns the time in milliseconds since the epoch.
    package var clock: @Sendable () -> Int64 = SystemClock.milliseconds

    var clockWithOffset: @Sendable () -> Int64 {
        guard clockOffset != 0 else { return clock }
        let (clock, offset) = (clock, clockOffset * 1000)
        return { clock() + offset }
    }

    package init(certificatePEM: [UInt8], keyPEM: [UInt8], providerKeys: [ProviderKey]) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
        self.providerKeys = providerKeys
    }
}
