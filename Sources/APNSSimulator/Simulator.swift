import APNSBatchBasics
import APNSBatchModel
import APNSBatchSimulator

/// A simulator of APNs that is running, made by ``withSimulator(_:isolation:_:)``.
///
/// It has what a sender needs to reach it, gives the answers that the test scripts, and keeps what arrives. All members may be
/// used from any task and thread at any time; none of them blocks the caller.
public final class Simulator: Sendable {
    /// The address on which it listens.
    public let host: String
    /// The port on which it listens, which the system chose. It serves pushes, broadcasts and the management of channels.
    public let port: UInt16
    /// The certificate of the authority that the sender must trust, in PEM. It was made for this simulator, for the names
    /// `localhost`, `127.0.0.1` and `::1`.
    public let authorities: [UInt8]
    /// The signing key that the simulator accepts, as PKCS#8 PEM of a P-256 key. It was made for this simulator.
    public let signingKey: [UInt8]
    /// The id of ``signingKey``.
    public let keyID: String
    /// The id of the team of ``signingKey``.
    public let teamID: String

    let desk: RequestDesk
    private let server: Server

    /// The server of this package, with its own configuration.
    private typealias Server = APNSBatchSimulator.Simulator

    private init(_ occasion: Occasion, _ desk: RequestDesk, _ server: Server, port: UInt16) {
        (host, self.port) = (Self.host, port)
        (authorities, signingKey) = (occasion.authorityPEM, occasion.signingKeyPEM)
        (keyID, teamID) = (Occasion.keyID, Occasion.teamID)
        (self.desk, self.server) = (desk, server)
    }

    private static let host = "127.0.0.1"

    /// The destination of campaigns and other requests.
    public var destination: Campaign.Destination { .host(host, port: port) }

    /// Credentials that the simulator accepts, for every topic of its configuration: ``signingKey`` with its ids.
    public var credentials: Campaign.Credentials {
        .providerToken(keyPEM: signingKey, keyID: keyID, teamID: teamID)
    }

    // MARK: Beginning and end

    /// Makes keys and certificates and starts the server, on threads of their own.
    static func start(_ configuration: Configuration) async throws(SimulatorError) -> Simulator {
        let script = try configuration.script()
        let started: Result<Simulator, SimulatorError>
        do throws(ThreadError) {
            started = try await NamedThread.value("simulator start") { begin(configuration, script) }
        } catch {
            throw SimulatorError(.system, "\(error)")
        }
        return try started.get()
    }

    private static func begin(_ configuration: Configuration, _ script: SimulatorScript) -> Result<
        Simulator, SimulatorError
    > {
        do throws(APNSBatchSimulator.SimulatorError) {
            let occasion = try Occasion.make(hosts: ["localhost", host, "::1"])
            let desk = RequestDesk(requestsKept: configuration.requestsKept)
            let server = try Server(configuration.serverConfiguration(script, occasion, desk, host: host))
            return .success(Simulator(occasion, desk, server, port: try server.start()))
        } catch {
            return .failure(SimulatorError(error))
        }
    }

    /// Closes port and connections, on a thread of its own. Nothing waits for the simulator afterwards.
    func stop() async {
        do throws(ThreadError) {
            _ = try await NamedThread.value("simulator end") { [server] in server.stop() }
        } catch {
            // Without another thread this one has to wait, for some milliseconds.
            _ = server.stop()
        }
        desk.end()
    }

    // MARK: What a test sets, and what it sees

    /// Sets the answer to pushes to a device, from the next one on.
    ///
    /// Requests that break a rule of APNs still get the answer for this. Answers for a number of requests are used first, in
    /// the order of the calls, and then the one without a number; a later call replaces that one. Without one, further pushes get
    /// the answer of the configuration.
    ///
    /// ```swift
    /// try simulator.answer(token, with: .serviceUnavailable, times: 2)     // the third request is accepted
    /// ```
    ///
    /// - Parameters:
    ///   - deviceToken: Hexadecimal digits, in lower or upper case.
    ///   - answer: The answer.
    ///   - times: The number of requests that get it, at least 1; nil for all.
    /// - Throws: ``SimulatorError`` of the code `configuration` if the token or the answer is wrong.
    public func answer(_ deviceToken: String, with answer: Answer, times: Int? = nil) throws(SimulatorError) {
        let token = deviceToken.lowercased()
        guard unsafe Array(token.utf8).withUnsafeBytes({ unsafe Hex.isDigits($0) }) else {
            throw .configuration("deviceToken: expected an even number of hexadecimal digits")
        }
        if let times, times < 1 { throw .configuration("times: expected at least 1, found \(times)") }
        desk.add(try answer.chosen(), for: token, times: times)
    }

    /// The requests that arrived, in the order in which they did; the last ``Configuration/requestsKept`` of them.
    ///
    /// These are the requests that were processed: one that a fault refused or passed over is not among them. Complexity: their
    /// number.
    public var requests: [Request] { desk.requests }

    /// Those of ``requests`` that are for a device. Complexity: the number of all.
    ///
    /// - Parameter deviceToken: Hexadecimal digits, in lower or upper case.
    public func requests(to deviceToken: String) -> [Request] {
        let token = deviceToken.lowercased()
        return requests.filter { $0.deviceToken == token }
    }

    /// The number of requests that arrived and are not among ``requests`` any more.
    public var requestsForgotten: Int { desk.requestsForgotten }

    /// Returns when at least this many requests have arrived since the simulator started.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, or ``SimulatorError`` of the code `ended` when the simulator has
    ///   ended with fewer requests.
    public func waitForRequests(_ count: Int) async throws { try await desk.wait(for: count) }

    /// Returns what the simulator has counted until now, which includes every request whose answer a client has received.
    public func report() async -> Report { Report(await server.report()) }
}
