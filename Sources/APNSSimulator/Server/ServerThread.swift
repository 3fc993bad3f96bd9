import CTransport
import Glibc
import Synchronization

/// The thread of one simulator. Fields are written by the thread before it signals, or ends, and read afterwards.
final class ServerThread: @unchecked Sendable {
    private let configuration: SimulatorConfiguration
    private let keys: [ProviderKey]
    private let isStopped = Atomic(false)
    private let listening = Semaphore()
    private let released = Semaphore()
    private var opened: Result<Ports, SimulatorError> = .success(Ports(pushes: 0))
    private var transport: OpaquePointer?
    private var report = SimulatorReport()
    private var thread = pthread_t()

    init(_ configuration: SimulatorConfiguration, _ keys: [ProviderKey]) {
        self.configuration = configuration
        self.keys = keys
    }

    /// Starts the thread and waits until it listens; returns the ports.
    func start() throws(SimulatorError) -> Ports {
        let context = Unmanaged.passRetained(self)
        // Signals are the business of the process's other threads.
        var (blocked, before) = (sigset_t(), sigset_t())
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGTRAP] { sigdelset(&blocked, fault) }
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        let status = pthread_create(&thread, nil, serve, context.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard status == 0 else {
            context.release()
            throw .system("no thread for the simulator: \(String(cString: strerror(status)))")
        }
        listening.wait()
        do {
            return try opened.get()
        } catch {
            pthread_join(thread, nil)
            throw error
        }
    }

    /// Ends the thread, which `start` began with success, and returns its report. Call it once.
    func stop() -> SimulatorReport {
        isStopped.store(true, ordering: .releasing)
        if let transport {
            apns_transport_wake(transport)
        }
        released.signal()
        pthread_join(thread, nil)
        return report
    }

    /// The thread's work.
    fileprivate func run() {
        let transport: OpaquePointer
        let ports: Ports
        do throws(SimulatorError) {
            (transport, ports) = try Listener.open(configuration)
            self.transport = transport
            opened = .success(ports)
        } catch {
            opened = .failure(error)
            listening.signal()
            return
        }
        var server = SimulatorServer(transport, configuration, keys, ports)
        listening.signal()
        server.run(until: { isStopped.load(ordering: .acquiring) })
        // Not before the last call of apns_transport_wake has returned.
        released.wait()
        apns_transport_destroy(transport)
        report = server.finish(countsPath: configuration.countsPath)
    }
}

private func serve(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context {
        Unmanaged<ServerThread>.fromOpaque(context).takeRetainedValue().run()
    }
    return nil
}
