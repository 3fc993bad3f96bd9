import APNSBatchBasics

/// What a simulator is made of.
package struct SimulatorConfiguration: Sendable {
    /// The loop that runs below.
    package enum Loop: Sendable {
        /// io_uring, or epoll where io_uring is refused.
        case automatic
        case ioUring
        case epoll
    }

    /// Which of the two APNs it is. The sandbox adds `apns-unique-id` to what it accepts.
    package enum Environment: String, Sendable, CaseIterable {
        case production, sandbox
    }

    /// What is said to client certificates, which are of one environment or of both.
    package enum CertificateFault: String, Sendable, CaseIterable {
        case none
        /// Each request gets 403 BadCertificateEnvironment.
        case answer
        /// GOAWAY with that reason, NO_ERROR and last-stream-id 0, as has been seen.
        case goaway
    }

    /// A signing key that clients may use.
    package struct ProviderKey: Sendable {
        package var keyID: String
        package var teamID: String
        /// PEM, `PUBLIC KEY`.
        package var publicKeyPEM: [UInt8]
        /// What it may push to, as `topics`; nil for the simulator's.
        package var topics: [String]?
        /// The environment that it is for; nil for both.
        package var environment: Environment?

        package init(keyID: String, teamID: String, publicKeyPEM: [UInt8]) {
            self.keyID = keyID
            self.teamID = teamID
            self.publicKeyPEM = publicKeyPEM
        }
    }

    /// The address to listen on, IPv4 or IPv6 in numbers.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 lets the system choose.
    package var port: UInt16 = 0
    /// A second port that alone answers for channels, as APNs has them on a host of their own; 0 lets the system choose,
    /// nil serves all on the one port.
    package var managementPort: UInt16?
    package var environment = Environment.production
    /// Apps that may broadcast; nil for all.
    package var broadcastApps: [String]?
    /// Takes broadcasts to every channel id of the right form, as if the channel had been made before.
    package var knowsAllChannels = false
    /// The most channels of one app.
    package var channelsMaximum = 10_000
    /// Who signs client certificates, PEM; nil when none are asked for. Such a certificate's app is its subject's UID.
    package var clientAuthorityPEM: [UInt8]?
    package var certificateFault = CertificateFault.none
    /// The server's chain, leaf first, PEM.
    package var certificatePEM: [UInt8]
    /// Its private key, PEM.
    package var keyPEM: [UInt8]
    package var providerKeys: [ProviderKey]
    /// Bundle identifiers of the apps that may be pushed to, without the suffixes of push types; nil for any.
    package var topics: [String]?
    package var loop = Loop.automatic
    package var script = SimulatorScript()
    /// Where to write what was counted for each token, as CSV; nil for nowhere.
    package var countsPath: String?
    /// MAX_CONCURRENT_STREAMS of a new connection, until a request with a valid provider token was answered.
    package var streamsBeforeToken: UInt32 = 1
    /// MAX_CONCURRENT_STREAMS afterwards.
    package var streams: UInt32 = 1000
    /// Bytes of one payload that a client may send before it hears that more may come; 0 for more than any payload has.
    package var streamWindow: UInt32 = 0
    /// Milliseconds within which a client has to complete a new connection.
    package var connectTimeout: UInt32 = 10_000
    /// Connections at once.
    package var connections: UInt32 = 256
    /// Requests open at once over all connections.
    package var streamsTotal: UInt32 = 65_536
    /// The oldest provider token accepted, in seconds.
    package var tokenLifetime: Int64 = 3600
    /// The shortest time between two provider tokens on one connection, in seconds.
    package var tokenUpdateInterval: Int64 = 1200
    /// How far in the future a provider token may have been issued, in seconds: clocks differ.
    package var clockTolerance: Int64 = 60
    /// Seconds to add to the clock, also of `date`.
    package var clockOffset: Int64 = 0
    /// Sees every request and may spoil its answer; nil for nobody.
    package var probe: (any SimulatorProbe)?
    /// Milliseconds since the epoch.
    package var clock: @Sendable () -> Int64 = SystemClock.milliseconds

    /// The clock with the offset.
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

/// Looks over a simulator's shoulder and jogs its elbow: for a simulation, which must know of every request what was
/// received and what was answered.
package protocol SimulatorProbe: AnyObject, Sendable {
    /// What becomes of the next request.
    func fate() -> RequestFate

    /// A request for a device that was judged: processed, whatever becomes of its answer.
    ///
    /// - Parameter status: of the answer. 200: the push is on its way to the device.
    func judged(token: UnsafeRawBufferPointer, status: UInt16)
}

/// What becomes of a request.
package enum RequestFate: Sendable, Equatable {
    case answered
    /// REFUSED_STREAM: it is not looked at.
    case refused
    /// Processed, and then RST_STREAM with that code for an answer.
    case reset(UInt32)
    /// Processed and never answered.
    case forgotten
}
