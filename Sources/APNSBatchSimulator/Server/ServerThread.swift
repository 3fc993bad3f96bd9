import APNSBatchBasics
import CAPNSTransport
import Synchronization

/// The thread on which a simulator runs.
final class ServerThread: Sendable {
    /// The state of the thread, which owns the transport and destroys it when it has finished and `stop` has released
    /// it.
    private struct State: Sendable {
        var opened: Result<(CoreHandle, Ports), SimulatorError>?
        /// Whether `stop` no longer uses the transport.
        var isReleased = false
        var report = SimulatorReport()
    }

    private let configuration: SimulatorConfiguration
    private let keys: [ProviderKey]
    private let isStopped = Atomic(false)
    private let state = Guarded(State())
    private let thread = Guarded<NamedThread?>(nil)

    init(_ configuration: SimulatorConfiguration, _ keys: [ProviderKey]) {
        self.configuration = configuration
        self.keys = keys
    }

    /// Starts the thread and waits until it listens; returns the ports.
    func start() throws(SimulatorError) -> Ports {
        do throws(ThreadError) {
            try thread.withLock { (thread) throws(ThreadError) in
                thread = try NamedThread("simulator") { [self] in run() }
            }
        } catch {
            throw .system("\(error)")
        }
        switch state.wait({ $0.opened }) {
        case .success((_, let ports)): return ports
        case .failure(let error):
            join()
            throw error
        case nil: preconditionFailure("a wait without a deadline ends with a result")
        }
    }

    /// Ends the thread and returns its report. Call it once, after a successful `start`.
    func stop() -> SimulatorReport {
        isStopped.store(true, ordering: .releasing)
        if case .success((let transport, _)) = state.withLock({ $0.opened }) {
            unsafe apns_transport_wake(transport.pointer)
        }
        state.change { $0.isReleased = true }
        join()
        return state.withLock { $0.report }
    }

    private func join() { thread.withLock { $0.take() }?.join() }

    private func run() {
        let transport: OpaquePointer
        let ports: Ports
        do throws(SimulatorError) {
            unsafe (transport, ports) = try unsafe Listener.open(configuration)
        } catch {
            return state.change { $0.opened = .failure(error) }
        }
        var server = unsafe SimulatorServer(transport, configuration, keys, ports)
        state.change { $0.opened = unsafe .success((CoreHandle(pointer: transport), ports)) }
        while !isStopped.load(ordering: .acquiring), server.turn() {}
        _ = state.wait { $0.isReleased ? true : nil }
        unsafe apns_transport_destroy(transport)
        let report = server.finish()
        state.withLock { $0.report = report }
    }
}
