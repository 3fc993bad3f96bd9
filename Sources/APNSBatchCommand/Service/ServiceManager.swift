import APNSBatch
import APNSBatchBasics
import APNSBatchMetrics
import Glibc
import Synchronization

/// Tells systemd what the process does, if it was started as a service of `Type=notify`: that the run has begun, its progress,
/// that it moves, and that it ends.
final class ServiceManager: Sendable {
    static let shared = ServiceManager()

    private let socket: NotifySocket?
    /// The time between two signs of life that systemd asks for, in seconds; nil if it asks for none.
    private let watchdog: Double?
    private let isReady = Mutex(false)

    /// Takes the variables of systemd from the environment, so that programs that this process starts do not inherit them.
    private init() {
        let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
        let values = variables.map { name in getenv(name).map { String(cString: $0) } }
        for name in variables { unsetenv(name) }
        socket = values[0].flatMap(NotifySocket.init)
        let isMeant = values[2].map { Int32($0) == getpid() } ?? true
        let microseconds = isMeant ? values[1].flatMap(UInt64.init) ?? 0 : 0
        watchdog = microseconds > 0 ? Double(microseconds) / 1e6 : nil
    }

    /// Takes the variables from the environment, before anything else uses it.
    static func begin() { _ = shared }

    /// Says that the start is over, once, and what the process does.
    func ready(_ status: String) {
        let isFirst = isReady.withLock { isReady in
            defer { isReady = true }
            return !isReady
        }
        send((isFirst ? ["READY=1"] : []) + [Self.status(status)])
    }

    /// Reports that the process waits for something that has its own deadline.
    func waits() { send(watchdog == nil ? [] : ["WATCHDOG=1"]) }

    /// Reports that the process ends. If its start was never over, the exit code alone shows it.
    func stopping(_ status: String) {
        send((isReady.withLock { $0 } ? ["STOPPING=1"] : []) + [Self.status(status)])
    }

    /// Says how far the run is and that it moves, if it does, until the task is cancelled.
    func follow(_ run: CampaignRun) async {
        guard socket != nil else { return }
        var watch = WorkWatch(now: SystemClock.monotonicSeconds())
        var (last, rate) = (run.progress, 0.0)
        while await pause() {
            let (measurements, now) = (run.measurements, SystemClock.monotonicSeconds())
            watch.note(measurements, now: now)
            // Smoothed over some seconds.
            rate += (ProgressText.rate(from: last, to: measurements.progress) - rate) * 0.2
            last = measurements.progress
            let isAlive = watchdog != nil && watch.isMoving(now: now)
            send((isAlive ? ["WATCHDOG=1"] : []) + [Self.status(ProgressText.line(last, rate: rate))])
        }
    }

    /// Says that the process waits, as ``waits()`` does, until the task is cancelled.
    func keepAlive() async {
        guard socket != nil, watchdog != nil else { return }
        repeat { waits() } while await pause()
    }

    /// Waits until the next message is due. Returns false if the task was cancelled.
    private func pause() async -> Bool {
        (try? await Task.sleep(for: .seconds(min(1, (watchdog ?? 3) / 3)))) != nil
    }

    /// A status is one line, whatever a server has sent.
    private static func status(_ text: String) -> String { "STATUS=\(Printable.text(text))" }

    private func send(_ assignments: [String]) {
        if !assignments.isEmpty { socket?.send(assignments) }
    }
}
