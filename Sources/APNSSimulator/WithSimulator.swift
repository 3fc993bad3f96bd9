/// Runs a simulator of APNs while `body` runs.
///
/// The simulator is a server on the loopback interface of this process. It speaks HTTP/2 over TLS, checks each request as Apple
/// documents, and answers as the test demands.
///
/// ```swift
/// let summary = try await withSimulator { simulator in
///     try simulator.answer(token, with: .unregistered)
///     campaign.redirect(to: simulator)
///     return try await CampaignRun(campaign, input: .file("rows.csv")).send()
/// }
/// #expect(summary.rejected == 1)
/// ```
///
/// The system chooses a free port, so tests may run as many simulators at once as they like: each has its own thread, port,
/// certificate and signing key. When `body` returns or throws, also because its task was cancelled, the simulator closes its
/// connections and its port before this function returns. Requests that still wait are not answered then.
///
/// - Parameters:
///   - configuration: What the simulator does; without one it accepts every valid push.
///   - isolation: The actor on which `body` runs, which is that of the caller.
///   - body: Receives the simulator. It should not let it escape: afterwards nothing listens.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws, or ``SimulatorError`` if the simulator cannot start; `body` is not called then.
public func withSimulator<R>(
    _ configuration: Simulator.Configuration = .init(), isolation: isolated (any Actor)? = #isolation,
    _ body: (Simulator) async throws -> R
) async throws -> R {
    let simulator = try await Simulator.start(configuration)
    do {
        let result = try await body(simulator)
        await simulator.stop()
        return result
    } catch {
        await simulator.stop()
        throw error
    }
}
