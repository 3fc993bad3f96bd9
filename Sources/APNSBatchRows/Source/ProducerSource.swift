import APNSBatchBasics
import Glibc

/// A program whose standard output is an input.
package struct Producer: Sendable {
    /// The program, searched for in PATH unless it has a slash, and its arguments.
    package var arguments: [String]
    /// Its variables; nil for those of this process.
    package var environment: [String: String]?
    /// The time after which the program is killed, and the input has failed.
    package var patience: Duration
    /// Receives each line that the program writes to standard error; nil to let it write to that of this process.
    package var complain: (@Sendable (String) -> Void)?

    package init(
        _ arguments: [String], environment: [String: String]? = nil, patience: Duration,
        complain: (@Sendable (String) -> Void)? = nil
    ) {
        (self.arguments, self.environment) = (arguments, environment)
        (self.patience, self.complain) = (patience, complain)
    }
}

/// Why the output of a program is not a whole input.
package enum ProducerFault: Error, Equatable, Sendable {
    /// The program cannot be started; the error number of the system.
    case cannotStart(Int32)
    case exited(Int32)
    case signaled(Int32)
    /// The program did not end in time; the time in seconds.
    case tooSlow(UInt64)

    var text: String {
        switch self {
        case .cannotStart(let code): "the program cannot be started: \(systemMessage(code))"
        case .exited(let code): "the program ended with exit code \(code), so its rows may be incomplete"
        case .signaled(let signal): "the program was ended by signal \(signal), so its rows may be incomplete"
        case .tooSlow(let seconds): "the program was killed, because it did not end within \(seconds) s"
        }
    }
}

/// The bytes that a program writes to standard output. They end when it has ended with exit code 0; any other end is an error, because a
/// program that died looks like one that had no more rows.
final class ProducerSource: ByteSource, @unchecked Sendable {
    private let child: ChildProcess
    private let output: InputDescriptor
    private let errors: InputDescriptor
    /// A pipe to which only `cancel` writes.
    private let wake: Pipe
    private let producer: Producer
    private let deadline: UInt64

    // Used by the thread that reads.
    private var lines = LineSplitter()
    private var hasErrors = true
    private var ended: Result<Void, ProducerFault>?

    /// The time between two looks whether a program has ended that has closed its standard output, in milliseconds.
    private static let look: Int32 = 10

    init(_ producer: Producer) throws(InputError) {
        guard let null = try? InputDescriptor(path: "/dev/null"), let output = Pipe(), let errors = Pipe(),
            let wake = Pipe()
        else {
            throw .ofProducer(.cannotStart(errno))
        }
        do throws(ChildProcess.StartError) {
            child = try ChildProcess(
                producer.arguments, environment: producer.environment, input: null.number, output: output.writer.number,
                errors: producer.complain == nil ? nil : errors.writer.number)
        } catch {
            throw .ofProducer(.cannotStart(error.code))
        }
        // The ends for writing are closed here, so that only the program has them.
        self.output = output.reader
        self.errors = errors.reader
        self.wake = wake
        self.producer = producer
        deadline = SystemClock.monotonic() + producer.patience.nanoseconds
    }

    deinit { if ended == nil { child.kill() } }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        while ended == nil {
            guard try wait(for: output.number, milliseconds: -1) else { continue }
            let got = unsafe Glibc.read(output.number, buffer.baseAddress, buffer.count)
            if got > 0 { return got }
            if got < 0, errno == EINTR || errno == EAGAIN { continue }
            guard got == 0 else { throw .cannotRead(errno: errno) }
            try waitForEnd()
        }
        if case .failure(let fault)? = ended { throw .ofProducer(fault) }
        return 0
    }

    func isFlowing() -> Bool { ended != nil || (try? wait(for: output.number, milliseconds: 100)) ?? true }

    private func waitForEnd() throws(InputError) {
        while ended == nil {
            if let ending = child.ending() {
                ended = ending.fault.map { .failure($0) } ?? .success(())
            } else {
                _ = try wait(for: nil, milliseconds: Self.look)
            }
        }
        // What it started may still have its standard error, so nothing is waited for.
        while hasErrors, try wait(for: nil, milliseconds: 0) {}
        lines.finish { producer.complain?($0) }
    }

    /// Waits, and passes on what the program complains of meanwhile.
    ///
    /// - Parameters:
    ///   - wanted: A descriptor to wait for; nil to wait for complaints only.
    ///   - milliseconds: How long; -1 is until the deadline.
    /// - Returns: Whether the wanted descriptor can be read, or without one, whether there was a complaint.
    private func wait(for wanted: Int32?, milliseconds: Int32) throws(InputError) -> Bool {
        let now = SystemClock.monotonic()
        guard ended != nil || now < deadline else { throw giveUp() }
        let left = Int32(clamping: (deadline - min(deadline, now)) / 1_000_000 + 1)
        var polled = [wake.reader.number, hasErrors ? errors.number : -1, wanted ?? -1].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        let count = unsafe poll(&polled, 3, milliseconds < 0 ? left : min(milliseconds, left))
        if count < 0, errno != EINTR { throw .cannotRead(errno: errno) }
        guard count > 0 else { return false }
        if polled[0].revents != 0 {
            kill(.signaled(SIGKILL))
            throw .cancelled
        }
        if polled[1].revents != 0 { readErrors() }
        return polled[wanted == nil ? 1 : 2].revents != 0
    }

    private func giveUp() -> InputError {
        let fault = ProducerFault.tooSlow(producer.patience.seconds)
        kill(fault)
        return .ofProducer(fault)
    }

    private func kill(_ fault: ProducerFault) {
        if ended == nil { child.kill() }
        ended = .failure(fault)
    }

    private func readErrors() {
        let got = unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { room in
            let got = unsafe Glibc.read(errors.number, room.baseAddress, room.count)
            if got > 0 { unsafe lines.add(room[..<got]) { producer.complain?($0) } }
            return got
        }
        if got == 0 || got < 0 && errno != EINTR { hasErrors = false }
    }

    func cancel() {
        var byte: UInt8 = 0
        _ = unsafe write(wake.writer.number, &byte, 1)
    }
}

extension ChildProcess.Ending {
    /// Nil after exit code 0.
    fileprivate var fault: ProducerFault? {
        switch self {
        case .exited(0): nil
        case .exited(let code): .exited(code)
        case .signaled(let signal): .signaled(signal)
        }
    }
}
