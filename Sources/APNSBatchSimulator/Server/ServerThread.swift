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
        /// The calls of `currentReport` that wait.
        var asking: [CheckedContinuation<SimulatorReport, Never>] = []
        /// The report, when the loop has ended.
        var report: SimulatorReport?

        mutating func takeAsking() -> [CheckedContinuation<SimulatorReport, Never>] {
            defer { asking = [] }
            return asking
        }
    }

    private let configuration: SimulatorConfiguration
    private let keys: [ProviderKey]
    private let isStopped = Atomic(false)
    /// Whether a caller waits for a report.
    private let isAsked = Atomic(false)
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
        return state.withLock { $0.report } ?? SimulatorReport()
    }

    /// Returns the counts until now: the thread answers after its current turn. Call it after a successful `start`.
    func currentReport() async -> SimulatorReport {
        await withCheckedContinuation { call in
            let report = state.withLock { state -> SimulatorReport? in
                if let report = state.report { return report }
                state.asking.append(call)
                isAsked.store(true, ordering: .releasing)
                // The thread destroys the transport after it was released, which needs the lock.
                if !state.isReleased, case .success((let transport, _)) = state.opened {
                    unsafe apns_transport_wake(transport.pointer)
                }
                return nil
            }
            if let report { call.resume(returning: report) }
        }
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
        while !isStopped.load(ordering: .acquiring), server.turn() {
            if isAsked.exchange(false, ordering: .acquiring) { tell(server.currentReport()) }
        }
        end(with: server.currentReport())
        _ = state.wait { $0.isReleased ? true : nil }
        unsafe apns_transport_destroy(transport)
        let report = server.finish()
        state.withLock { $0.report = report }
    }

    /// Answers all who wait for a report.
    private func tell(_ report: SimulatorReport) {
        for call in state.withLock({ $0.takeAsking() }) { call.resume(returning: report) }
    }

    /// Answers all who wait for a report, now and later: no turn follows.
    private func end(with report: SimulatorReport) {
        state.withLock { $0.report = report }
        tell(report)
    }
}
