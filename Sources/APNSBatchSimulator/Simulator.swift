import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchIdentities
import Synchronization

/// A local server that behaves like APNs. It uses HTTP/2 over TLS, validates every request as Apple documents, answers
/// by a script, and counts the requests.
///
/// It runs on its own thread, and several simulators may run in one process. All functions may be called from any
/// thread. `start` and `stop` block until the server thread has started or ended.
package final class Simulator: Sendable {
    private enum State {
        case new
        case running(ServerThread, Ports)
        case stopped(SimulatorReport)
    }

    private let configuration: SimulatorConfiguration
    private let keys: [ProviderKey]
    private let state = Mutex(State.new)

    /// Validates the script and the keys. It opens no socket.
    package init(_ configuration: SimulatorConfiguration) throws(SimulatorError) {
        if let fault = configuration.script.fault() {
            throw .script(fault)
        }
        try Self.check(configuration)
        if let path = configuration.countsPath { try Self.check(path, TokenCounts.file, "counts") }
        if let path = configuration.arrivalsPath { try Self.check(path, ArrivalLog.file, "arrivals") }
        self.configuration = configuration
        var keys: [ProviderKey] = []
        for key in configuration.providerKeys {
            keys.append(try Self.readable(key, in: configuration.environment))
        }
        self.keys = ProviderKey.numbered(keys)
    }

    deinit {
        _ = stop()
    }

    /// Refuses a path for a file of the simulator at which an unrelated file exists.
    private static func check(
        _ path: String, _ kind: OutputFile.Kind, _ name: String
    ) throws(SimulatorError) {
        do {
            try OutputFile.check(path, kind)
        } catch {
            throw .configuration("\(name): \(error)")
        }
    }

    /// Starts listening and returns the port.
    package func start() throws(SimulatorError) -> UInt16 {
        try state.withLock { (state) throws(SimulatorError) -> UInt16 in
            guard case .new = state else { throw .alreadyStarted }
            let thread = ServerThread(configuration, keys)
            let ports = try thread.start()
            state = .running(thread, ports)
            return ports.pushes
        }
    }

    /// The port of channel management, if it has its own and the simulator runs.
    package var managementPort: UInt16? {
        state.withLock { state in
            guard case .running(_, let ports) = state else { return nil }
            return ports.management
        }
    }

    /// Returns the counts until now, without waiting for anything but the current turn of the simulator's thread. If the
    /// simulator was not started, the report is empty.
    package func report() async -> SimulatorReport {
        let thread: ServerThread
        switch state.withLock({ $0 }) {
        case .new: return SimulatorReport()
        case .stopped(let report): return report
        case .running(let running, _): thread = running
        }
        return await thread.currentReport()
    }

    /// Closes all connections, writes the counts and returns the report. Requests that still wait get no answer. A
    /// second call returns the same report. If the simulator was not started, the report is empty.
    @discardableResult
    package func stop() -> SimulatorReport {
        state.withLock { state in
            switch state {
            case .new: return SimulatorReport()
            case .stopped(let report): return report
            case .running(let thread, _):
                let report = thread.stop()
                state = .stopped(report)
                return report
            }
        }
    }

    private static func check(_ configuration: SimulatorConfiguration) throws(SimulatorError) {
        for topics in [configuration.topics] + configuration.providerKeys.map(\.topics) {
            if let topics, topics.contains("") { throw .configuration("topics: expected no empty topic") }
        }
        if configuration.clientAuthorityPEM?.isEmpty == true {
            throw .configuration("clientAuthorityPEM: expected a certificate, found nothing")
        }
        guard configuration.channelsMaximum >= 0 else {
            throw .configuration("channelsMaximum: expected 0 or more, found \(configuration.channelsMaximum)")
        }
        guard (-(1 << 32)...1 << 32).contains(configuration.clockOffset) else {
            throw .configuration("clockOffset: expected at most \(1 << 32) seconds, found \(configuration.clockOffset)")
        }
        guard configuration.connections > 0, configuration.connections < 1 << 16 else {
            throw .configuration("connections: expected 1 to 65535, found \(configuration.connections)")
        }
        for (name, value) in [
            ("tokenLifetime", configuration.tokenLifetime), ("clockTolerance", configuration.clockTolerance),
            ("tokenUpdateInterval", configuration.tokenUpdateInterval),
        ] where value < 0 || value > 1 << 32 {
            throw .configuration("\(name): expected 0 to \(1 << 32) seconds, found \(value)")
        }
    }

    private static func readable(
        _ key: SimulatorConfiguration.ProviderKey, in environment: SimulatorConfiguration.Environment
    ) throws(SimulatorError) -> ProviderKey {
        do throws(CredentialError) {
            let verification = try VerificationKey(publicKeyPEM: key.publicKeyPEM)
            var known = unsafe ProviderKey(keyID: key.keyID, teamID: key.teamID, team: -1) { message, signature in
                unsafe verification.verify(message, signature: signature)
            }
            known.topics = key.topics
            known.isOfOtherEnvironment = key.environment.map { $0 != environment } ?? false
            return known
        } catch {
            throw .configuration("key \(key.keyID): \(error)")
        }
    }
}

/// The reason why a simulator could not be created or started.
package enum SimulatorError: Error, Equatable, CustomStringConvertible {
    /// A value of the script is wrong: `rules[2].share: …`.
    case script(String)
    /// A value of the configuration is wrong.
    case configuration(String)
    /// The certificate or the address could not be used.
    case transport(String)
    /// The system refused a thread, memory or a descriptor.
    case system(String)
    /// `start` was called a second time.
    case alreadyStarted

    package var description: String {
        switch self {
        case .script(let text): "script: \(text)"
        case .configuration(let text): text
        case .transport(let text), .system(let text): text
        case .alreadyStarted: "the simulator was already started"
        }
    }
}
